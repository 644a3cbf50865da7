// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "programs.h"

typedef struct {
  size_t size;
  attn_tensor a, b, sum, difference;
  void *workspace;
  size_t workspace_size;
  attn_parallel_for parallel_for;
  void *parallel_context;
  int32_t threads;
} add_args;

int32_t last_threads, add_calls;

static void add_row(void *data, int64_t row, int32_t worker) {
  const add_args *args = data;
  float *scratch = (float *)args->workspace + worker;
  for (int64_t j = 0; j < args->a.shape[1]; ++j) {
    int64_t at = row * args->a.strides[0] + j * args->a.strides[1];
    float a = ((float *)args->a.data)[at];
    *scratch = ((float *)args->b.data)[at];
    ((float *)args->sum.data)[at] = a + *scratch;
    ((float *)args->difference.data)[at] = a - *scratch;
  }
}

static size_t add_workspace_size(const void *args) {
  return sizeof(float) * (size_t)((const add_args *)args)->threads;
}

static int32_t add_run(const void *data) {
  add_args args = *(const add_args *)data;
  ++add_calls;
  last_threads = args.threads;
  if (args.size != sizeof args || !args.workspace ||
      args.workspace_size != add_workspace_size(data))
    return -2;
  if (args.a.shape[0] * args.a.shape[1] > 0 && *(float *)args.a.data == 99)
    return -3;
  args.parallel_for(args.parallel_context, args.a.shape[0], args.threads,
                    add_row, &args);
  return 0;
}

static const char *add_strerror(int32_t status) {
  return status == -3 ? "argument 'a' begins with 99" : "bad arguments";
}

static const char *no_info(void) { return "{}"; }

static double add_flops(const void *data) {
  const add_args *args = data;
  return 2.0 * (double)(args->a.shape[0] * args->a.shape[1]);
}

#define MATRIX(name) {name, ATTN_F32, 2, {-1, -1}, {"a0", "a1"}, 0}
#define ADD_PROGRAM(ports)                                                     \
  {"add",        2,       2,         ports, add_run, add_workspace_size,       \
   add_strerror, no_info, add_flops, NULL}
static const attn_rt_port add_ports[] = {MATRIX("a"), MATRIX("b"),
                                         MATRIX("sum"), MATRIX("difference")};
const attn_rt_program add_program = ADD_PROGRAM(add_ports);

static const attn_rt_port named_ports[] = {MATRIX("help"), MATRIX("threads"),
                                           MATRIX("sum"), MATRIX("difference")};
const attn_rt_program named_program = ADD_PROGRAM(named_ports);

typedef struct {
  size_t size;
  attn_tensor x, h, i, m, copy;
} mixed_args;

static int32_t mixed_run(const void *data) {
  const mixed_args *args = data;
  float *copy = args->copy.data;
  for (int64_t j = 0; j < 4; ++j) {
    copy[j] = (float)attn_rt_load_float(ATTN_BF16, args->x.data, j);
    copy[4 + j] = (float)attn_rt_load_float(ATTN_F16, args->h.data, j);
    copy[8 + j] = (float)attn_rt_load_int(ATTN_I32, args->i.data, j);
    copy[12 + j] = (float)attn_rt_load_int(ATTN_BOOL, args->m.data, j);
  }
  return 0;
}

static size_t no_workspace(const void *args) {
  (void)args;
  return 0;
}

static const attn_rt_port mixed_ports[] = {
    {"x", ATTN_BF16, 1, {4}, {NULL}, 0},
    {"h", ATTN_F16, 1, {4}, {NULL}, 0},
    {"i", ATTN_I32, 1, {-1}, {"i0"}, 0},
    {"m", ATTN_BOOL, 1, {-1}, {"i0"}, 0},
    {"copy", ATTN_F32, 1, {16}, {NULL}, 0}};
const attn_rt_program mixed_program = {
    "mixed",      4,       1,         mixed_ports, mixed_run, no_workspace,
    add_strerror, no_info, add_flops, NULL};
