# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Types of tensors of a traced function: of their elements, and sizes as text.

A size is a number, or text: the name of what a call chooses, or what is
computed from such ("past+new", "2*n", "s-1")."""
import math
import numbers
import operator

import numpy as np

from ._call import numpy_dtype
from ._trace import refuse

BITS = {"f16": 16, "bf16": 16, "f32": 32, "f64": 64, "i1": 1, "i32": 32, "i64": 64}
_NUMPY = {"float16": "f16", "bfloat16": "bf16", "float32": "f32", "float64": "f64", "float": "f64", "bool": "i1", "int32": "i32",
          "int64": "i64", "int": "i64"}


def is_whole(number):
    """Whether it is an integer of Python or NumPy; True is none."""
    return isinstance(number, numbers.Integral) and not isinstance(number, bool)


# --- elements ---

def known_type(dtype):
    """f32 of attn.f32, np.float32, torch.float32, "float32"; None of what is no type."""
    if isinstance(dtype, ElementType):
        return dtype.name
    name = getattr(dtype, "__name__", None) or getattr(dtype, "name", None) or str(dtype)
    name = str(name).removeprefix("torch.").removesuffix("_")
    return _NUMPY.get(name, name if name in BITS else None)


class DType(str):
    """The name of a type of elements. It is the same as what NumPy and torch call that type. Each has a class of its own, whose `dtype`
    np.finfo reads."""

    __slots__ = ()
    __hash__ = str.__hash__

    def __new__(cls, name):
        return super().__new__(_DTYPES.get(name, cls), name)

    def __reduce__(self):
        return DType, (str(self),)

    def __eq__(self, other):
        return str.__eq__(self, other) is True or known_type(other) == str(self)

    def __ne__(self, other):
        return not self == other


class _NumPyType:
    """NumPy's type; bf16 needs the package ml_dtypes."""

    def __get__(self, made, kind=None):
        return numpy_dtype((made or kind).name)


_DTYPES = {name: type("DType", (DType,), {"__slots__": (), "name": name, "dtype": _NumPyType()}) for name in BITS}


class ElementType:
    """`attn.f32["n", 64]` is a type of tensors; `attn.f32[()]` is one number."""

    dtype = _NumPyType()

    def __init__(self, name):
        self.name = name

    def __getitem__(self, shape):
        return TensorType(self.name, shape if isinstance(shape, tuple) else (shape,))

    def __repr__(self):
        return f"attn.{self.name}"


class TensorType:
    """An element type and sizes: numbers, or names of what a call chooses."""

    def __init__(self, dtype, shape):
        self.dtype, self.shape = DType(dtype), tuple(map(_size, shape))

    def __str__(self):
        return f"tensor<{''.join('?x' if isinstance(s, str) else f'{s}x' for s in self.shape)}{self.dtype}>"


def _size(size):
    if is_whole(size) and size >= 0:
        return operator.index(size)
    if not isinstance(size, str) or not size:
        raise TypeError(f"sizes are numbers or names, but got {size!r}")
    return Size(size)


# --- sizes ---

def plus(size, number):
    """The size `number` above another."""
    counts, more = terms(size)
    return _sum(counts, more + number)


def total(sizes):
    """The size of what stands one behind the other."""
    number, names = sum(size for size in sizes if isinstance(size, int)), "+".join(size for size in sizes if isinstance(size, str))
    return plus(names, number) if names else number


def terms(size):
    """How often each name or product of a sum of sizes is added, and the number beside them: past+new-1 is {past: 1, new: 1} and -1."""
    if isinstance(size, int):
        return {}, size
    parts, depth = [""], 0
    for letter in str(size):
        depth += (letter == "(") - (letter == ")")
        if letter in "+-" and not depth:
            parts.append("")
        parts[-1] += letter
    counts, number = {}, 0
    for part in parts:
        name = part.lstrip("+-")
        sign = -1 if part[:1] == "-" else 1
        if name.isdigit():
            number += sign * int(name)
        elif name:
            counts[name] = counts.get(name, 0) + sign
    return {name: count for name, count in counts.items() if count}, number


def difference(size, other):
    """The size that is left of one without another."""
    (counts, number), (less, taken) = terms(size), terms(other)
    for name, count in less.items():
        counts[name] = counts.get(name, 0) - count
    return _sum(counts, number - taken)


