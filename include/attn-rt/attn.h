/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The binary interface between a compiled kernel, its caller and the runtime.
 * Generated headers repeat the part between the ATTN_ABI_1 guards, so that a
 * kernel needs no other header. */
#ifndef ATTN_RT_ATTN_H
#define ATTN_RT_ATTN_H

#ifdef __cplusplus
extern "C" {
#endif

#ifndef ATTN_ABI_1
#define ATTN_ABI_1
#include <stddef.h>
#include <stdint.h>

#define ATTN_MAX_RANK 6

/* A tensor in the caller's memory. Inputs are only read. Strides count
 * elements; entries beyond the rank are 0; stride 0 broadcasts an input. */
typedef struct {
  void *data;
  int64_t shape[ATTN_MAX_RANK], strides[ATTN_MAX_RANK];
} attn_tensor;

/* One item of a parallel loop. `worker` is below the `threads` given to
 * attn_parallel_for; no two calls with the same worker run at the same time. */
typedef void (*attn_body)(void *data, int64_t item, int32_t worker);

/* Calls body(data, item, worker) once for every item in [0, items) and returns
 * when all have returned. Items may run in any order and on any thread. */
typedef void (*attn_parallel_for)(void *context, int64_t items, int32_t threads,
                                  attn_body body, void *data);

/* A C-contiguous tensor of `rank` dimensions. */
static inline attn_tensor attn_contiguous(void *data, int rank,
                                          const int64_t *shape) {
  attn_tensor t;
  int64_t stride = 1;
  int i;
  for (i = 0; i < ATTN_MAX_RANK; ++i)
    t.shape[i] = t.strides[i] = 0;
  t.data = data;
  for (i = rank - 1; i >= 0; --i) {
    t.shape[i] = shape[i];
    t.strides[i] = stride;
    stride *= shape[i];
  }
  return t;
}
#endif /* ATTN_ABI_1 */

/* The built-in pool: `context` is ignored. Several callers may use it at once;
 * a call that finds the pool busy, a nested one too, runs its items on its own
 * thread. `threads` counts the caller; 0 or less: attn_rt_max_threads(). More
 * than 1024 are not used. */
void attn_rt_parallel_for(void *context, int64_t items, int32_t threads,
                          attn_body body, void *data);

/* Number of processors this process may use, at least 1. */
int32_t attn_rt_max_threads(void);

/* Work space for a call that brings none: at least `bytes` bytes, at a multiple
 * of 64, or null where there is no memory. One that is given back, unless it is
 * larger than 64 MiB, is kept for the next. */
void *attn_rt_take_workspace(int64_t bytes);
void attn_rt_give_workspace(void *workspace);

/* Asks the operating system for tile registers (AMX) on behalf of the process;
 * kernels that need them do. 0 if it may use them, also when asked again. */
int32_t attn_rt_request_tiles(void);

#ifdef __cplusplus
}
#endif
#endif
