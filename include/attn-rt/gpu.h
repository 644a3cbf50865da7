/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Between kernels of an NVIDIA GPU, which lie in a host object as constants,
 * and the runtime, which finds the driver (libcuda.so.1) when the first of them
 * is called. No header and no library of CUDA is needed to build or to start.
 */
#ifndef ATTN_RT_GPU_H
#define ATTN_RT_GPU_H
#include "attn-rt/attn.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What stands behind the tensors in the argument struct of such kernels: an
 * attn_rt_call, and two members more, which are 0 for a caller whose `size`
 * ends before. */
typedef struct {
  void *workspace;
  size_t workspace_size;
  attn_parallel_for parallel_for;
  void *parallel_context;
  int32_t threads;
  int32_t device; /* 0: the runtime chooses; -1: the CPU; n: GPU n - 1 */
  void *stream;   /* a CUstream or cudaStream_t; null: the default stream */
} attn_rt_gpu_settings;

/* All kernels of an object. */
typedef struct {
  const char *ptx;   /* ends with a 0 */
  const void *cubin; /* null: there is none */
  const char *names; /* of the kernels, each with its 0 */
  int32_t num_kernels;
  int32_t capability; /* 80: of the PTX, which is for it and later ones */
  void *loaded;       /* the runtime's; null in the object */
} attn_rt_gpu_module;

/* An argument or a result. */
typedef struct {
  int32_t rank, bytes; /* of an element */
  int32_t input;
} attn_rt_gpu_port;

/* Why a call gives up: the order of the texts that the compiler emits. */
typedef enum {
  ATTN_RT_GPU_OK,
  ATTN_RT_GPU_NO_DRIVER,
  ATTN_RT_GPU_OLD_DRIVER,
  ATTN_RT_GPU_NO_DEVICE,
  ATTN_RT_GPU_OLD_DEVICE,
  ATTN_RT_GPU_WRONG_CONTEXT,
  ATTN_RT_GPU_NOT_LOADED,
  ATTN_RT_GPU_NO_MEMORY,
  ATTN_RT_GPU_NO_COPY,
  ATTN_RT_GPU_NO_LAUNCH,
  ATTN_RT_GPU_FAULT,
  ATTN_RT_GPU_FAILURES
} attn_rt_gpu_failure;

/* A tensor of the host's memory and its copy on the device. */
typedef struct {
  attn_tensor tensor; /* the caller's */
  uint64_t device;    /* 0: the tensor lies on the device already */
  void *packed;       /* without gaps, on the host; null: it has none */
  int64_t bytes;
  int32_t shares; /* another tensor's copy, by its place; -1: one of its own */
} attn_rt_gpu_copy;

/* One call. The generated code has room for it and looks at none of it. */
typedef struct {
  attn_rt_gpu_module *module;
  const attn_rt_gpu_port *ports;
  int32_t num_ports;
  int32_t failure; /* the first one's; nothing is done behind it */
  int32_t waits;   /* a result goes to the host's memory */
  int32_t owns_workspace;
  void *stream, *loaded;
  void *pool; /* of memory in the order of the stream; null: there is none */
  uint64_t workspace;
#ifndef __cplusplus          /* which has no arrays of open length */
  attn_rt_gpu_copy copies[]; /* one per port */
#endif
} attn_rt_gpu_call;

/* Whether a call with these arguments is one for the GPU, in an object that has
 * code of a CPU, too: what `device` and the variable ATTN_DEVICE say, else
 * whether there is a GPU that can run it. `args` is the argument struct. */
int32_t attn_rt_gpu_is_chosen(const attn_rt_gpu_module *module,
                              int32_t num_ports, const void *args);

/* Begins a call: chooses the context, loads the kernels if it has not, and
 * copies arguments of the host's memory. `device_args` becomes the argument
 * struct with addresses on the device. Returns an attn_rt_gpu_failure; unless
 * it is 0, the call has ended. */
int32_t attn_rt_gpu_begin(attn_rt_gpu_module *module,
                          const attn_rt_gpu_port *ports, int32_t num_ports,
                          const void *args, void *device_args,
                          attn_rt_gpu_call *call);
/* The number of so many bytes at an address of the caller's, in the host's
 * memory or in the device's, for which it waits until the stream is there. 0
 * for null, and after a failure. */
int64_t attn_rt_gpu_read(attn_rt_gpu_call *call, const void *address,
                         int32_t bytes);
/* Ends a call that launches nothing. Returns its failure. */
int32_t attn_rt_gpu_give_up(attn_rt_gpu_call *call);
/* Work space on the device: the caller's where that is there and large enough,
 * else one for this call. Null for 0 bytes, and after a failure. */
void *attn_rt_gpu_take_workspace(attn_rt_gpu_call *call, const void *args,
                                 int64_t bytes);
/* Launches a kernel on the call's stream. `sizes` are those of the grid, of the
 * block, and the bytes of dynamic shared memory; `slots` hold the parameters, 8
 * bytes for each. An empty grid is no launch. */
void attn_rt_gpu_launch(attn_rt_gpu_call *call, int32_t kernel,
                        const int64_t sizes[7], const int64_t *slots,
                        int32_t count);
/* The copy on the device of constants of the object, made once per context. */
void *attn_rt_gpu_constant(attn_rt_gpu_call *call, const void *data,
                           int64_t bytes);
/* Ends a call. Where a tensor lies in the host's memory it waits and copies the
 * results; else the kernels may run still, on the stream. */
int32_t attn_rt_gpu_end(attn_rt_gpu_call *call);

/* Whether this thread's calls wait for their kernels and note what these take
 * on the device, without copies; and the last call's time in seconds, negative
 * where it has none. */
void attn_rt_gpu_time_calls(int32_t wanted);
double attn_rt_gpu_seconds(void);

/* What the driver said of this thread's last failure, one line. */
const char *attn_rt_gpu_why(void);

#ifdef __cplusplus
}
#endif
#endif