def _sum(counts, number):
    """The size with these terms, a number where there are none."""
    more, fewer = ([name for name, count in counts.items() for _ in range(sign * count)] for sign in (1, -1))
    if not more and not fewer:
        return number
    text = "+".join(more) if more else str(number)
    return text + "".join(f"-{name}" for name in fewer) + (f"{number:+d}" if more and number else "")


def factors(size):
    """The number and the sorted names whose product a size is: 4*n is 4 and [n]."""
    if isinstance(size, int):
        return size, []
    size = str(size)
    parts, depth = [""], 0
    for letter in size:
        depth += (letter == "(") - (letter == ")")
        if letter in "+-/" and not depth:
            return 1, [size]
        if letter == "*" and not depth:
            parts.append("")
        else:
            parts[-1] += letter
    parts = [part[1:-1] if part[0] == "(" else part for part in parts]
    return math.prod(int(part) for part in parts if part.isdigit()), sorted(part for part in parts if not part.isdigit())


def product(sizes):
    """The size that sizes have together."""
    found = [factors(size) for size in sizes]
    number, names = math.prod(n for n, _ in found), sorted(name for _, names in found for name in names)
    if not number or not names:
        return number
    return "*".join([str(number)] * (number != 1) + [name if name.isidentifier() or len(names) + (number != 1) == 1 else f"({name})"
                                                     for name in names])


def quotient(size, by):
    """The size whose product with `by` is `size`, if it is one; None otherwise."""
    (number, names), (other, divided) = factors(size), factors(by)
    names = list(names)
    if not other or number % other:
        return None
    for name in divided:
        if name not in names:
            return None
        names.remove(name)
    return product([number // other, *names])


class Size(str):
    """A size that a call chooses. Products, sums and differences with others are sizes, too; it is no number, and refuses what needs one."""

    __slots__ = ()
    __hash__ = str.__hash__

    def __array_ufunc__(self, ufunc, method, *inputs, **_):
        if ufunc in (np.multiply, np.add) and is_whole(inputs[0]):  # NumPy's integers at the left
            return self * inputs[0] if ufunc is np.multiply else int(inputs[0]) + self
        return _refuse_number(self, ufunc.__name__)


def _refuse_number(size, what):
    refuse(f"{what}: a size that a call chooses, {str(size)!r}, is no number yet; n * m and n + 1 are sizes, x.reshape(-1, 2) divides "
           "one, x.mean(axis) divides by one, and an argument s: attn.f32[()] is a number that a call gives")


def _refused(what):
    def method(self, *others):
        is_ours = all(isinstance(other, (numbers.Number, Size)) for other in others)  # not "%s" % size
        return _refuse_number(self, what) if is_ours else NotImplemented

    return method


def _joined(name, join, swapped=False):
    def method(self, other):
        if type(other) is str and name == "__add__":  # a text that names the size
            return other + str(self) if swapped else str(self) + other
        whole = int(other) if is_whole(other) else other if isinstance(other, Size) else None
        made = whole if whole is None else join(whole, self) if swapped else join(self, whole)
        if made is None:
            return _refused(_SIGNS[name])(self, other)
        return Size(made) if isinstance(made, str) else made

    return method


def _is_negative(size):
    return is_whole(size) and size < 0


def _times(a, b):
    return None if _is_negative(a) or _is_negative(b) else product([a, b])


def _divided(a, b):
    return None if _is_negative(a) or _is_negative(b) else quotient(a, b)


def _install():
    for name, join in (("__mul__", _times), ("__add__", lambda a, b: total([a, b])), ("__sub__", difference),
                       ("__floordiv__", _divided)):
        setattr(Size, name, _joined(name, join))
        setattr(Size, f"__r{name[2:]}", _joined(name, join, True))
    for name, sign in (("truediv", "/"), ("mod", "%"), ("pow", "**")):
        setattr(Size, f"__{name}__", _refused(sign))
        setattr(Size, f"__r{name}__", _refused(sign))
    for name, sign in (("divmod", "divmod"), ("neg", "-"), ("pos", "+"), ("abs", "abs"), ("index", "range"), ("int", "int"), ("float", "float"),
                       ("lt", "<"), ("le", "<="), ("gt", ">"), ("ge", ">=")):
        setattr(Size, f"__{name}__", _refused(sign))


_SIGNS = {"__mul__": "*", "__add__": "+", "__sub__": "-", "__floordiv__": "//"}
_install()
