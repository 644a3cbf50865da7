# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arrays that a traced function reads: `table[h, i - j]`.

A function is run in a copy whose names for arrays, of its closure or module,
stand for captured tensors; so do those of the functions that it calls. Each
becomes an argument of the kernel, which the call passes by itself, or with
`attn.constant` a constant of the kernel.
"""
import builtins
import traceback
import types

import numpy as np

from . import _call
from ._call import Error
from ._trace import Scalar, Stack, lift, refuse, substitute, to_index
from ._types import DType

_KINDS = {"f16": "float", "bf16": "float", "f32": "float", "f64": "float", "i1": "bool", "i32": "index", "i64": "index"}
_LIBRARIES = {"attn", "numpy", "torch", "jax", "math", "functools", "itertools", "operator"}


def element_type(array):
    """f32 and the like, of an array; an error for what kernels do not take."""
    name = _call._spelled(array.dtype)
    if name not in _KINDS:
        refuse(f"captured arrays have elements of {', '.join(_KINDS)}, but this one has {name}")
    return name


class Captured:
    """Stands for an array in a traced function."""

    def __init__(self, array, name, is_constant=False):
        self.array, self.name, self.is_constant = array, name, is_constant
        self.dtype, self.shape, self.ndim = DType(element_type(array)), tuple(array.shape), len(array.shape)
        if 0 in self.shape:
            refuse(f"{name} has no elements to read")

    @property
    def type(self):
        """The tensor's type. Sizes of arrays are part of the kernel; a tensor of a traced function may have names for them."""
        return f"tensor<{''.join('?x' if isinstance(s, str) else f'{s}x' for s in self.shape)}{self.dtype}>"

    def __len__(self):
        return len(self.array)

    def __getitem__(self, indices):
        indices = indices if isinstance(indices, tuple) else (indices,)
        if len(indices) != self.ndim:
            refuse(f"{self.name} has {self.ndim} dimensions, but is read with {len(indices)} indices")
        if any(isinstance(i, slice) or i is None or i is Ellipsis for i in indices):
            refuse(f"{self.name} is read one element at a time, so slices and ... have no traced form")
        at = [self._from_front(lift(i), size) for i, size in zip(indices, self.shape)]
        return Scalar(_KINDS[self.dtype], "element", tuple(at), self)

    def _from_front(self, index, size):
        if isinstance(size, str):
            if index.op == "constant" and index.detail < 0:
                refuse(f"{self.name} is read from the end of a dimension whose size, {size}, is not known")
            return to_index(index)
        if index.op == "constant" and -size <= index.detail < 0:
            return lift(index.detail + size)
        return to_index(index)

    def as_scalar(self):
        if self.ndim:
            refuse(f"{self.name} has {self.ndim} dimensions; read one element with [...]")
        return self[()]

    def __repr__(self):  # part of a Scalar's key
        return f"captured {self.name} {self.type}"


def _forward(name):
    def operator(self, *others):
        return getattr(self.as_scalar(), name)(*others)

    return operator


for _name in ("add radd sub rsub mul rmul truediv rtruediv floordiv rfloordiv mod rmod pow rpow neg pos abs lt le gt ge eq ne "
              "and or xor rand ror rxor invert").split():
    setattr(Captured, f"__{_name}__", _forward(f"__{_name}__"))


class Explicit:
    """What `attn.array` and `attn.constant` return."""

    def __init__(self, array, is_constant):
        self.array, self.is_constant = array, is_constant

    def __getitem__(self, indices):
        if not Captures.active:
            return self.array[indices]
        return Captures.active[-1].capture(self.array, "array", self.is_constant)[indices]


def _explicit(x, is_constant):
    x = x.array if isinstance(x, Captured) else x  # inside a function that names it
    return Explicit(x if hasattr(x, "dtype") else np.asarray(x), is_constant)


def array(x):
    """An array that a traced function reads although it does not name it, say
    as an element of a list. It is an argument of the kernel."""
    return _explicit(x, False)


def constant(x):
    """As `array`, but its values are part of the compiled kernel."""
    return _explicit(x, True)


def is_array(value):
    others = (type, types.ModuleType, np.generic, Scalar, Captured)
    return hasattr(value, "dtype") and hasattr(value, "shape") and not isinstance(value, others)


def call_traced(function, inputs):
    """What `function` answers for traced inputs."""
    with Captures() as captures:
        try:
            return captures.rewrite(function)(*inputs) if isinstance(function, types.FunctionType) else function(*inputs)
        except IndexError as error:  # NumPy's, for an array that is none of the function's names
            last = traceback.extract_tb(error.__traceback__)[-1]
            raise Error(f"{last.filename}:{last.lineno}: {error}; arrays that a function does not name itself are read "
                        "by attn.array(x)[...]") from None


class Captures:
    """The arrays of one traced program, each once, under names of its own."""

    active = Stack()

    def __init__(self):
        self.found = {}
        self.names = set()
        self.functions = {}

    def __enter__(self):
        Captures.active.append(self)
        return self

    def __exit__(self, *_):
        Captures.active.pop()

    def capture(self, value, name, is_constant=False):
        at = id(value), is_constant
        if at not in self.found:
            unique, n = name, 0
            while unique in self.names:
                n += 1
                unique = f"{name}_{n}"
            self.names.add(unique)
            self.found[at] = Captured(value, unique, is_constant)
        return self.found[at]

    def _seen(self, name, value):
        """What the traced function sees for a name."""
        if isinstance(value, Explicit):
            return self.capture(value.array, name, value.is_constant)
        if is_array(value):
            return self.capture(value, name)
        if isinstance(value, types.FunctionType) and (value.__module__ or "").split(".")[0] not in _LIBRARIES:
            return self.rewrite(value)
        other = substitute(name, value)
        return value if other is None else other

    def rewrite(self, function):
        """A copy of `function` in which arrays are captured tensors."""
        if id(function) in self.functions:
            return self.functions[id(function)][1]
        scope = dict(function.__globals__)
        code = function.__code__
        copy = types.FunctionType(code, scope, function.__name__, function.__defaults__, self._cells(function))
        copy.__kwdefaults__ = function.__kwdefaults__
        self.functions[id(function)] = function, copy
        for name in _names_of(code):
            if name in scope:
                scope[name] = self._seen(name, scope[name])
            elif hasattr(builtins, name) and substitute(name, getattr(builtins, name)):
                scope[name] = substitute(name, getattr(builtins, name))
        if copy.__closure__:
            for name, cell, old in zip(code.co_freevars, copy.__closure__, function.__closure__):
                try:
                    cell.cell_contents = self._seen(name, old.cell_contents)
                except ValueError:
                    pass  # a name without a value yet
        if function.__defaults__:
            names = code.co_varnames[:code.co_argcount][-len(function.__defaults__):]
            copy.__defaults__ = tuple(self._seen(n, v) for n, v in zip(names, function.__defaults__))
        return copy

    @staticmethod
    def _cells(function):
        return tuple(types.CellType() for _ in function.__closure__) if function.__closure__ else None


def _names_of(code):
    """The global names that a function and those inside of it use."""
    names = dict.fromkeys(code.co_names)
    for inner in code.co_consts:
        if isinstance(inner, types.CodeType):
            names.update(dict.fromkeys(_names_of(inner)))
    return names
