/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The part of NVIDIA's driver interface that the runtime calls, as the CUDA
 * Driver API's reference describes it. */
#ifndef ATTN_LIB_RUNTIME_GPU_DRIVER_H
#define ATTN_LIB_RUNTIME_GPU_DRIVER_H
#include "attn-rt/gpu.h"

#include <stdbool.h>

typedef uint64_t gpu_pointer;
typedef void *gpu_handle; /* of a context, module, function, stream, event */

/* What the caller chose, as in attn_rt_gpu_settings. */
typedef struct {
  int32_t device;
  gpu_handle stream;
} gpu_options;

/* Results, attributes and options that are looked at by number. */
enum {
  CUDA_SUCCESS = 0,
  CUDA_ERROR_OUT_OF_MEMORY = 2,
  CUDA_ERROR_ILLEGAL_ADDRESS = 700,
  CUDA_ERROR_HARDWARE_STACK_ERROR = 714,
  CUDA_ERROR_LAUNCH_FAILED = 719,
  CU_POINTER_ATTRIBUTE_CONTEXT = 1,
  CU_POINTER_ATTRIBUTE_MEMORY_TYPE = 2,
  CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL = 9,
  CU_MEMORYTYPE_DEVICE = 2,
  CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR = 75,
  CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR = 76,
  CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN = 97,
  CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED = 115,
  CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES = 8,
  CU_MEM_ALLOCATION_TYPE_PINNED = 1,
  CU_MEM_LOCATION_TYPE_DEVICE = 1,
  CU_MEMPOOL_ATTR_RELEASE_THRESHOLD = 4,
  CU_JIT_ERROR_LOG_BUFFER = 5,
  CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES = 6,
};

/* Devices of a higher number are not used. */
enum { MOST_DEVICES = 64 };

/* CUmemPoolProps. */
typedef struct {
  int32_t allocation, handles, location, device;
  void *security;
  size_t most; /* 0: as much as there is */
  unsigned char reserved[56];
} gpu_pool_properties;

/* name, the driver's symbol, arguments. */
#define GPU_DRIVER_FUNCTIONS(F)                                                \
  F(Init, "cuInit", (unsigned))                                                \
  F(DeviceGetCount, "cuDeviceGetCount", (int *))                               \
  F(DeviceGet, "cuDeviceGet", (int *, int))                                    \
  F(DeviceGetAttribute, "cuDeviceGetAttribute", (int *, int, int))             \
  F(PrimaryCtxRetain, "cuDevicePrimaryCtxRetain", (gpu_handle *, int))         \
  F(PrimaryCtxRelease, "cuDevicePrimaryCtxRelease_v2", (int))                  \
  F(CtxGetCurrent, "cuCtxGetCurrent", (gpu_handle *))                          \
  F(CtxGetDevice, "cuCtxGetDevice", (int *))                                   \
  F(CtxPush, "cuCtxPushCurrent_v2", (gpu_handle))                              \
  F(CtxPop, "cuCtxPopCurrent_v2", (gpu_handle *))                              \
  F(ModuleLoad, "cuModuleLoadDataEx",                                          \
    (gpu_handle *, const void *, unsigned, int *, void **))                    \
  F(ModuleGetFunction, "cuModuleGetFunction",                                  \
    (gpu_handle *, gpu_handle, const char *))                                  \
  F(ModuleUnload, "cuModuleUnload", (gpu_handle))                              \
  F(FuncSetAttribute, "cuFuncSetAttribute", (gpu_handle, int, int))            \
  F(LaunchKernel, "cuLaunchKernel",                                            \
    (gpu_handle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,   \
     unsigned, gpu_handle, void **, void **))                                  \
  F(StreamGetCtx, "cuStreamGetCtx", (gpu_handle, gpu_handle *))                \
  F(StreamSynchronize, "cuStreamSynchronize", (gpu_handle))                    \
  F(EventCreate, "cuEventCreate", (gpu_handle *, unsigned))                    \
  F(EventRecord, "cuEventRecord", (gpu_handle, gpu_handle))                    \
  F(EventSynchronize, "cuEventSynchronize", (gpu_handle))                      \
  F(EventElapsedTime, "cuEventElapsedTime", (float *, gpu_handle, gpu_handle)) \
  F(EventDestroy, "cuEventDestroy_v2", (gpu_handle))                           \
  F(PointerGetAttribute, "cuPointerGetAttribute", (void *, int, gpu_pointer))  \
  F(MemAlloc, "cuMemAlloc_v2", (gpu_pointer *, size_t))                        \
  F(MemFree, "cuMemFree_v2", (gpu_pointer))                                    \
  F(CopyToDevice, "cuMemcpyHtoDAsync_v2",                                      \
    (gpu_pointer, const void *, size_t, gpu_handle))                           \
  F(CopyToHost, "cuMemcpyDtoHAsync_v2",                                        \
    (void *, gpu_pointer, size_t, gpu_handle))                                 \
  F(GetErrorName, "cuGetErrorName", (int, const char **))                      \
  F(GetErrorString, "cuGetErrorString", (int, const char **))

