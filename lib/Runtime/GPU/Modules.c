/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Kernels are loaded once per object and context, and constants copied once. */
#define _GNU_SOURCE
#include "Driver.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct gpu_constant {
  struct gpu_constant *next;
  const void *data;
  int64_t bytes;
  gpu_pointer there;
} gpu_constant;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static gpu_loaded *all; /* of all objects */

/* Whether `loaded` is of this context: another one may have its address. */
static unsigned long long id_of(const gpu_driver *driver, gpu_handle context) {
  unsigned long long id = 0;
  if (!driver->CtxGetId || driver->CtxGetId(context, &id))
    id = 0;
  return id;
}

/* Tries an image; the assembler's own words say what is wrong with it. */
static int load_image(const gpu_driver *driver, const void *image,
                      gpu_handle *module, char *log, size_t log_size) {
  int options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void *values[] = {log, (void *)(uintptr_t)log_size};
  log[0] = 0;
  return driver->ModuleLoad(module, image, 2, options, values);
}

/* The cubin where the driver takes it for the device, else the PTX. */
static attn_rt_gpu_failure load_module(const gpu_driver *driver,
                                       const attn_rt_gpu_module *module,
                                       gpu_handle *handle) {
  char log[200], text[256];
  int result = -1;
  if (module->cubin)
    result = load_image(driver, module->cubin, handle, log, sizeof log);
  if (result)
    result = load_image(driver, module->ptx, handle, log, sizeof log);
  if (!result)
    return ATTN_RT_GPU_OK;
  attn_rt_gpu_failure failure = result == CUDA_ERROR_OUT_OF_MEMORY
                                    ? ATTN_RT_GPU_NO_MEMORY
                                    : ATTN_RT_GPU_NOT_LOADED;
  gpu_driver_fails(driver, failure, "cuModuleLoadDataEx", result);
  log[strcspn(log, "\n")] = 0;
  if (!log[0])
    return failure;
  snprintf(text, sizeof text, "%.100s: %.140s", attn_rt_gpu_why(), log);
  return gpu_fail(failure, text);
}

static attn_rt_gpu_failure find_functions(const gpu_driver *driver,
                                          const attn_rt_gpu_module *module,
                                          gpu_loaded *loaded) {
  const char *name = module->names;
  for (int32_t i = 0; i < module->num_kernels; ++i) {
    int result =
        driver->ModuleGetFunction(&loaded->functions[i], loaded->module, name);
    if (result)
      return gpu_driver_fails(driver, ATTN_RT_GPU_NOT_LOADED,
                              "cuModuleGetFunction", result);
    name += strlen(name) + 1;
  }
  return ATTN_RT_GPU_OK;
}

static void free_loaded(const gpu_driver *driver, gpu_loaded *loaded) {
  gpu_constant *next;
  for (gpu_constant *c = loaded->constants; c; c = next) {
    next = c->next;
    driver->MemFree(c->there);
    free(c);
  }
  if (loaded->module)
    driver->ModuleUnload(loaded->module);
  free(loaded->functions);
  free(loaded);
}

static attn_rt_gpu_failure load_new(const gpu_driver *driver,
                                    attn_rt_gpu_module *module,
                                    gpu_loaded *loaded) {
  loaded->functions =
      calloc((size_t)module->num_kernels + 1, sizeof *loaded->functions);
  if (!loaded->functions)
    return gpu_fail(ATTN_RT_GPU_NO_MEMORY, "the host is out of memory");
  attn_rt_gpu_failure failure = load_module(driver, module, &loaded->module);
  return failure ? failure : find_functions(driver, module, loaded);
}

attn_rt_gpu_failure gpu_load(const gpu_driver *driver,
                             attn_rt_gpu_module *module, gpu_loaded **result) {
  gpu_handle context = NULL;
  int status = driver->CtxGetCurrent(&context);
  if (status || !context)
    return gpu_driver_fails(driver, ATTN_RT_GPU_WRONG_CONTEXT,
                            "cuCtxGetCurrent", status);
  unsigned long long id = id_of(driver, context);
  attn_rt_gpu_failure failure = ATTN_RT_GPU_OK;
  pthread_mutex_lock(&lock);
  gpu_loaded *loaded = module->loaded;
  while (loaded && (loaded->context != context || loaded->id != id))
    loaded = loaded->next;
  if (!loaded && !(loaded = calloc(1, sizeof *loaded)))
    failure = gpu_fail(ATTN_RT_GPU_NO_MEMORY, "the host is out of memory");
  else if (!loaded->module) {
    failure = load_new(driver, module, loaded);
    if (failure)
      free_loaded(driver, loaded);
    else {
      loaded->context = context;
      loaded->id = id;
      loaded->next = module->loaded;
      loaded->next_of_all = all;
      module->loaded = all = loaded;
    }
  }
  pthread_mutex_unlock(&lock);
  *result = failure ? NULL : loaded;
  return failure;
}

static attn_rt_gpu_failure copy_constant(const gpu_driver *driver,
                                         gpu_constant *c) {
  int result = driver->MemAlloc(&c->there, (size_t)c->bytes);
  if (result)
    return gpu_driver_fails(driver, ATTN_RT_GPU_NO_MEMORY, "cuMemAlloc",
                            result);
  result = driver->CopyToDevice(c->there, c->data, (size_t)c->bytes, NULL);
  // Kernels of all streams read it.
  if (!result)
    result = driver->StreamSynchronize(NULL);
  if (!result)
    return ATTN_RT_GPU_OK;
  driver->MemFree(c->there);
  return gpu_driver_fails(driver, ATTN_RT_GPU_NO_COPY, "cuMemcpyHtoDAsync",
                          result);
}

attn_rt_gpu_failure gpu_find_constant(const gpu_driver *driver,
                                      gpu_loaded *loaded, const void *data,
                                      int64_t bytes, gpu_pointer *there) {
  attn_rt_gpu_failure failure = ATTN_RT_GPU_OK;
  pthread_mutex_lock(&lock);
  gpu_constant *c = loaded->constants;
  while (c && (c->data != data || c->bytes < bytes))
    c = c->next;
  if (!c && !(c = calloc(1, sizeof *c)))
    failure = gpu_fail(ATTN_RT_GPU_NO_MEMORY, "the host is out of memory");
  else if (!c->data) {
    c->data = data;
    c->bytes = bytes;
    failure = copy_constant(driver, c);
    if (failure)
      free(c);
    else {
      c->next = loaded->constants;
      loaded->constants = c;
    }
  }
  if (!failure)
    *there = c->there;
  pthread_mutex_unlock(&lock);
  return failure;
}

void gpu_unload_all(const gpu_driver *driver) {
  for (gpu_loaded *next; all; all = next) {
    next = all->next_of_all;
    gpu_handle context;
    if (driver->CtxPush(all->context))
      continue; // The context has ended, and so have its kernels.
    free_loaded(driver, all);
    driver->CtxPop(&context);
  }
}
