/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "attn-rt/dlpack.h"
#include "attn-rt/gpu.h"
#include <stdlib.h>

enum {
  dl_cpu = 1,
  dl_cuda = 2,
  dl_cuda_host = 3,
  dl_rocm_host = 11,
  dl_cuda_managed = 13
};
enum { dl_int = 0, dl_uint = 1, dl_float = 2, dl_bfloat = 4, dl_bool = 6 };

enum { no_memory = -4 }; /* as a kernel without memory says */

/* A tensor without elements may have no memory, which a kernel takes as a
 * tensor that is left out. */
static _Alignas(64) char no_elements[64];

static int32_t code_of(int32_t dtype) {
  switch (dtype) {
  case ATTN_BF16:
    return dl_bfloat;
  case ATTN_BOOL:
    return dl_bool;
  case ATTN_I32:
  case ATTN_I64:
    return dl_int;
  default:
    return dl_float;
  }
}

static int32_t bytes_of(int32_t dtype) {
  switch (dtype) {
#define ATTN_ELEMENT(enumerator, code, type, name, bytes, c_type, descr)       \
  case enumerator:                                                             \
    return bytes;
#include "attn-rt/elements.inc"
  }
  return 0;
}

static int32_t find_wrong(const attn_rt_dlpack_port *port,
                          const attn_rt_dltensor *from, int on_gpu) {
  int32_t device = from->device_type;
  int is_host =
      device == dl_cpu || device == dl_cuda_host || device == dl_rocm_host;
  int is_gpu = device == dl_cuda || device == dl_cuda_managed;
  if (!is_host && !(is_gpu && on_gpu))
    return ATTN_DLPACK_DEVICE;
  int as_bits = port->dtype == ATTN_BF16 && from->code == dl_uint;
  if ((from->code != code_of(port->dtype) && !as_bits) ||
      from->bits != 8 * bytes_of(port->dtype) || from->lanes != 1)
    return ATTN_DLPACK_DTYPE;
  return from->ndim != port->rank ? ATTN_DLPACK_RANK : 0;
}

static attn_tensor read_tensor(const attn_rt_dltensor *from) {
  attn_tensor to = attn_contiguous(NULL, from->ndim, from->shape);
  int empty = 0;
  for (int32_t i = 0; i < from->ndim; ++i) {
    empty |= to.shape[i] == 0;
    /* The stride of a single element says nothing, and may be anything. */
    if (from->strides && to.shape[i] > 1)
      to.strides[i] = from->strides[i];
  }
  to.data = empty ? no_elements : (char *)from->data + from->byte_offset;
  return to;
}

/* The first byte of `tensor` and the one behind its last. */
static void find_range(const attn_tensor *tensor,
                       const attn_rt_dlpack_port *port, const char **first,
                       const char **end) {
  int64_t bytes = bytes_of(port->dtype);
  *first = tensor->data;
  *end = *first + bytes;
  for (int32_t i = 0; i < port->rank; ++i) {
    int64_t reach = (tensor->shape[i] - 1) * tensor->strides[i] * bytes;
    if (tensor->shape[i] == 0) {
      *end = *first;
      return;
    }
    *(reach < 0 ? first : end) += reach;
  }
}

static int overlap(const attn_rt_dlpack_kernel *kernel,
                   const attn_tensor *tensors, int32_t i, int32_t j) {
  const char *first_i, *end_i, *first_j, *end_j;
  find_range(&tensors[i], &kernel->ports[i], &first_i, &end_i);
  find_range(&tensors[j], &kernel->ports[j], &first_j, &end_j);
  return first_i < end_j && first_j < end_i;
}

/* Where a call runs. */
typedef struct {
  int32_t threads;
  int on_gpu; /* it may */
  void *stream;
} place;

