/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* On which device, in which context, a call runs. */
#define _GNU_SOURCE
#include "Driver.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
  gpu_handle context; /* retained until the end; null: not */
  int device;
} primary[MOST_DEVICES];

/* The context that programs with CUDA's runtime share. */
static attn_rt_gpu_failure find_primary(const gpu_driver *driver, int ordinal,
                                        gpu_handle *context) {
  if (ordinal < 0 || ordinal >= driver->devices || ordinal >= MOST_DEVICES)
    return gpu_fail(ATTN_RT_GPU_NO_DEVICE,
                    "there is no device of the number that was asked for");
  pthread_mutex_lock(&lock);
  int result = CUDA_SUCCESS;
  if (!primary[ordinal].context) {
    result = driver->DeviceGet(&primary[ordinal].device, ordinal);
    if (!result)
      result = driver->PrimaryCtxRetain(&primary[ordinal].context,
                                        primary[ordinal].device);
  }
  *context = primary[ordinal].context;
  pthread_mutex_unlock(&lock);
  return result ? gpu_driver_fails(driver, ATTN_RT_GPU_NO_DEVICE,
                                   "cuDevicePrimaryCtxRetain", result)
                : ATTN_RT_GPU_OK;
}

void gpu_release_contexts(const gpu_driver *driver) {
  for (int i = 0; i < MOST_DEVICES; ++i)
    if (primary[i].context)
      driver->PrimaryCtxRelease(primary[i].device);
}

bool gpu_is_on_device(const gpu_driver *driver, const void *data) {
  unsigned type = 0;
  return data &&
         !driver->PointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                      (gpu_pointer)(uintptr_t)data) &&
         type == CU_MEMORYTYPE_DEVICE;
}

/* The number of the device that holds this memory; -1 if none does. */
static int device_of(const gpu_driver *driver, const void *data) {
  int ordinal = -1;
  if (gpu_is_on_device(driver, data) &&
      driver->PointerGetAttribute(&ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
                                  (gpu_pointer)(uintptr_t)data))
    ordinal = -1;
  return ordinal;
}

/* Memory of a pool has a device, but no context of its own. */
static attn_rt_gpu_failure context_of(const gpu_driver *driver,
                                      const void *data, gpu_handle *context) {
  *context = NULL;
  if (!driver->PointerGetAttribute(context, CU_POINTER_ATTRIBUTE_CONTEXT,
                                   (gpu_pointer)(uintptr_t)data) &&
      *context)
    return ATTN_RT_GPU_OK;
  return find_primary(driver, device_of(driver, data), context);
}

static const int32_t processor = -1, no_device = INT32_MIN;

/* 0: auto; -1: the CPU; n: device n - 1; or no_device. */
static int32_t chosen_device(int32_t given) {
  const char *text = given ? NULL : getenv("ATTN_DEVICE");
  if (!text || !*text)
    return given < processor ? no_device : given;
  if (strcmp(text, "cpu") == 0)
    return processor;
  if (strcmp(text, "gpu") == 0)
    return 1;
  char *end;
  long number = strtol(text, &end, 10);
  return *end || number < 0 || number >= INT32_MAX ? no_device
                                                   : (int32_t)number + 1;
}

static attn_rt_gpu_failure choose_context(const gpu_driver *driver,
                                          gpu_options options,
                                          const attn_tensor *tensors,
                                          int32_t count, gpu_handle *context) {
  // 1 and 2 name default streams, of whatever context is the current one.
  if ((uintptr_t)options.stream > 2) {
    int result = driver->StreamGetCtx(options.stream, context);
    return result ? gpu_driver_fails(driver, ATTN_RT_GPU_WRONG_CONTEXT,
                                     "cuStreamGetCtx", result)
                  : ATTN_RT_GPU_OK;
  }
  for (int32_t i = 0; i < count; ++i)
    if (device_of(driver, tensors[i].data) >= 0)
      return context_of(driver, tensors[i].data, context);
  int32_t device = chosen_device(options.device);
  if (device > 0)
    return find_primary(driver, device - 1, context);
  if (device == processor)
    return gpu_fail(ATTN_RT_GPU_NO_DEVICE, "the processor is asked for, of "
                                           "which there is no code here");
  if (device == no_device)
    return gpu_fail(ATTN_RT_GPU_NO_DEVICE,
                    "expected cpu, gpu or the number of a GPU");
  *context = NULL;
  driver->CtxGetCurrent(context);
  return *context ? ATTN_RT_GPU_OK : find_primary(driver, 0, context);
}

attn_rt_gpu_failure gpu_check_device(const gpu_driver *driver, int device,
                                     int32_t capability) {
  int major = 0, minor = 0;
  int result = driver->DeviceGetAttribute(
      &major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device);
  if (!result)
    result = driver->DeviceGetAttribute(
        &minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device);
  if (result)
    return gpu_driver_fails(driver, ATTN_RT_GPU_NO_DEVICE,
                            "cuDeviceGetAttribute", result);
  return major * 10 + minor >= capability
             ? ATTN_RT_GPU_OK
             : gpu_fail(ATTN_RT_GPU_OLD_DEVICE,
                        "the device's compute capability is too low");
}

static attn_rt_gpu_failure check_current(const gpu_driver *driver,
                                         gpu_options options,
                                         const attn_tensor *tensors,
                                         int32_t count, int32_t capability) {
  int device;
  int result = driver->CtxGetDevice(&device);
  if (result)
    return gpu_driver_fails(driver, ATTN_RT_GPU_WRONG_CONTEXT, "cuCtxGetDevice",
                            result);
  for (int32_t i = 0; i < count; ++i) {
    int other = device_of(driver, tensors[i].data);
    if (other >= 0 && other != device)
      return gpu_fail(ATTN_RT_GPU_WRONG_CONTEXT,
                      "a tensor lies on another device");
  }
  int32_t asked = options.device;
  if (asked > 0 && asked - 1 != device)
    return gpu_fail(ATTN_RT_GPU_WRONG_CONTEXT,
                    "tensors or the stream are not of the device that was "
                    "asked for");
  return gpu_check_device(driver, device, capability);
}

attn_rt_gpu_failure gpu_enter(const gpu_driver *driver, gpu_options options,
                              const attn_tensor *tensors, int32_t count,
                              int32_t capability) {
  gpu_handle context = NULL;
  attn_rt_gpu_failure failure =
      choose_context(driver, options, tensors, count, &context);
  if (failure)
    return failure;
  int result = driver->CtxPush(context);
  if (result)
    return gpu_driver_fails(driver, ATTN_RT_GPU_WRONG_CONTEXT,
                            "cuCtxPushCurrent", result);
  failure = check_current(driver, options, tensors, count, capability);
  if (failure)
    gpu_leave(driver);
  return failure;
}

void gpu_leave(const gpu_driver *driver) {
  gpu_handle context;
  driver->CtxPop(&context);
}

int32_t attn_rt_gpu_is_chosen(const attn_rt_gpu_module *module,
                              int32_t num_ports, const void *args) {
  int32_t device = chosen_device(gpu_options_of(num_ports, args).device);
  if (device) // what is none is refused where the GPU's is looked for
    return device != processor;
  attn_rt_gpu_failure failure;
  const gpu_driver *driver = gpu_find_driver(&failure);
  int first;
  return driver && !driver->DeviceGet(&first, 0) &&
         !gpu_check_device(driver, first, module->capability);
}
