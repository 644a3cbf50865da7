/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Finds the driver at run time. A process that calls no kernel of a GPU does
 * not load it; one on a machine without it gets a failure, and no more. */
#define _GNU_SOURCE
#include "Driver.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static _Thread_local char why[256] = "no failure";

// Of libraries too, for the Python package.
__attribute__((visibility("default"))) const char *attn_rt_gpu_why(void) {
  return why;
}

attn_rt_gpu_failure gpu_fail(attn_rt_gpu_failure failure, const char *text) {
  snprintf(why, sizeof why, "%s", text);
  return failure;
}

attn_rt_gpu_failure gpu_driver_fails(const gpu_driver *driver,
                                     attn_rt_gpu_failure failure,
                                     const char *function, int result) {
  const char *name = NULL, *text = NULL;
  driver->GetErrorName(result, &name);
  driver->GetErrorString(result, &text);
  // A kernel's fault is told by whichever call follows, and every later one.
  if (result == CUDA_ERROR_ILLEGAL_ADDRESS ||
      (result >= CUDA_ERROR_HARDWARE_STACK_ERROR &&
       result <= CUDA_ERROR_LAUNCH_FAILED))
    failure = ATTN_RT_GPU_FAULT;
  snprintf(why, sizeof why, "%s: %s (%d): %s", function,
           name ? name : "unknown error", result, text ? text : "no text");
  return failure;
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static gpu_driver found;
static attn_rt_gpu_failure found_failure;
static char found_why[sizeof why];
static bool was_sought;

static attn_rt_gpu_failure find_symbols(void *library) {
#define F(name, symbol, arguments)                                             \
  *(void **)&found.name = dlsym(library, symbol);
  GPU_DRIVER_FUNCTIONS(F)
  GPU_DRIVER_NEWER_FUNCTIONS(F)
#undef F
#define F(name, symbol, arguments)                                             \
  if (!found.name)                                                             \
    return gpu_fail(ATTN_RT_GPU_OLD_DRIVER,                                    \
                    "libcuda.so.1 has no function " symbol);
  GPU_DRIVER_FUNCTIONS(F)
#undef F
  return ATTN_RT_GPU_OK;
}

// What a process leaves is nothing; a library that is unloaded, neither. The
// driver's own handlers are older and so run later.
static void give_all_back(void) {
  gpu_unload_all(&found);
  gpu_destroy_pools(&found);
  gpu_release_contexts(&found);
}

static attn_rt_gpu_failure seek_driver(void) {
  // It stays loaded: it keeps threads and memory of its own.
  void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return gpu_fail(ATTN_RT_GPU_NO_DRIVER, dlerror());
  attn_rt_gpu_failure failure = find_symbols(library);
  if (failure)
    return failure;
  int result = found.Init(0);
  if (result)
    return gpu_driver_fails(&found, ATTN_RT_GPU_NO_DEVICE, "cuInit", result);
  result = found.DeviceGetCount(&found.devices);
  if (result)
    return gpu_driver_fails(&found, ATTN_RT_GPU_NO_DEVICE, "cuDeviceGetCount",
                            result);
  if (found.devices <= 0)
    return gpu_fail(ATTN_RT_GPU_NO_DEVICE, "cuDeviceGetCount: 0 devices");
  atexit(give_all_back);
  return ATTN_RT_GPU_OK;
}

const gpu_driver *gpu_find_driver(attn_rt_gpu_failure *failure) {
  pthread_mutex_lock(&lock);
  if (!was_sought) {
    found_failure = seek_driver();
    snprintf(found_why, sizeof found_why, "%s", why);
    was_sought = true;
  }
  *failure = found_failure;
  if (found_failure)
    gpu_fail(found_failure, found_why);
  pthread_mutex_unlock(&lock);
  return *failure ? NULL : &found;
}
