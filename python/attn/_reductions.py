# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sums, means and extremes along axes of tensors of a traced function.

Floats of 16 bits are summed in f32 and rounded once. A sum of nothing is 0, a
mean of nothing NaN, and the maximum of nothing -inf, as that of a row of scores
that sees no key.
"""
from ._arrays import apply, compare, elementwise, full, function_of, splat, where
from ._casts import astype
from ._emit import float_text
from ._loops import loop
from ._sizes import empty, multiplied, size_of
from ._tensor import Program, TensorType, floats, shown, tensor
from ._trace import refuse
from ._types import BITS
from ._views import axis_of, expand_dims


def _axes(op, x, axis):
    """Axes of a tensor, each once and in order."""
    given = range(x.ndim) if axis is None else axis if isinstance(axis, (tuple, list)) else [axis]
    axes = [axis_of(x, each) for each in given]
    if len(set(axes)) != len(axes):
        refuse(f"{op}: expected each axis once, but got {axis}")
    return sorted(axes)


def _wide(dtype):
    """The type that sums have."""
    return "f64" if dtype == "f64" else "f32" if dtype[0] in "bf" else "i64"


def _reduce(x, axes, keepdims, kind, start, write):
    """A loop that begins with the number `start` and reduces axes."""
    kept = [axis for axis in range(x.ndim) if axis not in axes]
    type, program = TensorType(kind, [x.shape[axis] for axis in kept]), Program.now()
    out = empty(type, [size_of(x, axis) for axis in kept])
    begin = program.op(f"linalg.fill ins({start} : {kind}) outs({out.value} : {type}) -> {type}", type, "start")
    made = loop([(x, list(range(x.ndim)))], begin, "reduced", write, kept)
    return expand_dims(made, axes) if keepdims and axes else made


def _sum(op, x, axis, keepdims):
    """A sum in the type that sums have."""
    axes, kind = _axes(op, x, axis), _wide(x.dtype)
    is_float = x.is_float
    cast = "arith.extf" if is_float else "arith.extui" if x.dtype == "i1" else "arith.extsi"

    def write(body, element, total):
        element = element if x.dtype == kind else body.op(f"{cast} {element} : {x.dtype} to {kind}")
        return body.op(f"arith.add{'f' if is_float else 'i'} {total}, {element} : {kind}")

    zero = Program.now().constant("number", f"{'0.0' if is_float else '0'} : {kind}")
    return _reduce(x, axes, keepdims, kind, zero, write)


def sum(x, axis=None, *, keepdims=False):
    """Sums along axes, all without any. Integers and truth values have sums of i64."""
    x = tensor(x, "x")
    made = _sum("sum", x, axis, keepdims)
    return astype(made, x.dtype) if x.is_float else made


def _mean(x, axis, keepdims):
    total = _sum("mean", x, axis, keepdims)
    sizes = [size_of(x, a) for a in _axes("mean", x, axis)]
    number = multiplied(sizes)
    if number[0] != "%":
        return elementwise("div", total, int(number)) if int(number) else apply("arith.divf", [total, full(total, 0)], "mean")
    program = Program.now()
    whole = program.index(f"arith.index_cast {number} : index to i64")
    count = program.index(f"arith.sitofp {whole} : i64 to {total.dtype}")
    return apply("arith.divf", [total, splat(count, total, total.type)], "mean")


def mean(x, axis=None, *, keepdims=False):
    """Means along axes, of all without any."""
    x = floats("mean", x)
    return astype(_mean(x, axis, keepdims), x.dtype)


def var(x, axis=None, *, keepdims=False):
    """Means of the squared distances from the mean, as NumPy's; torch divides by one less."""
    x = floats("var", x)
    wide = astype(x, _wide(x.dtype))
    apart = elementwise("sub", wide, _mean(wide, axis, True))
    return astype(_mean(elementwise("mul", apart, apart), axis, keepdims), x.dtype)


def root(x):
    """Of sums of squares. Where such a sum is 0 its gradient is 0, and not the infinite slope of a root times 0."""
    some = compare("gt", x, 0.0)
    return where(some, function_of("sqrt", where(some, x, 1.0)), x)


def std(x, axis=None, *, keepdims=False):
    """The root of `var`."""
    x = floats("std", x)
    return astype(root(var(astype(x, _wide(x.dtype)), axis, keepdims=keepdims)), x.dtype)


def _extreme(op, x, axis, keepdims):
    x = tensor(x, "x")
    axes = _axes(op, x, axis)
    if x.dtype == "i1":
        refuse(f"{op}: expected numbers, but got truth values; write seen.sum() > 0")
    if any(x.shape[a] == 0 for a in axes):
        refuse(f"{op}: expected elements along the axes, but got {shown(x)}")
    name = f"arith.{op}imumf" if x.is_float else f"arith.{op}si"
    sign = 1 if op == "min" else -1
    start = float_text(sign * float("inf"), x.dtype) if x.is_float else str(2 ** (BITS[x.dtype] - 1) * sign - (sign > 0))
    start = Program.now().constant("number", f"{start} : {x.dtype}")
    return _reduce(x, axes, keepdims, x.dtype, start, lambda body, element, most: body.op(f"{name} {most}, {element} : {x.dtype}"))


def max(x, axis=None, *, keepdims=False):
    """Maxima along axes, of all without any. NaN is above all."""
    return _extreme("max", x, axis, keepdims)


def min(x, axis=None, *, keepdims=False):
    """Minima along axes, of all without any. NaN is below all."""
    return _extreme("min", x, axis, keepdims)


def softmax_along(x, axis):
    """exp(x) / sum of exp(x) along an axis; where all are -inf, 0."""
    x = floats("softmax", x)
    if not x.ndim:
        refuse(f"softmax: expected a dimension at least, but got {shown(x)}")
    out = empty(x.type, [size_of(x, a) for a in range(x.ndim)])
    text = f"linalg.softmax dimension({axis_of(x, axis)}) ins({x.value} : {x.type}) outs({out.value} : {x.type}) -> {x.type}"
    return Program.now().op(text, x.type, "weights")
