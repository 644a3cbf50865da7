/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What a generated executable tells the runtime's main about its kernel. The
 * compiler emits one constant attn_rt_program and a main that passes it on. */
#ifndef ATTN_RT_PROGRAM_H
#define ATTN_RT_PROGRAM_H
#include "attn-rt/attn.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
#define ATTN_ELEMENT(enumerator, code, type, name, bytes, c_type, descr)       \
  enumerator = code,
#include "attn-rt/elements.inc"
} attn_rt_dtype;

/* An argument or a result of the kernel. */
typedef struct {
  const char *name;
  int32_t dtype; /* attn_rt_dtype */
  int32_t rank;
  /* Per dimension: its size, or -1. A dimension of size -1 has the name in
   * `symbols`; equal names mean equal sizes. Every symbol of a result also
   * stands in an argument. */
  int64_t shape[ATTN_MAX_RANK];
  const char *symbols[ATTN_MAX_RANK];
  int32_t optional; /* an argument that is full of zeros where it is left out */
} attn_rt_port;

/* The kernel's argument struct is { size_t size; attn_tensor ports[num_inputs +
 * num_outputs]; attn_rt_call call; }. The runtime's main gives contiguous
 * tensors, aligned to 64 bytes, a work space of workspace_size(args) bytes,
 * aligned so, too, and the built-in pool with the number of threads. */
typedef struct {
  void *workspace;
  size_t workspace_size;
  attn_parallel_for parallel_for;
  void *parallel_context;
  int32_t threads;
} attn_rt_call;

typedef struct {
  const char *name;
  int32_t num_inputs, num_outputs;
  const attn_rt_port *ports; /* inputs, then outputs, in order */
  int32_t (*run)(const void *args);
  size_t (*workspace_size)(const void *args);
  const char *(*strerror)(int32_t status);
  const char *(*info)(void);
  /* Floating-point operations the result needs: visible pairs only. */
  double (*flops)(const void *args);
  /* For --lab; null where the program was made without. */
  const struct attn_rt_picture *picture;
} attn_rt_program;

/* The command line of docs/Executable.md. Returns the process' exit status. */
int attn_rt_main(const attn_rt_program *program, int argc, char **argv);

#ifdef __cplusplus
}
#endif
#endif
