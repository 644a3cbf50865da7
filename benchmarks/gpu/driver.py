# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The NVIDIA driver (libcuda.so.1), as far as copies and launches need it. Without PyTorch, so that it runs
as well with a driver made of ptxsim."""
import ctypes

import numpy as np

_JIT_ERROR_LOG, _JIT_ERROR_LOG_SIZE, _MOST_SHARED = 5, 6, 8


class Driver:
    """Of device 0, in its primary context, which PyTorch uses as well."""

    def __init__(self):
        try:
            self.library = ctypes.CDLL("libcuda.so.1")
        except OSError as error:
            raise SystemExit(f"benchmarks/gpu/run: there is no NVIDIA driver: {error}") from None
        self("cuInit", 0)
        device, context = ctypes.c_int(), ctypes.c_void_p()
        self("cuDeviceGet", ctypes.byref(device), 0)
        self("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        self("cuCtxPushCurrent_v2", context)
        self.device = device
        self.allocations = []

    def __call__(self, name, *arguments):
        if result := getattr(self.library, name)(*arguments):
            raise RuntimeError(f"{name} returned {result}")

    def describe(self):
        name, version = ctypes.create_string_buffer(100), ctypes.c_int()
        if not hasattr(self.library, "cuDeviceGetName"):
            return "a driver without a GPU"
        self("cuDeviceGetName", name, 100, self.device)
        self("cuDriverGetVersion", ctypes.byref(version))
        return f"{name.value.decode()}, driver for CUDA {version.value // 1000}.{version.value % 1000 // 10}"

    def allocate(self, size):
        address = ctypes.c_uint64()
        self("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(max(size, 1)))
        self.allocations.append(address.value)
        return address.value

    def to_device(self, array):
        """The address of a copy without gaps."""
        array = np.ascontiguousarray(array)
        address = self.allocate(array.nbytes)
        if array.nbytes:
            self("cuMemcpyHtoDAsync_v2", ctypes.c_uint64(address), ctypes.c_void_p(array.ctypes.data), ctypes.c_size_t(array.nbytes), None)
            self("cuStreamSynchronize", None)
        return address

    def to_host(self, address, shape, dtype):
        array = np.empty(shape, dtype)
        self("cuStreamSynchronize", None)
        if array.nbytes:
            self("cuMemcpyDtoHAsync_v2", ctypes.c_void_p(array.ctypes.data), ctypes.c_uint64(address), ctypes.c_size_t(array.nbytes), None)
            self("cuStreamSynchronize", None)
        return array

    def free(self):
        while self.allocations:
            self("cuMemFree_v2", ctypes.c_uint64(self.allocations.pop()))

    def load(self, ptx):
        log = ctypes.create_string_buffer(4096)
        options = (ctypes.c_int * 2)(_JIT_ERROR_LOG, _JIT_ERROR_LOG_SIZE)
        values = (ctypes.c_void_p * 2)(ctypes.addressof(log), 4096)
        module = ctypes.c_void_p()
        try:
            self("cuModuleLoadDataEx", ctypes.byref(module), ptx.encode() + b"\0", 2, options, values)
        except RuntimeError as error:
            raise RuntimeError(f"{error}: {log.value.decode()}") from None
        return module

    def launch(self, module, name, grid, block, addresses):
        function = ctypes.c_void_p()
        self("cuModuleGetFunction", ctypes.byref(function), module, name.encode())
        slots = [ctypes.c_uint64(address) for address in addresses]
        parameters = (ctypes.c_void_p * len(slots))(*(ctypes.addressof(slot) for slot in slots))
        self("cuLaunchKernel", function, grid, 1, 1, block, 1, 1, 0, None, parameters, None)
