# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Calls of compiled kernels with tensors that lie on the device (include/attn-rt/attn.h)."""
import ctypes

MAX_RANK = 6


class _Tensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("shape", ctypes.c_int64 * MAX_RANK), ("strides", ctypes.c_int64 * MAX_RANK)]


class _Settings(ctypes.Structure):
    """attn_rt_gpu_settings."""

    _fields_ = [("workspace", ctypes.c_void_p), ("workspace_size", ctypes.c_size_t), ("parallel_for", ctypes.c_void_p),
                ("parallel_context", ctypes.c_void_p), ("threads", ctypes.c_int32), ("device", ctypes.c_int32), ("stream", ctypes.c_void_p)]


def strides_of(shape):
    strides, count = [], 1
    for size in reversed(shape):
        strides.insert(0, count)
        count *= size
    return strides


class Kernels:
    def __init__(self, library):
        self.library = ctypes.CDLL(library)

    def prepare(self, name, tensors, stream=None):
        """A call without arguments. `tensors`: (address, shape) of each argument and result, without gaps."""
        args = type("Args", (ctypes.Structure,), {"_fields_": [("size", ctypes.c_size_t), ("tensors", _Tensor * len(tensors)), ("settings", _Settings)]})()
        args.size = ctypes.sizeof(args)
        args.settings.stream = stream
        for tensor, (address, shape) in zip(args.tensors, tensors):
            tensor.data = address
            tensor.shape[:len(shape)], tensor.strides[:len(shape)] = shape, strides_of(shape)
        function, strerror = getattr(self.library, name), getattr(self.library, name + "_strerror")
        strerror.restype = ctypes.c_char_p

        def call():
            if status := function(ctypes.byref(args)):
                raise RuntimeError(f"{name}: {strerror(status).decode()}")

        return call
