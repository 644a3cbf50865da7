/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Tensors of the host's memory have copies on the device for the time of a
 * call. One without gaps lies there as it does here; of another one the
 * elements are packed first, so that what lies between them is neither read nor
 * written. Where a tensor repeats elements (stride 0), so does its copy. */
#define _GNU_SOURCE
#include "Driver.h"

#include <stdlib.h>
#include <string.h>

static int64_t count_of(const attn_tensor *t, int32_t rank) {
  int64_t count = 1;
  for (int32_t d = 0; d < rank; ++d)
    count *= t->strides[d] == 0 && t->shape[d] > 0 ? 1 : t->shape[d];
  return count;
}

/* The elements before the first one's address, and those from there to the last
 * one. */
static void span_of(const attn_tensor *t, int32_t rank, int64_t *before,
                    int64_t *behind) {
  *before = *behind = 0;
  for (int32_t d = 0; d < rank; ++d) {
    int64_t reach = (t->shape[d] - 1) * t->strides[d];
    *(reach < 0 ? before : behind) += reach < 0 ? -reach : reach;
  }
}

/* The same tensor, without gaps. */
static attn_tensor packed_tensor(const attn_tensor *t, int32_t rank) {
  attn_tensor packed = *t;
  int64_t stride = 1;
  for (int32_t d = rank - 1; d >= 0; --d) {
    if (t->strides[d] == 0)
      continue;
    packed.strides[d] = stride;
    stride *= t->shape[d];
  }
  return packed;
}

/* Moves all elements from `from` to `to`, of one shape. */
static void move(const attn_tensor *from, const attn_tensor *to, int32_t rank,
                 int32_t bytes) {
  int64_t at[ATTN_MAX_RANK] = {0};
  const char *source = from->data;
  char *target = to->data;
  for (;;) {
    int64_t a = 0, b = 0;
    for (int32_t d = 0; d < rank; ++d) {
      a += at[d] * from->strides[d];
      b += at[d] * to->strides[d];
    }
    memcpy(target + b * bytes, source + a * bytes, (size_t)bytes);
    int32_t d = rank - 1;
    for (; d >= 0; at[d--] = 0)
      if (from->strides[d] != 0 && ++at[d] < from->shape[d])
        break;
    if (d < 0)
      return;
  }
}

/* Packs the tensor if it has gaps; `from` is where the copy's bytes begin on
 * the host, and `first` where the first element does, from there. */
static attn_rt_gpu_failure prepare(attn_rt_gpu_copy *copy,
                                   const attn_rt_gpu_port *port, void **from,
                                   int64_t *first, attn_tensor *device) {
  int64_t before, behind, count = count_of(&copy->tensor, port->rank);
  *device = copy->tensor;
  *from = copy->tensor.data;
  *first = 0;
  copy->bytes = count * port->bytes;
  if (count == 0)
    return ATTN_RT_GPU_OK;
  span_of(&copy->tensor, port->rank, &before, &behind);
  if (before + behind + 1 == count) {
    *first = before * port->bytes;
    *from = (char *)copy->tensor.data - *first;
    return ATTN_RT_GPU_OK;
  }
  *device = packed_tensor(&copy->tensor, port->rank);
  *from = copy->packed = malloc((size_t)copy->bytes);
  if (!copy->packed)
    return gpu_fail(ATTN_RT_GPU_NO_MEMORY, "the host is out of memory");
  attn_tensor packed = *device;
  packed.data = copy->packed;
  if (port->input)
    move(&copy->tensor, &packed, port->rank, port->bytes);
  return ATTN_RT_GPU_OK;
}

