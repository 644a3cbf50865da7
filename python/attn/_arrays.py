# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arithmetic on tensors of a traced function, element by element, as NumPy has
it. What broadcasts does so by linalg.broadcast, through which the compiler reads.
Arithmetic on scores of an attention becomes a step of it (_score_steps.py)."""
import math
import numbers

from . import _emit
from ._loops import broadcast, spread
from ._score_steps import bias_of, changed, excluded
from ._call import numpy_dtype
from ._capture import is_array
from ._sizes import size_of
from ._tensor import Program, Tensor, TensorType, floats, scale, score_mod, shown, tensor
from ._trace import FUNCTIONS, refuse
from ._types import BITS


def full(like, number, dtype=None):
    """`number` for each element of a tensor, of its type or another."""
    kind = TensorType(dtype or like.dtype, like.shape)
    return splat(number_of(number, kind.dtype), like, kind)


def number_of(number, dtype):
    """%name of a number of a type."""
    if not isinstance(number, numbers.Real):
        refuse(f"expected a tensor or a number, but got {type(number).__name__}")
    if dtype[0] in "bf":
        return Program.now().constant("number", f"{_emit.float_text(float(number), dtype)} : {dtype}")
    if not math.isfinite(number) or number != int(number):
        refuse(f"expected a whole number for a tensor of {dtype}, but got {number}; write x.astype(attn.f32)")
    most = 2 ** (BITS[dtype] - 1)
    if not (0 <= number <= 1 if dtype == "i1" else -most <= number < most):
        refuse(f"expected a number that {dtype} has, but got {number}")
    return Program.now().constant("number", ("true" if number else "false") if dtype == "i1" else f"{int(number)} : {dtype}")


def splat(value, like, kind):
    """%name of a number for each element of a tensor of type `kind`, whose sizes are those of `like`."""
    sizes = [size_of(like, i) for i, size in enumerate(like.shape) if not isinstance(size, int)]
    known = f"[{', '.join(sizes)}]" if sizes else ""
    return Program.now().op(f"tensor.splat {value}{known} : {kind}", kind, "numbers")


def apply(op, operands, name, dtype=None):
    """An op of arith or math on tensors that broadcast; `dtype` is that of the result, by default of the last operand."""
    shape = broadcast(name, operands)
    operands = spread(operands, shape)
    types = [operands[0].type, operands[-1].type] if op == "arith.select" else [operands[-1].type]
    text = f"{op} {', '.join(x.value for x in operands)} : {', '.join(map(str, types))}"
    return Program.now().op(text, TensorType(dtype or operands[-1].dtype, shape), name)


def _alike(op, a, b):
    """Both as tensors of one element type. A number has that of the tensor."""
    arrays = [is_array(x) and not isinstance(x, Tensor) for x in (a, b)]
    a = a if isinstance(a, numbers.Real) else tensor(a, "left operand")
    b = b if isinstance(b, numbers.Real) else tensor(b, "right operand")
    if isinstance(a, numbers.Real):
        return full(b, a), b
    if isinstance(b, numbers.Real):
        return a, full(a, b)
    if a.dtype != b.dtype and any(arrays):
        array, other = (a, b) if arrays[0] else (b, a)
        refuse(f"{op}: expected tensors of one type, but got {shown(a)} and {shown(b)}; write .astype(np.{numpy_dtype(other.dtype).name}) of "
               f"the array, which has {array.dtype}")
    if a.dtype != b.dtype:
        wide = max(a, b, key=lambda x: (x.is_float, BITS[x.dtype])).dtype
        refuse(f"{op}: expected tensors of one type, but got {shown(a)} and {shown(b)}; write x.astype(attn.{wide}) of the other")
    return a, b


_INTEGERS = {"maximum": "maxsi", "minimum": "minsi", "add": "addi", "sub": "subi", "mul": "muli"}
_SCORES = {
    "add": lambda s, t: s + t, "sub": lambda s, t: s - t, "mul": lambda s, t: s * t, "div": lambda s, t: s / t, "pow": lambda s, t: s**t,
    "maximum": FUNCTIONS["maximum"], "minimum": FUNCTIONS["minimum"],
}


def elementwise(name, a, b):
    """An op of arith; a number of Python is one for each element."""
    if any(isinstance(x, Tensor) and x.is_scores for x in (a, b)):
        return _of_scores(name, a, b)
    if isinstance(b, numbers.Real) and isinstance(a, Tensor) and a.is_float:
        factor = _factor(name, b)
        if factor and a.value not in Program.now().of_products:
            return scale(a, factor)
        if factor:  # as it is read where products, softmax and products are an attention
            made = apply("arith.mulf", [a, full(a, factor)], "mul")
            made.as_scores = a.as_scores and (lambda: scale(a.as_scores(), factor))
            return made
    a, b = _alike(name, a, b)
    if a.dtype == "i1":
        refuse(f"{name}: expected numbers, but got truth values; write attn.where(seen, a, b) or seen.astype(attn.f32)")
    if a.is_float:
        return apply(f"arith.{name}f", [a, b], name)
    if name not in _INTEGERS:
        refuse(f"{name}: expected floats, but got {shown(a)} and {shown(b)}; write x.astype(attn.f32)")
    return apply(f"arith.{_INTEGERS[name]}", [a, b], name)


def _factor(name, number):
    """What attn.scale multiplies by; None where it is no scale."""
    number = float(number)
    if name not in ("mul", "div") or not math.isfinite(number) or not number:
        return None
    factor = number if name == "mul" else 1 / number
    return factor if math.isfinite(factor) and factor else None


def _of_scores(name, a, b):
    """Arithmetic of which an operand at least is scores of an attention."""
    scores, other, swapped = (a, b, False) if isinstance(a, Tensor) and a.is_scores else (b, a, True)
    if isinstance(other, numbers.Real):
        factor = _factor(name, other)
        if factor and not (swapped and name == "div"):
            return scale(scores, factor)
    elif name in ("add", "sub"):
        other = tensor(other, "operand")
        if name == "sub":
            scores, other = (scale(scores, -1.0), other) if swapped else (scores, negative(other))
        return bias_of(scores, other)
    return changed(name, scores, other, (lambda s, t: _SCORES[name](t, s)) if swapped else _SCORES[name])


def negative(x):
    """-x."""
    x = tensor(x, "x")
    return elementwise("mul", x, -1.0) if x.is_float else elementwise("sub", 0, x)


def bias(scores, bias):
    """Scores plus a bias, which broadcasts to them from the right."""
    return elementwise("add", tensor(scores, "scores"), tensor(bias, "bias"))


# --- functions ---

def function_of(name, x):
    """exp and the like of a tensor."""
    x = floats(name, x)
    if x.is_scores:
        return score_mod(x, lambda score, *_: FUNCTIONS[name](score))
    return Program.now().op(f"math.{name} {x.value} : {x.type}", x.type, name)


def absolute(x):
    """|x|."""
    x = tensor(x, "x")
    if x.is_scores:
        return score_mod(x, lambda score, *_: abs(score))
    return Program.now().op(f"math.absf {x.value} : {x.type}", x.type, "abs") if x.is_float else elementwise("maximum", x, negative(x))


def power(a, b):
    """a ** b. Small whole powers are products, and those of 1/2 roots."""
    if any(isinstance(x, Tensor) and x.is_scores for x in (a, b)):
        return _of_scores("pow", a, b)
    if not isinstance(b, numbers.Real):
        return apply("math.powf", [floats("**", x) for x in _alike("**", a, b)], "power")
    if b == int(b) and 0 < b <= 8:
        return _multiplied(tensor(a, "x"), int(b))
    a = floats("**", a)
    roots = {0: lambda: full(a, 1.0), -1: lambda: elementwise("div", 1.0, a), 0.5: lambda: function_of("sqrt", a),
             -0.5: lambda: function_of("rsqrt", a), -2: lambda: elementwise("div", 1.0, elementwise("mul", a, a))}
    return roots[b]() if b in roots else apply("math.powf", [a, full(a, b)], "power")


def _multiplied(x, count):
    if count == 1:
        return x
    half = _multiplied(x, count // 2)
    whole = elementwise("mul", half, half)
    return elementwise("mul", whole, x) if count % 2 else whole


def floor_divide(a, b):
    """a // b."""
    if any(isinstance(x, Tensor) and x.is_float for x in (a, b)):
        return function_of("floor", elementwise("div", a, b))
    if not isinstance(b, numbers.Integral) or b in (0, -1):
        refuse("//: expected integers to be divided by a number other than 0 and -1; write x.astype(attn.f32) for others")
    return apply("arith.floordivsi", list(_alike("//", a, b)), "quotient")


