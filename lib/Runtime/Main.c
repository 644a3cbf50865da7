// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#define _GNU_SOURCE
#include "Runtime.h"
#include "attn-rt/peak.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

typedef struct {
  attn_rt_options options;
  attn_rt_bindings bindings;
  attn_rt_call_state call;
} execution;

static int compare_doubles(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static int run_kernel(const execution *e, double *times) {
  double warm_up;
  if (e->call.gpu && e->options.repeat)
    e->call.gpu->time_calls(true);
  int status = attn_rt_run_call(&e->call, &warm_up);
  for (int64_t i = 0; i < e->options.repeat && !status; ++i)
    status = attn_rt_run_call(&e->call, &times[i]);
  return status;
}

static void print_times(const execution *e, double *times) {
  int64_t count = e->options.repeat;
  int32_t threads = e->call.threads;
  qsort(times, (size_t)count, sizeof *times, compare_doubles);
  double median = (times[(count - 1) / 2] + times[count / 2]) / 2;
  bool on_gpu = e->call.gpu && e->call.gpu->seconds() >= 0;
  printf("%lld run%s", (long long)count, count == 1 ? "" : "s");
  if (on_gpu)
    printf(" of the GPU's kernels, without copies");
  else
    printf(", %d thread%s", threads, threads == 1 ? "" : "s");
  printf(": minimum %.4g ms, median %.4g ms\n", times[0] * 1e3, median * 1e3);
  double gflops = e->call.program->flops(e->call.args) / median * 1e-9;
  double peak = on_gpu ? 0 : attn_rt_peak_gflops();
  printf("median: %.4g GFLOP/s", gflops);
  if (peak > 0)
    printf(", %.1f%% of the measured peak (%d x %.4g GFLOP/s, %s)",
           100 * gflops / (peak * threads), threads, peak, attn_rt_peak_isa());
  putchar('\n');
}

static int execute(execution *e, double *times, attn_rt_text *page) {
  const attn_rt_program *program = e->call.program;
  int status =
      attn_rt_load_inputs(program, &e->options, &e->bindings, e->call.arrays);
  if (!status)
    status = attn_rt_check_picture(program, &e->options, &e->bindings);
  if (!status)
    status = attn_rt_prepare_call(&e->call, &e->bindings);
  if (!status)
    status = run_kernel(e, times);
  if (!status && e->options.lab)
    status = attn_rt_make_page(&e->call, &e->options, &e->bindings, page);
  if (!status)
    status = attn_rt_write_outputs(program, &e->options,
                                   e->call.arrays + program->num_inputs, page);
  if (!status && e->options.repeat)
    print_times(e, times);
  return status;
}

static int allocate_and_execute(execution *e) {
  const attn_rt_program *program = e->call.program;
  size_t num_ports = (size_t)(program->num_inputs + program->num_outputs);
  double *times = calloc((size_t)e->options.repeat + 1, sizeof *times);
  attn_rt_text page = {NULL, 0};
  e->call.argv0 = e->options.argv0;
  e->call.gpu = e->options.gpu;
  e->call.device = e->options.device;
  e->call.threads =
      e->options.threads ? e->options.threads : attn_rt_max_threads();
  e->call.arrays = calloc(num_ports + 1, sizeof *e->call.arrays);
  e->bindings.entries =
      calloc(num_ports * ATTN_MAX_RANK + 1, sizeof *e->bindings.entries);
  int status = ATTN_RT_FAILED;
  if (times && e->call.arrays && e->bindings.entries)
    status = execute(e, times, &page);
  else
    fprintf(stderr, "%s: out of memory\n", e->options.argv0);
  attn_rt_end_call(&e->call);
  free(page.data);
  free(times);
  free(e->bindings.entries);
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

int attn_rt_run_program(const attn_rt_program *program,
                        const attn_rt_gpu_hooks *gpu, int argc, char **argv) {
  execution e = {.call = {.program = program}};
  prepare_system();
  int status = attn_rt_parse_options(program, gpu, argc, argv, &e.options);
  if (!status && e.options.help)
    attn_rt_print_help(stdout, program, e.options.argv0, gpu != NULL);
  else if (!status)
    status = allocate_and_execute(&e);
  if ((fflush(stdout) != 0 || ferror(stdout)) && !status) {
    attn_rt_cannot_print(e.options.argv0);
    status = ATTN_RT_FAILED;
  }
  attn_rt_free_options(&e.options);
  return status;
}

int attn_rt_main(const attn_rt_program *program, int argc, char **argv) {
  return attn_rt_run_program(program, NULL, argc, argv);
}