static int32_t run(const attn_rt_dlpack_kernel *kernel,
                   const attn_rt_dltensor *const *from, place where,
                   int32_t check_overlap, char *args) {
  int32_t ports = kernel->num_inputs + kernel->num_outputs;
  attn_tensor *tensors = (attn_tensor *)(args + sizeof(size_t));
  for (int32_t i = 0; i < ports; ++i) {
    int32_t wrong = find_wrong(&kernel->ports[i], from[i], where.on_gpu);
    if (wrong)
      return ATTN_DLPACK_REASONS * i + wrong;
    tensors[i] = read_tensor(from[i]);
  }
  for (int32_t i = kernel->num_inputs; check_overlap && i < ports; ++i)
    for (int32_t j = 0; j < i; ++j)
      if (overlap(kernel, tensors, i, j))
        return ATTN_DLPACK_REASONS * i + ATTN_DLPACK_OVERLAP;
  attn_rt_gpu_settings *call = (attn_rt_gpu_settings *)(tensors + ports);
  size_t bytes = where.on_gpu ? sizeof *call : sizeof(attn_rt_call);
  *(size_t *)args = (size_t)((char *)call - args) + bytes;
  *call = (attn_rt_gpu_settings){NULL,          0, NULL,        NULL,
                                 where.threads, 0, where.stream};
  return kernel->run(args);
}

static int32_t run_in_room(const attn_rt_dlpack_kernel *kernel,
                           const attn_rt_dltensor *const *tensors, place where,
                           int32_t check_overlap) {
  /* The argument struct of most kernels; of the others it is on the heap. */
  _Alignas(8) char room[sizeof(size_t) + 16 * sizeof(attn_tensor) +
                        sizeof(attn_rt_gpu_settings)];
  size_t size =
      sizeof(size_t) + sizeof(attn_rt_gpu_settings) +
      (size_t)(kernel->num_inputs + kernel->num_outputs) * sizeof(attn_tensor);
  if (size <= sizeof room)
    return run(kernel, tensors, where, check_overlap, room);
  char *args = malloc(size);
  if (!args)
    return no_memory;
  int32_t status = run(kernel, tensors, where, check_overlap, args);
  free(args);
  return status;
}

/* This and the next two functions are all of the runtime that callers of a
 * shared library see. */
__attribute__((visibility("default"))) int32_t attn_rt_run_dlpack(
    const attn_rt_dlpack_kernel *kernel, const attn_rt_dltensor *const *tensors,
    int32_t threads, int32_t check_overlap) {
  return run_in_room(kernel, tensors, (place){threads, 0, NULL}, check_overlap);
}

__attribute__((visibility("default"))) int32_t attn_rt_run_dlpack_on(
    const attn_rt_dlpack_kernel *kernel, const attn_rt_dltensor *const *tensors,
    int32_t threads, int32_t check_overlap, void *stream) {
  return run_in_room(kernel, tensors, (place){threads, 1, stream},
                     check_overlap);
}

static int32_t run_capsules(const attn_rt_capsule_kernel *python,
                            void *capsules, int32_t threads,
                            int32_t check_overlap,
                            const attn_rt_dltensor **tensors) {
  int32_t ports = python->kernel.num_inputs + python->kernel.num_outputs;
  for (int32_t i = 0; i < ports; ++i) {
    void *capsule = python->list_item(capsules, i);
    tensors[i] = capsule ? python->capsule_pointer(capsule, "dltensor") : NULL;
    if (!tensors[i])
      return ATTN_DLPACK_REASONS * i + ATTN_DLPACK_CAPSULE;
  }
  void *state = python->release_lock();
  int32_t status =
      attn_rt_run_dlpack(&python->kernel, tensors, threads, check_overlap);
  python->take_lock(state);
  return status;
}

__attribute__((visibility("default"))) int32_t
attn_rt_run_capsules(const attn_rt_capsule_kernel *kernel, void *capsules,
                     int32_t threads, int32_t check_overlap) {
  enum { most = 16 };
  const attn_rt_dltensor *room[most];
  int32_t ports = kernel->kernel.num_inputs + kernel->kernel.num_outputs;
  if (ports <= most)
    return run_capsules(kernel, capsules, threads, check_overlap, room);
  const attn_rt_dltensor **tensors = malloc((size_t)ports * sizeof *tensors);
  if (!tensors)
    return no_memory;
  int32_t status =
      run_capsules(kernel, capsules, threads, check_overlap, tensors);
  free(tensors);
  return status;
}
