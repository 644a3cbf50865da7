/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* One call of a function whose kernels run on a GPU: everything that it asks
 * for is in the order of its stream. The first failure is kept, and nothing is
 * done behind it but to give back what the call took. */
#define _GNU_SOURCE
#include "Driver.h"
#include "Runtime.h"

#include <stdio.h>
#include <string.h>

enum { MOST_PARAMETERS = 512 }; /* 4096 bytes, which is the hardware's limit */

static const gpu_driver *driver_of(const attn_rt_gpu_call *call) {
  attn_rt_gpu_failure failure;
  return call->loaded ? gpu_find_driver(&failure) : NULL;
}

gpu_options gpu_options_of(int32_t num_ports, const void *args) {
  size_t size,
      begin = ATTN_RT_PORTS_OFFSET + (size_t)num_ports * sizeof(attn_tensor);
  memcpy(&size, args, sizeof size);
  const attn_rt_gpu_settings *settings =
      (const attn_rt_gpu_settings *)((const char *)args + begin);
  if (size < begin + sizeof *settings)
    return (gpu_options){0, NULL};
  return (gpu_options){settings->device, settings->stream};
}

static void give_back(const gpu_driver *driver, attn_rt_gpu_call *call) {
  gpu_free_copies(driver, call);
  if (call->owns_workspace)
    gpu_free(driver, call, call->workspace);
  gpu_leave(driver);
}

int32_t attn_rt_gpu_begin(attn_rt_gpu_module *module,
                          const attn_rt_gpu_port *ports, int32_t num_ports,
                          const void *args, void *device_args,
                          attn_rt_gpu_call *call) {
  size_t size = ATTN_RT_PORTS_OFFSET + (size_t)num_ports * sizeof(attn_tensor);
  memset(call, 0, sizeof *call + (size_t)num_ports * sizeof *call->copies);
  memcpy(device_args, args, size + sizeof(attn_rt_call));
  for (int32_t i = 0; i < num_ports; ++i)
    call->copies[i].shares = -1;
  attn_rt_gpu_failure failure;
  const gpu_driver *driver = gpu_find_driver(&failure);
  if (!driver)
    return failure;
  attn_tensor *tensors =
      (attn_tensor *)((char *)device_args + ATTN_RT_PORTS_OFFSET);
  gpu_options options = gpu_options_of(num_ports, args);
  failure = gpu_enter(driver, options, tensors, num_ports, module->capability);
  if (failure)
    return failure;
  call->module = module;
  call->ports = ports;
  call->num_ports = num_ports;
  call->stream = options.stream;
  gpu_loaded *loaded = NULL;
  failure = gpu_find_pool(driver, &call->pool);
  if (!failure)
    failure = gpu_load(driver, module, &loaded);
  call->loaded = loaded;
  if (!failure)
    failure = gpu_copy_arguments(driver, call, tensors);
  if (failure)
    give_back(driver, call);
  else
    gpu_begin_time(driver, call);
  return failure;
}

/* The first failure of a call. */
static void note(attn_rt_gpu_call *call, attn_rt_gpu_failure failure) {
  if (!call->failure)
    call->failure = (int32_t)failure;
}

int64_t attn_rt_gpu_read(attn_rt_gpu_call *call, const void *address,
                         int32_t bytes) {
  const gpu_driver *driver = driver_of(call);
  int64_t number = 0;
  if (call->failure || !address)
    return 0;
  if (!gpu_is_on_device(driver, address)) {
    memcpy(&number, address, (size_t)bytes);
    return number;
  }
  int result = driver->CopyToHost(&number, (gpu_pointer)(uintptr_t)address,
                                  (size_t)bytes, call->stream);
  if (result)
    note(call, gpu_driver_fails(driver, ATTN_RT_GPU_NO_COPY,
                                "cuMemcpyDtoHAsync", result));
  else if ((result = driver->StreamSynchronize(call->stream)))
    note(call, gpu_driver_fails(driver, ATTN_RT_GPU_FAULT,
                                "cuStreamSynchronize", result));
  return result ? 0 : number;
}

int32_t attn_rt_gpu_give_up(attn_rt_gpu_call *call) {
  const gpu_driver *driver = driver_of(call);
  gpu_end_time(driver, call);
  if (call->waits) // The host's memory is the caller's again.
    driver->StreamSynchronize(call->stream);
  give_back(driver, call);
  return call->failure;
}

