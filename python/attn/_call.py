# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Calls compiled kernels: arrays in, arrays out, no copy in either direction.

A shared library of kernels says itself what they take (`NAME_info`, JSON) and
calls them with DLPack tensors (attn-rt/dlpack.h). Arrays lend their memory
through `__dlpack__`; those that cannot (bf16 of ml_dtypes, read-only arrays,
objects with the buffer protocol alone) through NumPy's array interface. This file needs the standard library and NumPy, and nothing of the
package: `attn-opt --emit=python` ships it with a kernel.
"""
import collections
import ctypes
import functools
import json
import keyword
import math
import operator
import os
import re
import sys
import weakref

import numpy as np


class Error(Exception):
    """What the compiler or a kernel refuses, in its own words."""


# The number of attn_rt_dtype, and what DLPack calls it; as in
# include/attn-rt/elements.inc.
_DType = collections.namedtuple("_DType", "number dlpack bits")
_DTYPES = {
    "f32": _DType(1, 2, 32),
    "f64": _DType(2, 2, 64),
    "f16": _DType(3, 2, 16),
    "bf16": _DType(4, 4, 16),
    "i1": _DType(5, 6, 8),
    "i32": _DType(6, 0, 32),
    "i64": _DType(7, 0, 64),
}
_NUMPY = {"f32": np.float32, "f64": np.float64, "f16": np.float16, "i1": np.bool_, "i32": np.int32, "i64": np.int64}
# What people call the types: in NumPy, and in other libraries' texts.
_SPELLED = {"float32": "f32", "float64": "f64", "float16": "f16", "bfloat16": "bf16", "bool": "i1", "int32": "i32", "int64": "i64"}


class _DLTensor(ctypes.Structure):
    """attn_rt_dltensor."""

    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


class _Port(ctypes.Structure):
    """attn_rt_dlpack_port."""

    _fields_ = [("dtype", ctypes.c_int32), ("rank", ctypes.c_int32)]


class _Kernel(ctypes.Structure):
    """attn_rt_dlpack_kernel."""

    _fields_ = [
        ("run", ctypes.c_void_p),
        ("num_inputs", ctypes.c_int32),
        ("num_outputs", ctypes.c_int32),
        ("ports", ctypes.POINTER(_Port)),
    ]


_PYTHON_API = [("PyList_GetItem", ctypes.pythonapi.PyList_GetItem), ("PyCapsule_GetPointer", ctypes.pythonapi.PyCapsule_GetPointer),
               ("PyEval_SaveThread", ctypes.pythonapi.PyEval_SaveThread),
               ("PyEval_RestoreThread", ctypes.pythonapi.PyEval_RestoreThread)]


class _CapsuleKernel(ctypes.Structure):
    """attn_rt_capsule_kernel."""

    _fields_ = [("kernel", _Kernel)] + [(name, ctypes.c_void_p) for name, _ in _PYTHON_API]


_object = ctypes.py_object
_shape_of, _requires_grad = operator.attrgetter("shape"), operator.attrgetter("requires_grad")

# attn_rt_run_dlpack returns _REASONS * port + reason for what it refuses.
_OVERLAP, _REASONS = 4, 8


def size_of(size, sizes):
    """A number, a name, or what is computed of such: "past+new", "(t+1)/2", "max(s-4,0)"."""
    if not isinstance(size, str):
        return size
    if size in sizes:
        return sizes[size]
    found = eval(_arithmetic(size), {"__builtins__": {}, "sizes": sizes, "max": max, "min": min})
    # One below 0 is the kernel's to refuse; torch.compile has symbols.
    return max(0, found) if isinstance(found, int) else found


@functools.lru_cache(maxsize=None)
def _arithmetic(size):
    if not re.fullmatch(r"[\w+\-*/(),]+", size):
        raise ValueError(f"expects a size of names, numbers, + - * /, max and min, but got '{size}'")
    looked_up = re.sub(r"[A-Za-z_]\w*\b(?!\()", r"sizes['\g<0>']", size)  # a name may be a word of Python
    return compile(looked_up.replace("/", "//"), "<size>", "eval")


@functools.lru_cache(maxsize=None)
def results_type(name, fields):
    """A named tuple that can be pickled, although no module has its name."""
    made = collections.namedtuple(name, fields, rename=True)
    made.__reduce__ = lambda self: (_again, (name, fields, tuple(self)))
    return made


def _again(name, fields, values):
    return results_type(name, fields)(*values)


class Argument(collections.namedtuple("Argument", "name dtype shape optional overlaps", defaults=[False, ()])):
    """An argument or a result of a kernel.

    `dtype` is one of f16, bf16, f32, f64, i1, i32, i64. `shape` has a number
    per dimension, or the name of a size that the call chooses: equal names are
    equal sizes. An `optional` argument may be left out, or None: it is 0. A
    result may be the memory of the arguments that it `overlaps`."""

    __slots__ = ()

    def __str__(self):
        return f"{self.name}: {self.dtype}[{', '.join(map(str, self.shape))}]"


def numpy_dtype(dtype):
    """NumPy's type for `dtype`; bf16 needs the package ml_dtypes."""
    if dtype in _NUMPY:
        return np.dtype(_NUMPY[dtype])
    try:
        import ml_dtypes
    except ImportError:
        raise ImportError("NumPy has no bf16: install the package ml_dtypes, or pass torch tensors") from None
    return np.dtype(ml_dtypes.bfloat16)