/* Drivers of before CUDA 11.2 and 12 have none of these. */
#define GPU_DRIVER_NEWER_FUNCTIONS(F)                                          \
  F(MemPoolCreate, "cuMemPoolCreate",                                          \
    (gpu_handle *, const gpu_pool_properties *))                               \
  F(MemPoolSetAttribute, "cuMemPoolSetAttribute", (gpu_handle, int, void *))   \
  F(MemPoolDestroy, "cuMemPoolDestroy", (gpu_handle))                          \
  F(MemAllocFromPoolAsync, "cuMemAllocFromPoolAsync",                          \
    (gpu_pointer *, size_t, gpu_handle, gpu_handle))                           \
  F(MemFreeAsync, "cuMemFreeAsync", (gpu_pointer, gpu_handle))                 \
  F(CtxGetId, "cuCtxGetId", (gpu_handle, unsigned long long *))

typedef struct {
#define F(name, symbol, arguments) int(*name) arguments;
  GPU_DRIVER_FUNCTIONS(F)
  GPU_DRIVER_NEWER_FUNCTIONS(F)
#undef F
  int devices;
} gpu_driver;

/* The driver, found and initialized by the first call; null and the failure
 * where there is none, or none that has a device. */
const gpu_driver *gpu_find_driver(attn_rt_gpu_failure *failure);

/* Notes why, for attn_rt_gpu_why; returns the failure. */
attn_rt_gpu_failure gpu_fail(attn_rt_gpu_failure failure, const char *why);
/* The same of what a function of the driver's returned. */
attn_rt_gpu_failure gpu_driver_fails(const gpu_driver *driver,
                                     attn_rt_gpu_failure failure,
                                     const char *function, int result);

/* Device.c. The context of a call, which becomes the thread's current one. */
attn_rt_gpu_failure gpu_enter(const gpu_driver *driver, gpu_options options,
                              const attn_tensor *tensors, int32_t count,
                              int32_t capability);
void gpu_leave(const gpu_driver *driver);
void gpu_release_contexts(const gpu_driver *driver);
/* Whether the memory is the device's; the host's is not, pinned or not. */
bool gpu_is_on_device(const gpu_driver *driver, const void *data);
/* Whether that device, or any, can run kernels for `capability`. */
attn_rt_gpu_failure gpu_check_device(const gpu_driver *driver, int device,
                                     int32_t capability);

/* Modules.c: the kernels of an object in one context. */
typedef struct gpu_loaded {
  struct gpu_loaded *next; /* of the same object, in another context */
  struct gpu_loaded *next_of_all;
  gpu_handle context, module, *functions;
  unsigned long long id;
  struct gpu_constant *constants;
} gpu_loaded;
attn_rt_gpu_failure gpu_load(const gpu_driver *driver,
                             attn_rt_gpu_module *module, gpu_loaded **loaded);
void gpu_unload_all(const gpu_driver *driver);
attn_rt_gpu_failure gpu_find_constant(const gpu_driver *driver,
                                      gpu_loaded *loaded, const void *data,
                                      int64_t bytes, gpu_pointer *there);

/* Copies.c: tensors of the host's memory. */
attn_rt_gpu_failure gpu_copy_arguments(const gpu_driver *driver,
                                       attn_rt_gpu_call *call,
                                       attn_tensor *tensors);
attn_rt_gpu_failure gpu_copy_results(const gpu_driver *driver,
                                     attn_rt_gpu_call *call);
void gpu_free_copies(const gpu_driver *driver, attn_rt_gpu_call *call);

/* Times.c: around the kernels of a call, where the thread wants its time. */
void gpu_begin_time(const gpu_driver *driver, const attn_rt_gpu_call *call);
void gpu_end_time(const gpu_driver *driver, const attn_rt_gpu_call *call);

/* Call.c. What the caller chose. */
gpu_options gpu_options_of(int32_t num_ports, const void *args);

/* Memory.c: memory of the device that goes with a call. The pool is that of the
 * current context's device; null where it has none. */
attn_rt_gpu_failure gpu_find_pool(const gpu_driver *driver, gpu_handle *pool);
void gpu_destroy_pools(const gpu_driver *driver);
attn_rt_gpu_failure gpu_allocate(const gpu_driver *driver,
                                 const attn_rt_gpu_call *call, int64_t bytes,
                                 gpu_pointer *memory);
void gpu_free(const gpu_driver *driver, const attn_rt_gpu_call *call,
              gpu_pointer memory);

#endif