def remainder(a, b):
    """a - a // b * b."""
    return elementwise("sub", a, elementwise("mul", floor_divide(a, b), b))


# --- truth values ---

_FLOATS = {"lt": "olt", "le": "ole", "gt": "ogt", "ge": "oge", "eq": "oeq", "ne": "une"}
_WHOLE = {"lt": "slt", "le": "sle", "gt": "sgt", "ge": "sge", "eq": "eq", "ne": "ne"}


def compare(name, a, b):
    """A tensor of i1."""
    if any(isinstance(x, Tensor) and x.is_scores for x in (a, b)):
        refuse("scores of an attention are not compared by themselves; write attn.score_mod(scores, lambda s, *_: attn.where(s > 0, s, 0))")
    a, b = _alike(name, a, b)
    if a.dtype == "i1" and name not in ("eq", "ne"):
        refuse(f"{name}: expected numbers, but got truth values; write & | ~ for them")
    head = f"arith.cmpf {_FLOATS[name]}," if a.is_float else f"arith.cmpi {_WHOLE[name]},"
    return apply(head, [a, b], name, "i1")


def logical(name, a, b):
    """and, or, xor of truth values or integers."""
    a, b = _alike({"and": "&", "or": "|", "xor": "^"}[name], a, b)
    if a.is_float:
        refuse(f"expected truth values or integers for & | ^ ~, but got {shown(a)}; write x != 0")
    return apply(f"arith.{name}i", [a, b], name)


def invert(x):
    """~x."""
    x = tensor(x, "x")
    return logical("xor", x, True if x.dtype == "i1" else -1)


def where(condition, a, b):
    """a where the condition, a tensor of i1, holds, and b elsewhere. Of two numbers it has f32, or i64 if both are whole."""
    condition = tensor(condition, "condition")
    if condition.dtype != "i1":
        refuse(f"where: expected a condition of i1, but got {shown(condition)}; write x != 0")
    if any(isinstance(x, Tensor) and x.is_scores for x in (a, b)):
        return excluded(condition, a, b)
    if isinstance(a, numbers.Real) and isinstance(b, numbers.Real):
        kind = "i64" if isinstance(a, numbers.Integral) and isinstance(b, numbers.Integral) else "f32"
        a, b = full(condition, a, kind), full(condition, b, kind)
    return apply("arith.select", [condition, *_alike("where", a, b)], "where")