def _spelled(dtype):
    name = str(dtype).rsplit(".", 1)[-1]
    return _SPELLED.get(name, name)


class _View:
    """An array's memory: as NumPy sees it, by the name of its elements' type.

    bf16, which NumPy does not have, is there as integers of 16 bits."""

    def __init__(self, array, dtype):
        self.array, self.dtype = array, dtype

    def lend(self):
        """A DLPack tensor, which lives as long as what is returned."""
        array, dtype = self.array, _DTYPES[self.dtype]
        numbers = ctypes.c_int64 * max(array.ndim, 1)
        tensor = _DLTensor(
            array.__array_interface__["data"][0], 1, 0, array.ndim, dtype.dlpack, dtype.bits, 1,
            numbers(*array.shape), numbers(*(s // array.itemsize for s in array.strides)), 0)
        tensor.owner = array
        return tensor


class _DeviceView:
    """A tensor that lies on a GPU: torch's, or of whatever has `__dlpack__`, by DLPack's own description."""

    def __init__(self, array, name):
        self.array = array
        if _torch_of(type(array)):
            _refuse_gradients(array, name)
            self.dtype, self.shape = _spelled(array.dtype), tuple(array.shape)
            self._capsule = None
            return
        # The stream of the call: the default one, where others finish what they do to the array first.
        self._capsule = array.__dlpack__(stream=1)
        self._tensor = ctypes.cast(_capsule_pointer(self._capsule, b"dltensor"), ctypes.POINTER(_DLTensor)).contents
        kinds = {(d.dlpack, d.bits): name for name, d in _DTYPES.items()}
        self.dtype = kinds.get((self._tensor.code, self._tensor.bits), f"type {self._tensor.code} of {self._tensor.bits} bits")
        self.shape = tuple(self._tensor.shape[:self._tensor.ndim])

    def lend(self):
        if self._capsule:
            return self._tensor
        tensor, dtype = self.array, _DTYPES[self.dtype]
        numbers = ctypes.c_int64 * max(tensor.ndim, 1)
        lent = _DLTensor(tensor.data_ptr(), _CUDA, tensor.device.index or 0, tensor.ndim, dtype.dlpack, dtype.bits, 1,
                         numbers(*tensor.shape), numbers(*tensor.stride()), 0)
        lent.owner = tensor
        return lent


def _is_same_place(a, b):
    """Whether two DLPack tensors are one."""
    def places(tensor):  # without strides, rows lie side by side
        return tensor.data, tensor.shape[:tensor.ndim], tensor.strides[:tensor.ndim] if tensor.strides else None

    return places(a) == places(b)


def _may_meet(a, b):
    """Whether two arrays may share memory, by a short look at them."""
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        return np.may_share_memory(a, b)
    if _torch_of(type(a)) and _torch_of(type(b)):
        return a.untyped_storage().data_ptr() == b.untyped_storage().data_ptr()
    return True


_capsule_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_capsule_pointer.restype, _capsule_pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
_CUDA, _CUDA_MANAGED = 2, 13


def _is_on_gpu(array):
    if _torch_of(type(array)):
        return array.device.type == "cuda"
    return not isinstance(array, np.ndarray) and hasattr(array, "__dlpack_device__") and int(array.__dlpack_device__()[0]) in (_CUDA, _CUDA_MANAGED)


def _torch_of(kind):
    """The module torch, if `kind` is a type of its tensors."""
    torch = sys.modules.get("torch")
    return torch if torch is not None and issubclass(kind, torch.Tensor) else None


def _refuse_gradients(tensor, name):
    if tensor.requires_grad and sys.modules["torch"].is_grad_enabled():
        raise TypeError(
            f"{name}: requires gradients, which a kernel by itself does not record; call it by attn.torch.operator(kernel), or pass "
            f"{name}.detach()")


def _refuse_device(array, name):
    """DLPack's devices 1, 3 and 11 have the processor's memory."""
    if _torch_of(type(array)):
        device, is_ours = array.device, array.device.type == "cpu"
    else:
        kind, number = array.__dlpack_device__()
        device, is_ours = getattr(array, "device", f"{int(kind)}:{number}"), int(kind) in (1, 3, 11)
    if not is_ours:
        raise ValueError(f"{name}: is in the memory of the device {device}, and the kernel runs on the processor")


def _view_torch(torch, tensor, name):
    _refuse_gradients(tensor, name)
    _refuse_device(tensor, name)
    tensor = tensor.detach()
    if tensor.layout != torch.strided:
        raise TypeError(f"{name}: expected a dense tensor, but got one with layout {tensor.layout}")
    if tensor.dtype == torch.bfloat16:
        return _View(tensor.view(torch.int16).numpy(), "bf16")
    return _view_numpy(tensor.numpy())


def _view_numpy(array):
    dtype = _spelled(array.dtype)
    return _View(array.view(np.uint16) if dtype == "bf16" else array, dtype)


_NUMBERS = (bool, int, float)


def _number(number, port):
    """A number of Python as an array of the port's type; read-only, since nobody would see a result in it."""
    kind, is_float = type(number), port.dtype[0] != "i"
    if kind is not bool if port.dtype == "i1" else kind is float and not is_float:
        raise TypeError(f"{port.name}: expected {port.dtype}, but got {kind.__name__}")
    try:
        with np.errstate(over="ignore"):
            array = np.array(float(number) if is_float else number).astype(numpy_dtype(port.dtype))
        fits = np.isinf(array) == np.isinf(float(number)) if is_float else array == number
    except OverflowError:
        fits = False
    if not fits:
        raise ValueError(f"{port.name}: expected a number that {port.dtype} has, but got {number}")
    array.flags.writeable = False
    return array


def _view(array, port):
    """The memory of `array`, or an error that names the argument."""
    kind = type(array)
    if kind in _NUMBERS and not port.shape:
        return _view_numpy(_number(array, port))
    if isinstance(array, np.ndarray):
        return _view_numpy(array)
    if torch := _torch_of(kind):
        return _view_torch(torch, array, port.name)
    if hasattr(array, "__dlpack_device__"):
        _refuse_device(array, port.name)
    try:
        if hasattr(array, "__array_interface__"):
            return _view_numpy(np.asarray(array))
        if hasattr(array, "__dlpack__"):
            return _view_numpy(np.from_dlpack(array))
        return _view_numpy(np.asarray(memoryview(array)))
    except (TypeError, ValueError, BufferError, RuntimeError):
        raise TypeError(f"{port.name}: expected an array, {port}, but got {kind.__name__}") from None


def _check(view, port, writes):
    """Says what is wrong with an array, by the name of the argument."""
    array = view.array
    if not array.dtype.isnative:
        raise TypeError(
            f"{port.name}: its bytes are in the order of other machines ({array.dtype.str}); "
            f"pass {port.name}.astype({array.dtype.newbyteorder('=').name!r})")
    if view.dtype != port.dtype:
        raise TypeError(f"{port.name}: expected {port.dtype}, but got {view.dtype}")
    if array.ndim != len(port.shape):
        raise ValueError(f"{port.name}: expected {port}, but got shape {array.shape}")
    if any(stride % array.itemsize for stride in array.strides):
        raise ValueError(
            f"{port.name}: its strides {array.strides} are no multiples of the {array.itemsize} bytes of an element")
    if writes and not array.flags.writeable:
        raise ValueError(f"{port.name}: is read-only, and the kernel writes its result there")


def _export_bf16(array):
    if array.dtype != numpy_dtype("bf16"):
        raise BufferError
    return array.view(np.uint16).__dlpack__()


def _exporter(kind, port):
    """The fast way from an array of this type to a capsule, or None."""
    if issubclass(kind, np.ndarray):
        return _export_bf16 if port.dtype == "bf16" else np.ndarray.__dlpack__
    if torch := _torch_of(kind):
        return torch.utils.dlpack.to_dlpack
    return getattr(kind, "__dlpack__", None)


# Bytes of results that are worth keeping, and where they begin: a line of the cache.
_LARGE, _LINE = 1 << 18, 64


def _thread_count(threads):
    """Any integer, such as NumPy's; of more than 31 bits, as many as they hold."""
    try:
        return max(-1, min(operator.index(threads), 2**31 - 1))
    except TypeError:
        raise TypeError(f"threads: expected an int, but got {type(threads).__name__}") from None


class _Results:
    """Memory for results. The system clears new pages, which takes it longer than a kernel to fill them, so memory of large
    results that the caller has let go serves later calls. As much is kept as one call needs."""

    def __init__(self):
        self._free, self._limit = {}, 0

    @staticmethod
    def _room(size):
        """Up to an eighth more, so that a cache that grows finds memory of its former lengths."""
        unit = 1 << max(size.bit_length() - 4, 0)
        return -(-size // unit) * unit + _LINE if size >= _LARGE else 0

    def expect(self, sizes):
        """A call has results of so many bytes."""
        self._limit = max(self._limit, sum(map(self._room, sizes)))

    def _take_back(self, memory):
        self._free[id(memory)] = memory
        while sum(m.size for m in list(self._free.values())) > self._limit:
            self._free.pop(next(iter(list(self._free)), None), None)

    def lend(self, size):
        """A buffer of `size` bytes; it comes back when nobody looks at it any more."""
        room = self._room(size)
        kept = (self._free.pop(key, None) for key, m in list(self._free.items())[::-1] if m.size == room)
        memory = next(filter(lambda m: m is not None, kept), None)
        if memory is None:
            memory = np.empty(room, np.uint8)
        lent = (ctypes.c_char * size).from_buffer(memory, -memory.ctypes.data % _LINE)
        weakref.finalize(lent, self._take_back, memory).atexit = False
        return lent

    def allocator(self, kind, dtype):
        """What makes a result of a shape beside arguments of this type."""
        if torch := _torch_of(kind):
            element = getattr(torch, {v: k for k, v in _SPELLED.items()}[dtype])
            fresh = functools.partial(torch.empty, dtype=element)
            wrap = lambda shape, buffer: torch.frombuffer(buffer, dtype=element).view(shape)
        else:
            element = numpy_dtype(dtype)
            fresh = functools.partial(np.empty, dtype=element)
            wrap = lambda shape, buffer: np.ndarray(shape, element, buffer)
        bits = _DTYPES[dtype].bits

        def make(shape):
            size = math.prod(shape) * bits // 8
            return wrap(shape, self.lend(size)) if size >= _LARGE else fresh(shape)

        return make


class Kernel:
    """A compiled function. Call it with arrays, in the order of its arguments
    or by their names:

        out = kernel(q, k, v)
        kernel(q, k, v, out=buffer, threads=2)

    Arrays are NumPy's, torch's, and whatever has `__dlpack__` or the buffer
    protocol; what has no dimensions may be a number of Python. They are read in
    place, with any strides. They are in the processor's memory or, where the target has a GPU (`sm_80`), on a GPU: then
    the kernel runs there, on torch's current stream or the default one, and the
    results are torch's; of other libraries give `out`. Where all are with the
    processor, such a kernel copies them to a GPU, if it runs on one. Results are arrays of the kind of the first argument; several come
    as a named tuple. With `out`, an array or a tuple of them, results are
    written there, and `out` is returned; None in such a tuple is a new array. A
    result with `attn.in_place` may be written to its argument, such as a cache:
    `o, keys = step(q, k, keys, out=(None, keys))` copies nothing.

    `threads` is how many may work; 0 is all processors of the process. The
    interpreter runs other threads meanwhile, and they may call this kernel.
    A pickled kernel is the name of its library.

    Raises TypeError and ValueError, which name the argument, and Error for
    what the kernel itself finds.
    """

    def __init__(self, library, name=None):
        self.library = os.path.abspath(library)
        self._library = ctypes.CDLL(self.library)  # a bare name would be looked for among the system's
        if name is None:
            name = os.path.splitext(os.path.basename(self.library))[0]
        info = getattr(self._library, name + "_info", None)
        if info is None:
            raise Error(f"{self.library} has no function {name!r} of attn-opt; write Kernel(library, name) with the function's name")
        info.restype = ctypes.c_char_p
        self.info = json.loads(info())
        self.name = self.__name__ = name
        signature = self.info["functions"][name]
        self.arguments = tuple(self._argument(a) for a in signature["arguments"])
        self.results = tuple(self._argument(a) for a in signature["results"])
        self._arity = len(self.arguments)
        self._may_lack = any(a.optional for a in self.arguments)
        self._names = {a.name: i for i, a in enumerate(self.arguments)}
        self._tuple = results_type(name + "_results", tuple(r.name + "_" * keyword.iskeyword(r.name) for r in self.results))
        ports = self.arguments + self.results
        self._ports = (_Port * len(ports))(*(_Port(_DTYPES[p.dtype].number, len(p.shape)) for p in ports))
        self._entry = getattr(self._library, name)
        self._has_gpu = "sm_" in self.info.get("target", "")
        self._kernel = _CapsuleKernel(
            _Kernel(ctypes.cast(self._entry, ctypes.c_void_p), len(self.arguments), len(self.results), self._ports),
            *(ctypes.cast(function, ctypes.c_void_p) for _, function in _PYTHON_API))
        self._address = ctypes.byref(self._kernel)
        self._pointers = ctypes.c_void_p * len(ports)
        self._run = self._library.attn_rt_run_dlpack
        self._run.argtypes = [ctypes.POINTER(_CapsuleKernel), self._pointers, ctypes.c_int32, ctypes.c_int32]
        self._run_capsules = ctypes.PyDLL(self.library).attn_rt_run_capsules
        self._strerror = getattr(self._library, name + "_strerror")
        self._strerror.restype = ctypes.c_char_p
        self._plans = {}
        self._exports = {}
        self._shapes = {}
        self._memory = _Results()

    def __reduce__(self):
        return type(self), (self.library, self.name)

    @staticmethod
    def _argument(port):
        return Argument(port["name"], port["type"], tuple(port["shape"]), port.get("optional", False), tuple(port.get("overlaps", ())))

    def __repr__(self):
        arguments = ", ".join(map(str, self.arguments))
        results = ", ".join(map(str, self.results))
        return f"<attn kernel {self.name}({arguments}) -> {results}>"

    @property
    def mlir(self):
        """The specification, in the language of docs/Spec.md."""
        return self.info["specification"]

    def __call__(self, *arrays, out=None, threads=0, **named):
        if named or len(arrays) != self._arity or self._may_lack:
            arrays = self._bind(arrays, named)
        if threads != 0 or threads.__class__ is not int:
            threads = _thread_count(threads)
        if self._has_gpu and any(map(_is_on_gpu, arrays)):
            return self._call_on_gpu(arrays, out, threads)
        if out is not None:
            return self._call_into(arrays, out, threads)
        export, exports, makers, tensors = self._plans.get(tuple(map(type, arrays))) or self._plan(arrays)
        try:
            sizes = tuple(map(_shape_of, arrays))
            shapes = self._shapes.get(sizes) or self._result_shapes(sizes)
            results = [make(shape) for make, shape in zip(makers, shapes)]
            if tensors and any(map(_requires_grad, arrays)):
                raise TypeError
            if export:
                capsules = list(map(export, (*arrays, *results)))
            else:
                capsules = [export(a) for export, a in zip(exports, (*arrays, *results))]
            status = self._run_capsules(self._address, _object(capsules), threads, 0)
        except (AttributeError, BufferError, TypeError, ValueError, RuntimeError, ctypes.ArgumentError):
            status = 1
        if status:
            results = self._call_slowly(arrays, makers, threads)
        return results[0] if len(results) == 1 else self._tuple(*results)

    # What follows is for calls that are rare or wrong.

    def _bind(self, arrays, named):
        """Arguments by position and by name, in the kernel's order."""
        if len(arrays) > len(self.arguments):
            raise TypeError(f"{self.name} takes {len(self.arguments)} arguments ({', '.join(self._names)}), but got {len(arrays)}")
        bound = list(arrays) + [None] * (len(self.arguments) - len(arrays))
        for name, array in named.items():
            if name not in self._names:
                raise TypeError(f"{self.name} has no argument {name!r}, only {', '.join(self._names)}")
            if self._names[name] < len(arrays):
                raise TypeError(f"{self.name} got {name!r} twice")
            bound[self._names[name]] = array
        missing = [a.name for a in self.arguments[len(arrays):] if a.name not in named and not a.optional]
        if missing:
            raise TypeError(f"{self.name} needs {', '.join(missing)}")
        return tuple(self._filled(bound) if self._may_lack else bound)

    def _filled(self, arrays):
        """Zeros in the place of optional arguments that are left out."""
        sizes = {}
        for port, array in zip(self.arguments, arrays):
            sizes.update(zip(port.shape, getattr(array, "shape", ())))
        return [self._zeros(port, sizes) if array is None and port.optional else array for port, array in zip(self.arguments, arrays)]

    def _zeros(self, port, sizes):
        unknown = [s for s in port.shape if isinstance(s, str) and s not in sizes]
        if unknown:
            raise TypeError(f"{self.name} needs {port.name}, since no other argument has the size {unknown[0]}")
        shape = [sizes[s] if isinstance(s, str) else s for s in port.shape]
        return np.lib.stride_tricks.as_strided(np.zeros(1, numpy_dtype(port.dtype)), shape, [0] * len(shape))

    def _plan(self, arrays):
        """How arrays of these types lend their memory, and what results are."""
        kind = next((kind for kind in map(type, arrays) if kind not in _NUMBERS), np.ndarray)
        makers = [self._memory.allocator(kind, r.dtype) for r in self.results]
        made = _torch_of(kind).Tensor if _torch_of(kind) else np.ndarray
        exports = [_exporter(type(a), p) for a, p in zip(arrays, self.arguments)]
        exports += [_exporter(made, p) for p in self.results]
        export = exports[0] if len(set(exports)) == 1 else None
        tensors = any(map(_torch_of, map(type, arrays)))
        self._plans[tuple(map(type, arrays))] = plan = export, exports, makers, tensors
        return plan

    def _result_shapes(self, shapes):
        """The results' shapes for arguments of `shapes`; a wrong shape is the
        kernel's to refuse, so it is only read here."""
        sizes = {}
        for port, shape in zip(self.arguments, shapes):
            if len(shape) != len(port.shape):
                raise ValueError
            for name, size in zip(port.shape, shape):
                sizes.setdefault(name, size)
        found = tuple(tuple(size_of(s, sizes) for s in r.shape) for r in self.results)
        if len(self._shapes) > 64:
            self._shapes.clear()
        self._shapes[tuple(map(tuple, shapes))] = found
        self._memory.expect(math.prod(shape) * _DTYPES[r.dtype].bits // 8 for r, shape in zip(self.results, found))
        return found

    def _call_slowly(self, arrays, makers, threads):
        views = self._views(arrays, self.arguments, writes=False)
        shapes = self._result_shapes([v.array.shape for v in views])
        results = [make(shape) for make, shape in zip(makers, shapes)]
        self._run_views(views, self._views(results, self.results, writes=True), threads)
        return results

    def _call_into(self, arrays, out, threads):
        results = self._outputs(out)
        if any(result is None for result in results):
            makers = (self._plans.get(tuple(map(type, arrays))) or self._plan(arrays))[2]
            shapes = self._result_shapes([v.array.shape for v in self._views(arrays, self.arguments, writes=False)])
            out = results = self._tuple(*(make(shape) if result is None else result for result, make, shape in zip(results, makers, shapes)))
        everything = (*arrays, *results)
        exports, tensors = self._exports.get(tuple(map(type, everything))) or self._find_exports(everything)
        try:
            if tensors and any(map(_requires_grad, everything)):
                raise TypeError
            capsules = [export(a) for export, a in zip(exports, everything)]
            status = self._run_capsules(self._address, _object(capsules), threads, 1)
            if status > 0 and status % _REASONS == _OVERLAP and self._are_in_place(everything):
                status = self._run_capsules(self._address, _object(capsules), threads, 0)
        except (AttributeError, BufferError, TypeError, ValueError, RuntimeError, ctypes.ArgumentError):
            status = 1
        if status:
            self._run_views(self._views(arrays, self.arguments, writes=False),
                            self._views(results, self.results, writes=True), threads)
        return out

    def _outputs(self, out):
        results = tuple(out) if isinstance(out, (tuple, list)) else (out,)
        if len(results) != len(self.results):
            names = ", ".join(r.name for r in self.results)
            raise TypeError(f"out: expected {len(self.results)} arrays ({names}), but got {len(results)}")
        return results

    def _call_on_gpu(self, arrays, out, threads):
        """Tensors lie on a GPU or with the processor, each as it likes; the kernels run where the former lie."""
        threads = _thread_count(threads)
        views = self._gpu_views(arrays, self.arguments)
        shapes = self._result_shapes([v.shape if isinstance(v, _DeviceView) else v.array.shape for v in views])
        first, checks = next(array for array in arrays if _is_on_gpu(array)), out is not None
        torch = _torch_of(type(first))
        results = [None] * len(self.results) if out is None else self._outputs(out)
        if any(result is None for result in results):
            if not torch:
                raise TypeError(f"out: expected {len(self.results)} arrays for results: only torch's are made on a GPU")
            elements = {v: k for k, v in _SPELLED.items()}
            out = None
            results = [torch.empty(s, dtype=getattr(torch, elements[r.dtype]), device=first.device) if given is None else given
                       for given, r, s in zip(results, self.results, shapes)]
        everything = views + self._gpu_views(results, self.results, writes=True)
        lent = [view.lend() for view in everything]
        stream = torch.cuda.current_stream(first.device).cuda_stream if torch else 0
        status = self._library.attn_rt_run_dlpack_on(self._address, self._pointers(*map(ctypes.addressof, lent)), threads,
                                                     checks and not self._is_in_place(lent), ctypes.c_void_p(stream))
        if status > 0:
            port = (self.arguments + self.results)[status // _REASONS]
            what = "shares memory with another tensor; a result needs memory of its own" if status % _REASONS == _OVERLAP else f"expected {port}"
            raise ValueError(f"{port.name}: {what}")
        if status:
            raise self._error(self._strerror(status).decode(), everything)
        if out is not None:
            return out
        return results[0] if len(results) == 1 else self._tuple(*results)

    @staticmethod
    def _gpu_views(arrays, ports, writes=False):
        views = [_DeviceView(array, port.name) if _is_on_gpu(array) else _view(array, port) for array, port in zip(arrays, ports)]
        for view, port in zip(views, ports):
            if not isinstance(view, _DeviceView):
                _check(view, port, writes)
            elif view.dtype != port.dtype:
                raise TypeError(f"{port.name}: expected {port.dtype}, but got {view.dtype}")
            elif len(view.shape) != len(port.shape):
                raise ValueError(f"{port.name}: expected {port}, but got shape {view.shape}")
        return views

    def _find_exports(self, arrays):
        """How arrays of these types, arguments and results, lend their memory."""
        kinds = tuple(map(type, arrays))
        exports = [_exporter(kind, p) for kind, p in zip(kinds, self.arguments + self.results)]
        self._exports[kinds] = found = exports, any(map(_torch_of, kinds))
        return found

    @staticmethod
    def _views(arrays, ports, writes):
        views = [_view(array, port) for array, port in zip(arrays, ports)]
        for view, port in zip(views, ports):
            _check(view, port, writes)
        return views

    def _run_views(self, views, results, threads):
        everything = views + results
        lent = [view.lend() for view in everything]
        pointers = self._pointers(*map(ctypes.addressof, lent))
        threads = _thread_count(threads)
        status = self._run(self._address, pointers, threads, 1)
        if status > 0 and status % _REASONS == _OVERLAP:
            self._refuse_overlap(everything, lent)
            status = self._run(self._address, pointers, threads, 0)
        if status:
            raise self._error(self._strerror(status).decode(), everything)

    def _is_in_place(self, lent):
        """Whether a result is the memory of an argument that it may be."""
        return any(_is_same_place(lent[self._arity + i], lent[self._names[name]]) for i, r in enumerate(self.results) for name in r.overlaps)

    def _are_in_place(self, arrays):
        """Whether results share memory with nothing but arguments that they are and may be."""
        ports = self.arguments + self.results
        return not any(_may_meet(arrays[i], arrays[j]) for i in range(self._arity, len(arrays)) for j in range(i)
                       if arrays[i] is not arrays[j] or ports[j].name not in ports[i].overlaps)

    def _refuse_overlap(self, views, lent):
        """Ranges of addresses meet; whether elements do, NumPy finds out."""
        ports = self.arguments + self.results
        for i in range(self._arity, len(views)):
            for j in range(i):
                is_allowed = ports[j].name in ports[i].overlaps
                if is_allowed and _is_same_place(lent[i], lent[j]) or not np.shares_memory(views[i].array, views[j].array):
                    continue
                what = "; it may be all of that, in the same order, and nothing else" if is_allowed else "; a result needs memory of its own"
                raise ValueError(f"{ports[i].name}: shares memory with {ports[j].name}{what}")

    def _error(self, text, views):
        """The kernel's text, and what the argument that it names looks like."""
        if text == "workspace: out of memory":
            return MemoryError(f"{self.name}: {text}")
        subject = text.split(":", 1)[0]
        for view, port in zip(views, self.arguments + self.results):
            if port.name == subject:
                shape = view.shape if isinstance(view, _DeviceView) else view.array.shape
                return ValueError(f"{text}; expected {port}, but got shape {shape}")
        if subject == "gpu" and hasattr(self._library, "attn_rt_gpu_why"):
            why = self._library.attn_rt_gpu_why
            why.restype = ctypes.c_char_p
            text += f" ({why().decode()})"
        return Error(f"{self.name}: {text}")
