// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#define _GNU_SOURCE
#include "Runtime.h"
#include "attn-rt/peak.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

typedef struct {
  const attn_rt_program *program;
  attn_rt_options options;
  attn_rt_bindings bindings;
  attn_rt_array *arrays; // inputs, then outputs
  void *args, *workspace;
  int32_t threads;
} execution;

__attribute__((format(printf, 2, 3))) static int fail(const execution *e,
                                                      const char *format, ...) {
  va_list arguments;
  fprintf(stderr, "%s: ", e->options.argv0);
  va_start(arguments, format);
  vfprintf(stderr, format, arguments);
  va_end(arguments);
  fputc('\n', stderr);
  return ATTN_RT_FAILED;
}

static int allocate_outputs(execution *e) {
  const attn_rt_program *program = e->program;
  for (int32_t i = program->num_inputs;
       i < program->num_inputs + program->num_outputs; ++i) {
    const attn_rt_port *port = &program->ports[i];
    char error[ATTN_RT_LINE];
    const char *symbol = attn_rt_port_shape(&e->bindings, port, &e->arrays[i]);
    if (symbol)
      return fail(e, "result '%s': no argument has the dimension '%s'",
                  port->name, symbol);
    if (attn_rt_array_allocate(&e->arrays[i], error, sizeof error))
      return fail(e, "result '%s': %s", port->name, error);
  }
  return ATTN_RT_OK;
}

// The kernel's argument struct, see attn_rt_call.
static int make_args(execution *e) {
  const attn_rt_program *program = e->program;
  size_t num_ports = (size_t)(program->num_inputs + program->num_outputs);
  size_t size = ATTN_RT_PORTS_OFFSET + num_ports * sizeof(attn_tensor) +
                sizeof(attn_rt_call);
  char *args = e->args = calloc(1, size);
  if (!args)
    return fail(e, "out of memory");
  memcpy(args, &size, sizeof size);
  attn_tensor *ports = (attn_tensor *)(args + ATTN_RT_PORTS_OFFSET);
  for (size_t i = 0; i < num_ports; ++i)
    ports[i] = attn_contiguous(e->arrays[i].data, e->arrays[i].rank,
                               e->arrays[i].shape);
  attn_rt_call *call = (attn_rt_call *)(ports + num_ports);
  call->parallel_for = attn_rt_parallel_for;
  call->threads = e->threads;
  size_t workspace_size = program->workspace_size(args);
  if (workspace_size == 0)
    return ATTN_RT_OK;
  e->workspace = workspace_size <= PTRDIFF_MAX - 64
                     ? attn_rt_aligned_alloc((int64_t)workspace_size)
                     : NULL;
  if (!e->workspace)
    return fail(e, "cannot allocate %zu bytes of work space", workspace_size);
  call->workspace = e->workspace;
  call->workspace_size = workspace_size;
  return ATTN_RT_OK;
}

static int run_once(const execution *e, double *seconds) {
  struct timespec start, stop;
  clock_gettime(CLOCK_MONOTONIC, &start);
  int32_t status = e->program->run(e->args);
  clock_gettime(CLOCK_MONOTONIC, &stop);
  *seconds = (double)(stop.tv_sec - start.tv_sec) +
             1e-9 * (double)(stop.tv_nsec - start.tv_nsec);
  return status < 0 ? fail(e, "%s", e->program->strerror(status)) : ATTN_RT_OK;
}

static int compare_doubles(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static int run_kernel(const execution *e, double *times) {
  double warm_up;
  int status = run_once(e, &warm_up);
  for (int64_t i = 0; i < e->options.repeat && !status; ++i)
    status = run_once(e, &times[i]);
  return status;
}

static void print_times(const execution *e, double *times) {
  int64_t count = e->options.repeat;
  qsort(times, (size_t)count, sizeof *times, compare_doubles);
  double median = (times[(count - 1) / 2] + times[count / 2]) / 2;
  printf("%lld run%s, %d thread%s: minimum %.4g ms, median %.4g ms\n",
         (long long)count, count == 1 ? "" : "s", e->threads,
         e->threads == 1 ? "" : "s", times[0] * 1e3, median * 1e3);
  double gflops = e->program->flops(e->args) / median * 1e-9;
  double peak = attn_rt_peak_gflops();
  printf("median: %.4g GFLOP/s", gflops);
  if (peak > 0)
    printf(", %.1f%% of the measured peak (%d x %.4g GFLOP/s, %s)",
           100 * gflops / (peak * e->threads), e->threads, peak,
           attn_rt_peak_isa());
  putchar('\n');
}

static int execute(execution *e, double *times) {
  const attn_rt_program *program = e->program;
  int status =
      attn_rt_load_inputs(program, &e->options, &e->bindings, e->arrays);
  if (!status)
    status = allocate_outputs(e);
  if (!status)
    status = make_args(e);
  if (!status)
    status = run_kernel(e, times);
  if (!status)
    status = attn_rt_write_outputs(program, &e->options,
                                   e->arrays + program->num_inputs);
  if (!status && e->options.repeat)
    print_times(e, times);
  return status;
}

static int allocate_and_execute(execution *e) {
  const attn_rt_program *program = e->program;
  size_t num_ports = (size_t)(program->num_inputs + program->num_outputs);
  double *times = calloc((size_t)e->options.repeat + 1, sizeof *times);
  e->threads = e->options.threads ? e->options.threads : attn_rt_max_threads();
  e->arrays = calloc(num_ports + 1, sizeof *e->arrays);
  e->bindings.entries =
      calloc(num_ports * ATTN_MAX_RANK + 1, sizeof *e->bindings.entries);
  int status = times && e->arrays && e->bindings.entries
                   ? execute(e, times)
                   : fail(e, "out of memory");
  for (size_t i = 0; e->arrays && i < num_ports; ++i)
    attn_rt_array_free(&e->arrays[i]);
  free(times);
  free(e->arrays);
  free(e->bindings.entries);
  free(e->workspace);
  free(e->args);
  return status;
}

// A file that is opened later must not become the standard output; what is
// opened here instead cannot be used. What a pipe or a limit of size refuses is
// an error of the write, and no signal, so that no half file is left.
static void prepare_system(void) {
  for (int file = STDIN_FILENO; file <= STDERR_FILENO; ++file)
    if (fcntl(file, F_GETFD) < 0 && errno == EBADF &&
        open("/dev/null", file == STDOUT_FILENO ? O_RDONLY : O_WRONLY) != file)
      _exit(ATTN_RT_FAILED);
  signal(SIGPIPE, SIG_IGN);
  signal(SIGXFSZ, SIG_IGN);
}

int attn_rt_main(const attn_rt_program *program, int argc, char **argv) {
  execution e = {.program = program};
  prepare_system();
  int status = attn_rt_parse_options(program, argc, argv, &e.options);
  if (!status && e.options.help)
    attn_rt_print_help(stdout, program, e.options.argv0);
  else if (!status)
    status = allocate_and_execute(&e);
  if ((fflush(stdout) != 0 || ferror(stdout)) && !status) {
    attn_rt_cannot_print(e.options.argv0);
    status = ATTN_RT_FAILED;
  }
  attn_rt_free_options(&e.options);
  return status;
}
