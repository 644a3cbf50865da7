// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Runtime.h"

#include <string.h>

void attn_rt_format_type(const attn_rt_port *port, char *text, size_t size) {
  size_t at = (size_t)snprintf(text, size, "%s[",
                               attn_rt_dtype_name((attn_rt_dtype)port->dtype));
  for (int32_t i = 0; i < port->rank && at < size; ++i) {
    const char *comma = i ? ", " : "";
    if (port->shape[i] >= 0)
      at += (size_t)snprintf(text + at, size - at, "%s%lld", comma,
                             (long long)port->shape[i]);
    else
      at += (size_t)snprintf(text + at, size - at, "%s%s", comma,
                             port->symbols[i]);
  }
  if (at < size)
    snprintf(text + at, size - at, "]");
}

static void print_ports(FILE *file, const attn_rt_port *ports, int32_t count,
                        int width) {
  for (int32_t i = 0; i < count; ++i) {
    char type[ATTN_RT_LINE];
    attn_rt_format_type(&ports[i], type, sizeof type);
    fprintf(file, "  %-*s  %s%s\n", width, ports[i].name, type,
            ports[i].optional ? ", or left out: zeros" : "");
  }
}

void attn_rt_print_help(FILE *file, const attn_rt_program *program,
                        const char *argv0, bool with_gpu) {
  int32_t num_ports = program->num_inputs + program->num_outputs;
  const attn_rt_port *outputs = program->ports + program->num_inputs;
  int width = 0;
  for (int32_t i = 0; i < num_ports; ++i) {
    int length = (int)strlen(program->ports[i].name);
    width = length > width ? length : width;
  }
  fprintf(file, "usage: %s", argv0);
  for (int32_t i = 0; i < program->num_inputs; ++i)
    fprintf(file, program->ports[i].optional ? " [%s.npy]" : " %s.npy",
            program->ports[i].name);
  fprintf(file, " [-o FILE]... [options]\n\nRuns the kernel '%s'.\n\n",
          program->name);
  fprintf(file, "arguments:\n");
  print_ports(file, program->ports, program->num_inputs, width);
  fprintf(file, "results:\n");
  print_ports(file, outputs, program->num_outputs, width);
  fputs("\n"
        "Arguments are .npy files, in this order or by name: --NAME FILE or "
        "--NAME=FILE,\n"
        "or -i NAME=FILE, also where NAME is that of an option.\n"
        "A dimension with a name has any size, the same wherever the name "
        "stands.\n"
        "\n"
        "options:\n"
        "  -i NAME=FILE     read the argument NAME from FILE\n"
        "  -o FILE          write the next result to FILE\n"
        "  -o NAME=FILE     write the result NAME to FILE\n"
        "                   without -o, results are printed as NumPy prints "
        "them\n"
        "  --random[=SEED]  random values for the arguments without a file\n"
        "  --dim NAME=N     the size of a dimension, for --random\n"
        "  --repeat N       run once to warm up and N times to measure\n"
        "  --threads N      how many threads to use; default: all this process "
        "may use\n",
        file);
  if (with_gpu)
    fputs("  --device D       cpu, gpu, or a GPU's number; default: a GPU if "
          "there is one\n",
          file);
  fputs("  --lab FILE.html  explain the run's attention in a page for a "
        "browser\n"
        "  --tokens TEXT    the page's words, one per query, and per key where "
        "there are as many\n"
        "  --key-tokens TEXT  others for the keys\n"
        "  --help           print this text\n",
        file);
}
