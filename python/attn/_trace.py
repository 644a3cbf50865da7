# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Traces Python functions over scalars into the language of docs/Spec.md.

A score function or a mask function is called once with symbols; what it does
with them is a graph of values, from which two texts are written: the region of
`score_mod`, and the program of a mask's `predicate`. Values are the same if
their graphs are, commuted operands included, so functions that mean the same
give the same text, and the same kernel from the cache.

Arrays that a function names, of its closure or module, become captured tensors
(_capture.py). What cannot be traced, such as an `if` on a traced value, is an
Error with the function's file and line, and with what to write instead.
"""
import builtins
import hashlib
import math
import numbers
import os
import sys
import threading

import numpy as np

from ._call import Error

_HERE = os.path.dirname(os.path.abspath(__file__))
_NUMPY = os.path.join(os.path.dirname(os.path.abspath(np.__file__)), "")


class Stack(threading.local):
    """What this thread traces, the innermost last."""

    def __init__(self):
        self._list = []

    def __len__(self):
        return len(self._list)

    def __getitem__(self, place):
        return self._list[place]

    def append(self, value):
        self._list.append(value)

    def pop(self):
        return self._list.pop()


def where_in_user_code():
    """FILE:LINE of the innermost frame that is not this package's, nor NumPy's."""
    def is_inner(name):
        path = os.path.abspath(name)
        return os.path.dirname(path) == _HERE or path.startswith(_NUMPY) or name == "<__array_function__ internals>"

    frame = sys._getframe(1)
    while frame and is_inner(frame.f_code.co_filename):
        frame = frame.f_back
    return f"{frame.f_code.co_filename}:{frame.f_lineno}: " if frame else ""


def refuse(message):
    raise Error(where_in_user_code() + message)


# --- values ---


class Scalar:
    """A number of a traced function: an index, a float of the scores' type, or
    a truth value. `op` is an op of MLIR, or input, constant, element."""

    __slots__ = ("kind", "op", "operands", "detail", "key")
    __array_priority__ = 1000

    def __init__(self, kind, op, operands=(), detail=None):
        self.kind, self.op, self.operands, self.detail = kind, op, operands, detail
        text = f"{op}/{kind}/{detail!r}({','.join(o.key for o in operands)})"
        self.key = hashlib.blake2b(text.encode(), digest_size=8).hexdigest()

    # Arithmetic.
    def __add__(self, other):
        return arithmetic("add", self, other)

    def __radd__(self, other):
        return arithmetic("add", other, self)

    def __sub__(self, other):
        return arithmetic("sub", self, other)

    def __rsub__(self, other):
        return arithmetic("sub", other, self)

    def __mul__(self, other):
        return arithmetic("mul", self, other)

    def __rmul__(self, other):
        return arithmetic("mul", other, self)

    def __truediv__(self, other):
        return divide(self, other)

    def __rtruediv__(self, other):
        return divide(other, self)

    def __floordiv__(self, other):
        return floor_divide(self, other)

    def __rfloordiv__(self, other):
        return floor_divide(other, self)

    def __mod__(self, other):
        return self - floor_divide(self, other) * other

    def __rmod__(self, other):
        return other - floor_divide(other, self) * self

    def __pow__(self, other):
        return power(self, other)

    def __rpow__(self, other):
        return power(other, self)

    def __neg__(self):
        return arithmetic("sub", 0, self) if self.kind != "float" else unary("arith.negf", self)

    def __pos__(self):
        return self

    def __abs__(self):
        return absolute(self)

    # Comparisons and truth values.
    def __lt__(self, other):
        return compare("lt", self, other)

    def __le__(self, other):
        return compare("le", self, other)

    def __gt__(self, other):
        return compare("lt", other, self)

    def __ge__(self, other):
        return compare("le", other, self)

    def __eq__(self, other):
        return compare("eq", self, other)

    def __ne__(self, other):
        return compare("ne", self, other)

    def __and__(self, other):
        return logical("and", self, other)

    def __or__(self, other):
        return logical("or", self, other)

    def __xor__(self, other):
        return logical("xor", self, other)

    __rand__, __ror__, __rxor__ = __and__, __or__, __xor__

    def __invert__(self):
        return logical("xor", self, True)

    __hash__ = object.__hash__

    # What a trace cannot follow.
    def __bool__(self):
        refuse("a traced value has no truth value while its function is traced; write & | ~ for and, or, not, "
               "attn.where(condition, a, b) for if, and (a < b) & (b < c) for a < b < c")

    def __int__(self):
        refuse("a traced value is no number of Python yet; indices are integers already")

    def __index__(self):
        refuse("a traced value can index arrays that the function names directly; write attn.array(x)[...] for others")

    def __float__(self):
        refuse("a traced value is no number of Python yet; write attn.exp(x) and the like for functions of math")

    def __iter__(self):
        refuse("a traced value is one number, and has no elements")

    # Functions of NumPy and torch.
    def __array_ufunc__(self, ufunc, method, *inputs, **options):
        if method != "__call__" or options:
            return NotImplemented
        return call_by_name(ufunc.__name__, inputs)

    def __array_function__(self, function, types, inputs, options):
        return NotImplemented if options else call_by_name(function.__name__, inputs)

    @classmethod
    def __torch_function__(cls, function, types, inputs=(), options=None):
        return NotImplemented if options else call_by_name(function.__name__, inputs)


def constant(value):
    if isinstance(value, (bool, np.bool_)):
        return Scalar("bool", "constant", detail=bool(value))
    if isinstance(value, numbers.Integral):
        if not -2**63 <= value < 2**63:
            refuse(f"{value} has more than 64 bits")
        return Scalar("index", "constant", detail=int(value))
    if isinstance(value, numbers.Real):
        return Scalar("float", "constant", detail=float(value))
    return refuse(f"expected a number or a traced value, but got {type(value).__name__}")


def lift(value):
    """A Scalar of what may be one, a number, or an array of one element."""
    if isinstance(value, Scalar):
        return value
    if hasattr(value, "as_scalar"):
        return value.as_scalar()
    return constant(value)


def to_index(x):
    if x.kind == "float":
        refuse("expected an integer, but got a float; write attn.floor only where floats are meant")
    if x.kind == "index":
        return x
    return constant(int(x.detail)) if x.op == "constant" else Scalar("index", "arith.extui", (x,))


def to_float(x):
    if x.kind == "float":
        return x
    if x.op == "constant":
        return constant(float(x.detail))
    return Scalar("float", "arith.uitofp" if x.kind == "bool" else "arith.sitofp", (x,))


def to_bool(x):
    if x.kind == "bool":
        return x
    return compare("ne", x, 0)


def _alike(a, b):
    """Both as floats if one is, and as indices otherwise."""
    a, b = lift(a), lift(b)
    if "float" in (a.kind, b.kind):
        return to_float(a), to_float(b)
    return to_index(a), to_index(b)


_FOLD = {"add": lambda a, b: a + b, "sub": lambda a, b: a - b, "mul": lambda a, b: a * b}


def _ordered(a, b):
    return (a, b) if a.key <= b.key else (b, a)


def arithmetic(name, a, b):
    a, b = _alike(a, b)
    if a.op == b.op == "constant":
        return constant(_FOLD[name](a.detail, b.detail))
    if name != "sub":
        a, b = _ordered(a, b)
    return Scalar(a.kind, f"arith.{name}{'f' if a.kind == 'float' else 'i'}", (a, b))


def divide(a, b):
    a, b = to_float(lift(a)), to_float(lift(b))
    if a.op == b.op == "constant" and b.detail:
        return constant(a.detail / b.detail)
    return Scalar("float", "arith.divf", (a, b))


def floor_divide(a, b):
    a, b = _alike(a, b)
    if a.kind == "float":
        return unary("math.floor", Scalar("float", "arith.divf", (a, b)))
    if b.op == "constant" and b.detail in (0, -1):
        refuse(f"integers are divided by numbers other than 0 and -1, but here by {b.detail}")
    return Scalar("index", "arith.floordivsi", (a, b))


def power(a, b):
    if isinstance(b, numbers.Integral) and 0 <= b <= 4:
        result = constant(1) if lift(a).kind != "float" else constant(1.0)
        for _ in range(b):
            result = arithmetic("mul", result, a) if result.op != "constant" else lift(a)
        return result
    return Scalar("float", "math.powf", (to_float(lift(a)), to_float(lift(b))))


def unary(op, x):
    return Scalar("float", op, (to_float(lift(x)),))


def extreme(name, a, b):
    a, b = _alike(a, b)
    op = f"arith.{name}imumf" if a.kind == "float" else f"arith.{name}si"
    return Scalar(a.kind, op, _ordered(a, b))


def absolute(x):
    x = lift(x)
    if x.kind == "float":
        return unary("math.absf", x)
    return extreme("max", x, arithmetic("sub", 0, x))


def compare(name, a, b):
    a, b = _alike(a, b)
    if name in ("eq", "ne"):
        a, b = _ordered(a, b)
    return Scalar("bool", "arith.cmpf" if a.kind == "float" else "arith.cmpi", (a, b), name)


def logical(name, a, b):
    a, b = lift(a), lift(b)
    if "bool" not in (a.kind, b.kind) or "float" in (a.kind, b.kind):
        if "float" not in (a.kind, b.kind):
            return Scalar("index", f"arith.{name}i", _ordered(a, b))
        refuse("& | ^ ~ are for truth values and integers, but got a float")
    return Scalar("bool", f"arith.{name}i", _ordered(to_bool(a), to_bool(b)))


def select(condition, a, b):
    condition = to_bool(lift(condition))
    a, b = lift(a), lift(b)
    if not a.kind == b.kind == "bool":
        a, b = _alike(a, b)
    return Scalar(a.kind, "arith.select", (condition, a, b))


# --- the functions that people call ---


def _is_traced(values):
    return any(isinstance(v, Scalar) or hasattr(v, "as_scalar") for v in values)


def _function(name, traced, plain):
    def call(*values):
        if not _is_traced(values):
            return plain(*values)
        return traced(*values)

    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"{name} of traced values, and of Python's numbers."
    return call


def _fold(traced):
    def call(*values):
        if len(values) == 1 and isinstance(values[0], (tuple, list)):
            values = values[0]
        result = values[0]
        for value in values[1:]:
            result = traced(result, value)
        return lift(result)

    return call


# Of arrays and numbers these are NumPy's, so that a function can be tried out.
_MATH = {
    "exp": np.exp, "exp2": np.exp2, "expm1": np.expm1, "log": np.log, "log2": np.log2, "log1p": np.log1p, "sqrt": np.sqrt,
    "rsqrt": lambda x: 1 / np.sqrt(x), "tanh": np.tanh, "erf": lambda x: np.vectorize(math.erf, [np.float64])(x), "sin": np.sin,
    "cos": np.cos, "floor": np.floor, "ceil": np.ceil, "trunc": np.trunc, "roundeven": np.rint,
}

FUNCTIONS = {name: _function(name, lambda x, op=f"math.{name}": unary(op, x), plain) for name, plain in _MATH.items()}
FUNCTIONS["where"] = _function("where", select, np.where)
FUNCTIONS["minimum"] = _function("minimum", _fold(lambda a, b: extreme("min", a, b)), np.minimum)
FUNCTIONS["maximum"] = _function("maximum", _fold(lambda a, b: extreme("max", a, b)), np.maximum)
FUNCTIONS["abs"] = _function("abs", absolute, np.abs)

_BY_NAME = {
    "min": "minimum", "max": "maximum", "fmin": "minimum", "fmax": "maximum", "absolute": "abs", "fabs": "abs",
    "round": "roundeven", "rint": "roundeven",
}
_OPERATORS = {
    "add": Scalar.__add__, "subtract": Scalar.__sub__, "sub": Scalar.__sub__, "multiply": Scalar.__mul__, "mul": Scalar.__mul__,
    "divide": Scalar.__truediv__, "true_divide": Scalar.__truediv__, "div": Scalar.__truediv__, "floor_divide": Scalar.__floordiv__,
    "remainder": Scalar.__mod__, "power": Scalar.__pow__, "float_power": Scalar.__pow__, "pow": Scalar.__pow__,
    "negative": Scalar.__neg__, "neg": Scalar.__neg__, "positive": Scalar.__pos__, "less": Scalar.__lt__, "lt": Scalar.__lt__,
    "less_equal": Scalar.__le__, "le": Scalar.__le__, "greater": Scalar.__gt__, "gt": Scalar.__gt__,
    "greater_equal": Scalar.__ge__, "ge": Scalar.__ge__, "equal": Scalar.__eq__, "eq": Scalar.__eq__,
    "not_equal": Scalar.__ne__, "ne": Scalar.__ne__, "logical_and": Scalar.__and__, "bitwise_and": Scalar.__and__,
    "logical_or": Scalar.__or__, "bitwise_or": Scalar.__or__, "logical_xor": Scalar.__xor__, "bitwise_xor": Scalar.__xor__,
    "logical_not": Scalar.__invert__, "invert": Scalar.__invert__, "bitwise_not": Scalar.__invert__,
    "square": lambda x: x * x, "sigmoid": lambda x: 1 / (1 + FUNCTIONS["exp"](-x)),
}


def call_by_name(name, inputs):
    """A function of NumPy, torch or math, by its name there."""
    name = name.strip("_")
    name = name[1:] if name[:1] == "r" and name[1:] in _OPERATORS and name not in FUNCTIONS else name
    if name in FUNCTIONS or name in _BY_NAME:
        return FUNCTIONS[_BY_NAME.get(name, name)](*inputs)
    if name in _OPERATORS:
        return _OPERATORS[name](*map(lift, inputs))
    return refuse(f"{name} has no traced form; there are {', '.join(sorted(FUNCTIONS))}, operators and comparisons")


class _TracedMath:
    """Stands for the module math in a traced function."""

    def __getattr__(self, name):
        plain = getattr(math, name)
        if not callable(plain):
            return plain
        return lambda *values: call_by_name(name, values) if _is_traced(values) else plain(*values)


TRACED_MATH = _TracedMath()
_BUILTINS = {"min": "minimum", "max": "maximum"}


def substitute(name, value):
    """What a traced function sees in place of a builtin or a module."""
    if value is math:
        return TRACED_MATH
    if name in _BUILTINS and value is getattr(builtins, name):
        return FUNCTIONS[_BUILTINS[name]]
    return None

