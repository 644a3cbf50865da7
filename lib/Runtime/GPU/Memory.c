/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Memory of the device that goes with a call. It is of a pool, in the order of
 * the call's stream, which keeps what it has for the calls that follow: memory
 * that is given back to the device at every synchronization costs more time
 * than a call of few queries. */
#define _GNU_SOURCE
#include "Driver.h"

#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static gpu_handle pools[MOST_DEVICES]; /* kept until the end; null: not made */

static int make_pool(const gpu_driver *driver, int device, gpu_handle *pool) {
  gpu_pool_properties properties = {.allocation = CU_MEM_ALLOCATION_TYPE_PINNED,
                                    .location = CU_MEM_LOCATION_TYPE_DEVICE,
                                    .device = device};
  uint64_t kept = UINT64_MAX;
  int result = driver->MemPoolCreate(pool, &properties);
  if (result) {
    *pool = NULL;
    return result;
  }
  result = driver->MemPoolSetAttribute(*pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD,
                                       &kept);
  if (result) {
    driver->MemPoolDestroy(*pool);
    *pool = NULL;
  }
  return result;
}

attn_rt_gpu_failure gpu_find_pool(const gpu_driver *driver, gpu_handle *pool) {
  int device, has = 0;
  *pool = NULL;
  if (!driver->MemAllocFromPoolAsync || !driver->MemFreeAsync ||
      !driver->MemPoolCreate || !driver->MemPoolSetAttribute ||
      !driver->MemPoolDestroy || driver->CtxGetDevice(&device) || device < 0 ||
      device >= MOST_DEVICES ||
      driver->DeviceGetAttribute(
          &has, CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED, device) ||
      !has)
    return ATTN_RT_GPU_OK;
  pthread_mutex_lock(&lock);
  int result =
      pools[device] ? CUDA_SUCCESS : make_pool(driver, device, &pools[device]);
  *pool = pools[device];
  pthread_mutex_unlock(&lock);
  return result ? gpu_driver_fails(driver, ATTN_RT_GPU_NO_MEMORY,
                                   "cuMemPoolCreate", result)
                : ATTN_RT_GPU_OK;
}

void gpu_destroy_pools(const gpu_driver *driver) {
  for (int i = 0; i < MOST_DEVICES; ++i)
    if (pools[i])
      driver->MemPoolDestroy(pools[i]);
}

attn_rt_gpu_failure gpu_allocate(const gpu_driver *driver,
                                 const attn_rt_gpu_call *call, int64_t bytes,
                                 gpu_pointer *memory) {
  *memory = 0;
  if (bytes == 0)
    return ATTN_RT_GPU_OK;
  int result = call->pool ? driver->MemAllocFromPoolAsync(
                                memory, (size_t)bytes, call->pool, call->stream)
                          : driver->MemAlloc(memory, (size_t)bytes);
  if (!result)
    return ATTN_RT_GPU_OK;
  *memory = 0;
  return gpu_driver_fails(driver, ATTN_RT_GPU_NO_MEMORY,
                          call->pool ? "cuMemAllocFromPoolAsync" : "cuMemAlloc",
                          result);
}

/* Without a pool, memory that kernels may use still waits for them. */
void gpu_free(const gpu_driver *driver, const attn_rt_gpu_call *call,
              gpu_pointer memory) {
  if (!memory)
    return;
  if (call->pool) {
    driver->MemFreeAsync(memory, call->stream);
    return;
  }
  driver->StreamSynchronize(call->stream);
  driver->MemFree(memory);
}
