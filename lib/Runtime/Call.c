// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One call of a kernel: its results, its argument struct and its work space.
#define _GNU_SOURCE
#include "Runtime.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

static int fail(const attn_rt_call_state *c, const char *what) {
  fprintf(stderr, "%s: %s\n", c->argv0, what);
  return ATTN_RT_FAILED;
}

static int allocate_outputs(attn_rt_call_state *c,
                            const attn_rt_bindings *bindings) {
  const attn_rt_program *program = c->program;
  for (int32_t i = program->num_inputs;
       i < program->num_inputs + program->num_outputs; ++i) {
    const attn_rt_port *port = &program->ports[i];
    char error[ATTN_RT_LINE], why[ATTN_RT_LINE];
    const char *symbol = attn_rt_port_shape(bindings, port, &c->arrays[i]);
    if (symbol)
      attn_rt_error(why, sizeof why, "no argument has the dimension '%s'",
                    symbol);
    if (!symbol && !attn_rt_array_allocate(&c->arrays[i], why, sizeof why))
      continue;
    attn_rt_error(error, sizeof error, "result '%s': %s", port->name, why);
    return fail(c, error);
  }
  return ATTN_RT_OK;
}

static int allocate_workspace(attn_rt_call_state *c, attn_rt_call *call) {
  size_t size = c->program->workspace_size(c->args);
  char error[ATTN_RT_LINE];
  if (size == 0)
    return ATTN_RT_OK;
  c->workspace =
      size <= PTRDIFF_MAX - 64 ? attn_rt_aligned_alloc((int64_t)size) : NULL;
  call->workspace = c->workspace;
  call->workspace_size = size;
  if (c->workspace)
    return ATTN_RT_OK;
  attn_rt_error(error, sizeof error, "cannot allocate %zu bytes of work space",
                size);
  return fail(c, error);
}

int attn_rt_prepare_call(attn_rt_call_state *c,
                         const attn_rt_bindings *bindings) {
  size_t num_ports = (size_t)(c->program->num_inputs + c->program->num_outputs);
  size_t size = ATTN_RT_PORTS_OFFSET + num_ports * sizeof(attn_tensor) +
                (c->gpu ? c->gpu->settings_size : sizeof(attn_rt_call));
  int status = allocate_outputs(c, bindings);
  if (status)
    return status;
  char *args = c->args = calloc(1, size);
  if (!args)
    return fail(c, "out of memory");
  memcpy(args, &size, sizeof size);
  attn_tensor *ports = (attn_tensor *)(args + ATTN_RT_PORTS_OFFSET);
  for (size_t i = 0; i < num_ports; ++i)
    ports[i] = attn_contiguous(c->arrays[i].data, c->arrays[i].rank,
                               c->arrays[i].shape);
  attn_rt_call *call = (attn_rt_call *)(ports + num_ports);
  call->parallel_for = attn_rt_parallel_for;
  call->threads = c->threads;
  // It lies where the call will run, which the call finds.
  if (c->gpu) {
    c->gpu->choose_device(call, c->device);
    return ATTN_RT_OK;
  }
  return allocate_workspace(c, call);
}

/* What the kernel says, and the driver. */
static int fail_in_kernel(const attn_rt_call_state *c, int32_t status) {
  char line[ATTN_RT_LINE];
  const char *text = c->program->strerror(status);
  if (!c->gpu || strncmp(text, "gpu:", 4) != 0)
    return fail(c, text);
  snprintf(line, sizeof line, "%s (%s)", text, c->gpu->why());
  return fail(c, line);
}

int attn_rt_run_call(const attn_rt_call_state *c, double *seconds) {
  struct timespec start, stop;
  clock_gettime(CLOCK_MONOTONIC, &start);
  int32_t status = c->program->run(c->args);
  clock_gettime(CLOCK_MONOTONIC, &stop);
  *seconds = (double)(stop.tv_sec - start.tv_sec) +
             1e-9 * (double)(stop.tv_nsec - start.tv_nsec);
  if (c->gpu && c->gpu->seconds() >= 0)
    *seconds = c->gpu->seconds();
  return status < 0 ? fail_in_kernel(c, status) : ATTN_RT_OK;
}

void attn_rt_end_call(attn_rt_call_state *c) {
  int32_t num_ports = c->program->num_inputs + c->program->num_outputs;
  for (int32_t i = c->borrows_inputs ? c->program->num_inputs : 0;
       c->arrays && i < num_ports; ++i)
    attn_rt_array_free(&c->arrays[i]);
  free(c->arrays);
  free(c->workspace);
  free(c->args);
}
