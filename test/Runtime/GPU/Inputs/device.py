# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import ctypes
import re
import sys
import types

import numpy as np

import attn

CUDA = ctypes.CDLL("libcuda.so.1")
TARGET, STREAM = "sm_80,x86-64", ctypes.c_void_p()


def do(name, *arguments):
    if status := getattr(CUDA, name)(*arguments):
        raise SystemExit(f"{name}: {status}")


context = ctypes.c_void_p()
do("cuInit", 0)
do("cuDevicePrimaryCtxRetain", ctypes.byref(context), 0)
do("cuCtxPushCurrent_v2", context)
do("cuStreamCreate", ctypes.byref(STREAM), 0)


class DLTensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32), ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8),
                ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16), ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)),
                ("byte_offset", ctypes.c_uint64)]


make_capsule = ctypes.pythonapi.PyCapsule_New
make_capsule.restype, make_capsule.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]


class Array:
    """Memory of the device with DLPack's protocol."""

    stream = 1  # that the package asks for

    def __init__(self, values, strides=None):
        self.dtype, self.shape = values.dtype, values.shape
        self.strides = strides or tuple(s // values.itemsize for s in np.empty(values.shape, values.dtype).strides)
        address = ctypes.c_uint64()
        do("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(max(values.nbytes, 1)))
        self.address, self.lent = address.value, []
        flat = np.ascontiguousarray(values)
        do("cuMemcpyHtoDAsync_v2", ctypes.c_uint64(self.address), ctypes.c_void_p(flat.ctypes.data), ctypes.c_size_t(flat.nbytes), None)

    def __del__(self):
        CUDA.cuMemFree_v2(ctypes.c_uint64(self.address))

    def __dlpack_device__(self):
        return 2, 0

    def __dlpack__(self, stream=None):
        assert stream == self.stream, stream
        numbers = ctypes.c_int64 * len(self.shape)
        tensor = DLTensor(self.address, 2, 0, len(self.shape), 2, 8 * self.dtype.itemsize, 1, numbers(*self.shape), numbers(*self.strides), 0)
        self.lent.append(tensor)
        return make_capsule(ctypes.addressof(tensor), b"dltensor", None)

    def numpy(self):
        values = np.empty(self.shape, self.dtype)
        do("cuMemcpyDtoHAsync_v2", ctypes.c_void_p(values.ctypes.data), ctypes.c_uint64(self.address), ctypes.c_size_t(values.nbytes), None)
        return values


class Tensor(Array):
    """What of torch's the package uses."""

    requires_grad = False
    device = types.SimpleNamespace(type="cuda", index=0)
    ndim = property(lambda self: len(self.shape))

    def data_ptr(self):
        return self.address

    def stride(self):
        return self.strides


def empty(shape, dtype, device):
    assert device is Tensor.device
    return Tensor(np.full(shape, np.nan, dtype))


def stand_for_torch():
    cuda = types.SimpleNamespace(current_stream=lambda device: types.SimpleNamespace(cuda_stream=STREAM.value))
    sys.modules["torch"] = types.SimpleNamespace(Tensor=Tensor, cuda=cuda, empty=empty, float16=np.float16, float32=np.float32,
                                                 is_grad_enabled=lambda: True)


def refused(kind, pattern, *arguments, **named):
    try:
        kernel(*arguments, **named)
    except kind as error:
        assert re.search(pattern, str(error)), error
        return
    raise AssertionError(f"{pattern}: nothing was refused")


text = """func.func @two(%q: tensor<?x2x?x16xf16>, %k: tensor<?x2x?x16xf16>, %v: tensor<?x2x?x16xf16>) -> (tensor<?x2x?x16xf16>, tensor<?x2x?xf32>) {
  %out, %lse = attn.sdpa %q, %k, %v scale 0.25 where causal(top_left) returning(out, lse) : (tensor<?x2x?x16xf16>, tensor<?x2x?x16xf16>, tensor<?x2x?x16xf16>) -> (tensor<?x2x?x16xf16>, tensor<?x2x?xf32>)
  return %out, %lse : tensor<?x2x?x16xf16>, tensor<?x2x?xf32>
}
"""
kernel = attn.compile(text, target=TARGET)
rng = np.random.default_rng(1)
q, k, v = (rng.standard_normal((1, 2, n, 16)).astype(np.float16) for n in (5, 9, 9))
scores = np.where(np.tri(5, 9), np.einsum("bhqd,bhkd->bhqk", q.astype(float), k.astype(float)) / 4, -np.inf)
weights = np.exp(scores - scores.max(-1, keepdims=True))
expected = np.einsum("bhqk,bhkd->bhqd", weights / weights.sum(-1, keepdims=True), v.astype(float))


def check(out, lse):
    assert np.abs(out - expected).max() < 4e-3 and np.abs(lse - np.log(np.exp(scores).sum(-1))).max() < 1e-3


# The processor's memory, copied by the runtime.
check(*kernel(q, k, v))
# DLPack.
arrays = [Array(x) for x in (q, k, v)]
results = Array(np.full((1, 2, 5, 16), np.nan, np.float16)), Array(np.full((1, 2, 5), np.nan, np.float32))
assert kernel(*arrays, out=results) is results
check(*(r.numpy() for r in results))
# Heads behind tokens, and an argument that lies with the processor.
swapped = Array(np.ascontiguousarray(q.transpose(0, 2, 1, 3)), None)
swapped.shape, swapped.strides = q.shape, (160, 16, 32, 1)
results = Array(np.full((1, 2, 5, 16), np.nan, np.float16)), Array(np.full((1, 2, 5), np.nan, np.float32))
kernel(swapped, k, arrays[2], out=results)
check(*(r.numpy() for r in results))
refused(TypeError, "out: expected 2 arrays for results: only torch's", *arrays)
refused(TypeError, r"out: expected 2 arrays \(out, lse\), but got 1", *arrays, out=results[0])
refused(TypeError, "v: expected f16, but got f32", *arrays[:2], Array(v.astype(np.float32)))
refused(ValueError, r"k: expected k: f16\[.*\], but got shape \(9, 16\)", arrays[0], Array(k[0, 0]), arrays[2])
refused(ValueError, "out: shares memory", *arrays, out=(arrays[0], results[1]))
refused(ValueError, "v.*; expected v: .*, but got shape", *arrays[:2], Array(v[:, :, :4]), out=results)
# torch.
stand_for_torch()
tensors = [Tensor(x) for x in (q, k, v)]
out = kernel(*tensors)
assert type(out.out) is Tensor
check(out.out.numpy(), out.lse.numpy())
check(*(r.numpy() for r in kernel(q=tensors[0], k=tensors[1], v=tensors[2])))
tensors[1].requires_grad = True
refused(TypeError, "k: requires gradients", *tensors)
# A kernel of the processor alone.
kernel = attn.compile(text)
Array.stream = None
refused(ValueError, "q: is in the memory of the device", *arrays)
del sys.modules["torch"]
# What it says of itself.
assert "blocks of 4 warps" in attn.compile(text, target=TARGET).explain(q2=64)
