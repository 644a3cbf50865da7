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
  ATTN_DLPACK_DEVICE = 1, /* its memory is not where the kernel runs */
  ATTN_DLPACK_DTYPE,
  ATTN_DLPACK_RANK,
  ATTN_DLPACK_OVERLAP, /* its memory may be that of another tensor */
  ATTN_DLPACK_CAPSULE, /* it is no capsule of a tensor, or is missing */
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

/* The same of a kernel with code for a GPU, whose tensors lie on one (DLPack's
 * devices kDLCUDA and kDLCUDAManaged) or with the processor, each as it likes.
 * `stream` is that of attn_rt_gpu_settings. */
int32_t attn_rt_run_dlpack_on(const attn_rt_dlpack_kernel *kernel,
                              const attn_rt_dltensor *const *tensors,
                              int32_t threads, int32_t check_overlap,
                              void *stream);

/* A kernel for CPython, and the functions of its C API that a call takes: they
 * come with the call, so that a library of kernels depends on no Python. */
typedef struct {
  attn_rt_dlpack_kernel kernel;
  void *(*list_item)(void *list, ptrdiff_t index); /* PyList_GetItem */
  void *(*capsule_pointer)(void *capsule,
                           const char *name); /* PyCapsule_GetPointer */
  void *(*release_lock)(void);                /* PyEval_SaveThread */
  void (*take_lock)(void *state);             /* PyEval_RestoreThread */
} attn_rt_capsule_kernel;

/* The same for a Python list of capsules "dltensor", one per port. The caller
 * holds the interpreter's lock, which is released while the kernel runs. After
 * ATTN_DLPACK_CAPSULE an exception of Python's is set. */
int32_t attn_rt_run_capsules(const attn_rt_capsule_kernel *kernel,
                             void *capsules, int32_t threads,
                             int32_t check_overlap);

#ifdef __cplusplus
}
#endif
#endif