void *attn_rt_gpu_take_workspace(attn_rt_gpu_call *call, const void *args,
                                 int64_t bytes) {
  const gpu_driver *driver = driver_of(call);
  const attn_rt_call *given =
      (const attn_rt_call *)((const char *)args + ATTN_RT_PORTS_OFFSET +
                             (size_t)call->num_ports * sizeof(attn_tensor));
  if (bytes == 0)
    return NULL;
  if (given->workspace_size >= (size_t)bytes &&
      gpu_is_on_device(driver, given->workspace))
    return given->workspace;
  attn_rt_gpu_failure failure =
      gpu_allocate(driver, call, bytes, &call->workspace);
  call->owns_workspace = !failure;
  if (failure)
    note(call, failure);
  return (void *)(uintptr_t)call->workspace;
}

static int launch(const gpu_driver *driver, const attn_rt_gpu_call *call,
                  gpu_handle function, const int64_t sizes[7],
                  void **parameters) {
  int result = CUDA_SUCCESS;
  // More than every kernel has is asked for.
  if (sizes[6] > 48 << 10)
    result = driver->FuncSetAttribute(
        function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
        (int)sizes[6]);
  return result ? result
                : driver->LaunchKernel(function, (unsigned)sizes[0],
                                       (unsigned)sizes[1], (unsigned)sizes[2],
                                       (unsigned)sizes[3], (unsigned)sizes[4],
                                       (unsigned)sizes[5], (unsigned)sizes[6],
                                       call->stream, parameters, NULL);
}

/* A chip may have less shared memory than the one of --target. */
static attn_rt_gpu_failure launch_fails(const gpu_driver *driver, int64_t bytes,
                                        int result) {
  int device = 0, most = 0;
  char text[160];
  if (driver->CtxGetDevice(&device) ||
      driver->DeviceGetAttribute(
          &most, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN,
          device) ||
      bytes <= most)
    return gpu_driver_fails(driver, ATTN_RT_GPU_NO_LAUNCH, "cuLaunchKernel",
                            result);
  snprintf(text, sizeof text,
           "a kernel takes %lld bytes of shared memory, and a block of this "
           "device has %d: compile for its chip, as --target=sm_86",
           (long long)bytes, most);
  return gpu_fail(ATTN_RT_GPU_NO_LAUNCH, text);
}

void attn_rt_gpu_launch(attn_rt_gpu_call *call, int32_t kernel,
                        const int64_t sizes[7], const int64_t *slots,
                        int32_t count) {
  void *parameters[MOST_PARAMETERS];
  if (call->failure || sizes[0] == 0 || sizes[1] == 0 || sizes[2] == 0)
    return;
  bool fits = count <= MOST_PARAMETERS;
  for (int i = 0; i < 7; ++i)
    fits &= sizes[i] >= 0 && sizes[i] <= INT32_MAX;
  if (!fits) {
    note(call, gpu_fail(ATTN_RT_GPU_NO_LAUNCH,
                        "a kernel has more blocks or parameters than a GPU "
                        "counts"));
    return;
  }
  for (int32_t i = 0; i < count; ++i)
    parameters[i] = (void *)(uintptr_t)&slots[i];
  const gpu_driver *driver = driver_of(call);
  const gpu_loaded *loaded = call->loaded;
  int result =
      launch(driver, call, loaded->functions[kernel], sizes, parameters);
  if (result)
    note(call, launch_fails(driver, sizes[6], result));
}

void *attn_rt_gpu_constant(attn_rt_gpu_call *call, const void *data,
                           int64_t bytes) {
  gpu_pointer there = 0;
  if (call->failure || bytes == 0)
    return NULL;
  attn_rt_gpu_failure failure =
      gpu_find_constant(driver_of(call), call->loaded, data, bytes, &there);
  if (failure)
    note(call, failure);
  return (void *)(uintptr_t)there;
}

int32_t attn_rt_gpu_end(attn_rt_gpu_call *call) {
  const gpu_driver *driver = driver_of(call);
  gpu_end_time(driver, call);
  if (call->waits && !call->failure)
    note(call, gpu_copy_results(driver, call));
  else if (call->waits) // The host's memory is the caller's again.
    driver->StreamSynchronize(call->stream);
  give_back(driver, call);
  return call->failure;
}
