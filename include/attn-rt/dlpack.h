/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Calls a kernel with DLPack tensors, which is how array libraries of Python
 * lend their memory: https://dmlc.github.io/dlpack/latest/c_api.html. Every
 * shared library of kernels has this function, for callers without a C
 * compiler. */
#ifndef ATTN_RT_DLPACK_H
#define ATTN_RT_DLPACK_H
#include "attn-rt/program.h"

#ifdef __cplusplus
extern "C" {
#endif

/* DLPack's DLTensor, with which its DLManagedTensor begins. */
typedef struct {
  void *data;
  int32_t device_type, device_id;
  int32_t ndim;
  uint8_t code, bits;
  uint16_t lanes;
  const int64_t *shape;
  const int64_t *strides; /* null: C-contiguous */
  uint64_t byte_offset;
} attn_rt_dltensor;

typedef struct {
  int32_t dtype; /* attn_rt_dtype */
  int32_t rank;
} attn_rt_dlpack_port;

typedef struct {
  int32_t (*run)(const void *args);
  int32_t num_inputs, num_outputs;
  const attn_rt_dlpack_port *ports; /* inputs, then outputs, in order */
} attn_rt_dlpack_kernel;

/* What is wrong with a tensor before the kernel sees it. */
enum {
  ATTN_DLPACK_DEVICE = 1, /* its memory is not the processor's */
  ATTN_DLPACK_DTYPE,
  ATTN_DLPACK_RANK,
  ATTN_DLPACK_OVERLAP, /* its memory may be that of another tensor */
  ATTN_DLPACK_REASONS = 8
};

/* Runs `kernel` on `tensors`, one per port. bf16 may also come as unsigned
 * numbers of 16 bits, for libraries without that type. With `check_overlap`, a
 * result whose range of addresses meets that of another tensor is refused.
 * Returns what the kernel does, or ATTN_DLPACK_REASONS * port + reason. It may
 * be called from several threads at once. */
int32_t attn_rt_run_dlpack(const attn_rt_dlpack_kernel *kernel,
                           const attn_rt_dltensor *const *tensors,
                           int32_t threads, int32_t check_overlap);

#ifdef __cplusplus
}
#endif
#endif