static attn_rt_gpu_failure copy_argument(const gpu_driver *driver,
                                         attn_rt_gpu_call *call, int32_t i,
                                         attn_tensor *device) {
  attn_rt_gpu_copy *copy = &call->copies[i];
  void *from;
  int64_t first;
  attn_rt_gpu_failure failure =
      prepare(copy, &call->ports[i], &from, &first, device);
  if (!failure)
    failure = gpu_allocate(driver, call, copy->bytes, &copy->device);
  if (failure)
    return failure;
  device->data = (void *)(uintptr_t)(copy->device + (uint64_t)first);
  if (!call->ports[i].input || copy->bytes == 0)
    return ATTN_RT_GPU_OK;
  int result = driver->CopyToDevice(copy->device, from, (size_t)copy->bytes,
                                    call->stream);
  return result ? gpu_driver_fails(driver, ATTN_RT_GPU_NO_COPY,
                                   "cuMemcpyHtoDAsync", result)
                : ATTN_RT_GPU_OK;
}

/* The argument whose memory a result is; -1 if there is none. */
static int32_t find_shared(const attn_rt_gpu_call *call, int32_t result) {
  const attn_tensor *own = &call->copies[result].tensor;
  for (int32_t i = 0; !call->ports[result].input && i < result; ++i)
    if (call->ports[i].input && call->copies[i].device &&
        call->copies[i].tensor.data == own->data &&
        call->ports[i].rank == call->ports[result].rank &&
        memcmp(call->copies[i].tensor.strides, own->strides,
               sizeof own->strides) == 0)
      return i;
  return -1;
}

attn_rt_gpu_failure gpu_copy_arguments(const gpu_driver *driver,
                                       attn_rt_gpu_call *call,
                                       attn_tensor *tensors) {
  attn_rt_gpu_failure failure = ATTN_RT_GPU_OK;
  for (int32_t i = 0; i < call->num_ports && !failure; ++i) {
    attn_rt_gpu_copy *copy = &call->copies[i];
    copy->tensor = tensors[i];
    if (gpu_is_on_device(driver, tensors[i].data))
      continue;
    call->waits = 1;
    copy->shares = find_shared(call, i);
    if (copy->shares >= 0)
      tensors[i] = tensors[copy->shares];
    else
      failure = copy_argument(driver, call, i, &tensors[i]);
  }
  return failure;
}

/* Of a result, or of an argument that is one's memory: 1 if it is to be copied
 * back. */
static bool is_result(const attn_rt_gpu_call *call, int32_t i) {
  bool is = !call->ports[i].input;
  for (int32_t j = i + 1; j < call->num_ports; ++j)
    is |= !call->ports[j].input && call->copies[j].shares == i;
  return is && call->copies[i].device && call->copies[i].bytes;
}

attn_rt_gpu_failure gpu_copy_results(const gpu_driver *driver,
                                     attn_rt_gpu_call *call) {
  for (int32_t i = 0; i < call->num_ports; ++i) {
    attn_rt_gpu_copy *copy = &call->copies[i];
    if (!is_result(call, i))
      continue;
    int64_t before, behind;
    span_of(&copy->tensor, call->ports[i].rank, &before, &behind);
    char *to = copy->packed
                   ? copy->packed
                   : (char *)copy->tensor.data - before * call->ports[i].bytes;
    int result =
        driver->CopyToHost(to, copy->device, (size_t)copy->bytes, call->stream);
    if (result)
      return gpu_driver_fails(driver, ATTN_RT_GPU_NO_COPY, "cuMemcpyDtoHAsync",
                              result);
  }
  int result = driver->StreamSynchronize(call->stream);
  if (result)
    return gpu_driver_fails(driver, ATTN_RT_GPU_FAULT, "cuStreamSynchronize",
                            result);
  for (int32_t i = 0; i < call->num_ports; ++i) {
    attn_rt_gpu_copy *copy = &call->copies[i];
    if (!is_result(call, i) || !copy->packed)
      continue;
    attn_tensor packed = packed_tensor(&copy->tensor, call->ports[i].rank);
    packed.data = copy->packed;
    move(&packed, &copy->tensor, call->ports[i].rank, call->ports[i].bytes);
  }
  return ATTN_RT_GPU_OK;
}

void gpu_free_copies(const gpu_driver *driver, attn_rt_gpu_call *call) {
  for (int32_t i = 0; i < call->num_ports; ++i) {
    gpu_free(driver, call, call->copies[i].device);
    free(call->copies[i].packed);
  }
}
