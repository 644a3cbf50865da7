// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Runtime.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void attn_rt_cannot_print(const char *argv0) {
  fprintf(stderr, "%s: cannot write to standard output: %s\n", argv0,
          strerror(errno));
}

static int print_outputs(const attn_rt_program *program,
                         const attn_rt_options *options,
                         const attn_rt_array *outputs) {
  for (int32_t i = 0; i < program->num_outputs; ++i) {
    printf("%s =\n", program->ports[program->num_inputs + i].name);
    attn_rt_print_array(stdout, &outputs[i]);
    putchar('\n');
    if (ferror(stdout)) {
      attn_rt_cannot_print(options->argv0);
      return ATTN_RT_FAILED;
    }
  }
  return ATTN_RT_OK;
}

static int cannot_write(const attn_rt_options *options, const char *path,
                        const char *name, const char *error) {
  fprintf(stderr, "%s: %s: result '%s': %s\n", options->argv0, path, name,
          error);
  return ATTN_RT_FAILED;
}

// All results are staged before the first one is renamed: most failures (no
// space, no permission) happen while nothing of this run is visible yet.
static int write_files(const attn_rt_program *program,
                       const attn_rt_options *options,
                       const attn_rt_array *outputs, attn_rt_npy_file *files) {
  const attn_rt_port *ports = program->ports + program->num_inputs;
  const char **paths = options->files + program->num_inputs;
  int32_t count = program->num_outputs;
  char error[ATTN_RT_LINE];
  for (int32_t i = 0; i < count; ++i) {
    if (!paths[i] || attn_rt_npy_stage(paths[i], &outputs[i], &files[i], error,
                                       sizeof error) == 0)
      continue;
    for (int32_t j = 0; j < count; ++j)
      attn_rt_npy_discard(&files[j]);
    return cannot_write(options, paths[i], ports[i].name, error);
  }
  int32_t failed = attn_rt_npy_commit_all(files, count, error, sizeof error);
  return failed < 0
             ? ATTN_RT_OK
             : cannot_write(options, paths[failed], ports[failed].name, error);
}

int attn_rt_write_outputs(const attn_rt_program *program,
                          const attn_rt_options *options,
                          const attn_rt_array *outputs) {
  if (!options->any_output)
    return print_outputs(program, options, outputs);
  attn_rt_npy_file *files =
      calloc((size_t)program->num_outputs + 1, sizeof *files);
  if (!files) {
    fprintf(stderr, "%s: out of memory\n", options->argv0);
    return ATTN_RT_FAILED;
  }
  int status = write_files(program, options, outputs, files);
  free(files);
  return status;
}
