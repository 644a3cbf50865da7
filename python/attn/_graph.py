# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whole functions over tensors: `attn.function` traces one into a specification.

    @attn.function
    def words(q: attn.f32["n", 3], k: attn.f32["m", 3], v: attn.f32["m", 3]):
        weights = attn.softmax(attn.scores(q, k) * 3**-0.5)
        return attn.context(weights, v), weights

Annotations are types; a string names a size that a call chooses. Each function
here is the op of docs/Spec.md with its name, which defines what it computes.
The compiler fuses them; the text says nothing about how.
"""
import functools
import inspect

from . import _attention, _driver, _emit
from ._call import Error
from ._capture import Captures, element_type, is_array
from ._kernel import Kernel
from ._masks import Operands, as_mask
from ._trace import FUNCTIONS, refuse, where_in_user_code


class TensorType:
    """An element type and sizes: numbers, or names of what a call chooses."""

    def __init__(self, dtype, shape):
        self.dtype, self.shape = dtype, tuple(shape)
        for size in self.shape:
            if not (isinstance(size, int) and size >= 0) and not (isinstance(size, str) and size):
                raise TypeError(f"sizes are numbers or names, but got {size!r}")

    def __str__(self):
        return f"tensor<{''.join('?x' if isinstance(s, str) else f'{s}x' for s in self.shape)}{self.dtype}>"


class ElementType:
    """`attn.f32["n", 64]` is a type of tensors; `attn.f32[()]` is one number."""

    def __init__(self, name):
        self.name = name

    def __getitem__(self, shape):
        return TensorType(self.name, shape if isinstance(shape, tuple) else (shape,))

    def __repr__(self):
        return f"attn.{self.name}"


f16, bf16, f32, f64, i1, i32, i64 = map(ElementType, ("f16", "bf16", "f32", "f64", "i1", "i32", "i64"))


class _Program(Operands):
    """The function that is being traced."""

    active = []

    def __init__(self, names):
        super().__init__(4, taken=names)
        self.lines = []

    @classmethod
    def now(cls):
        if not cls.active:
            raise Error(where_in_user_code() + "ops on tensors stand in functions of @attn.function; arrays have attn.attention, "
                        "attn.flex_attention and compiled kernels")
        return cls.active[-1]

    def add(self, value, name, type):
        if isinstance(value, Tensor):
            return f"{value.value} : {value.type}"
        if isinstance(value, str):
            refuse("in a function, masks name its arguments, not strings")
        return super().add(value, name, type)

    def op(self, text, type, name):
        """Appends an op with one result; its name is `name`, or name_1 .."""
        return self.ops(text, [type], [name])[0]

    def ops(self, text, types, names):
        values = []
        for name in names:
            unique, n = name, 0
            while unique in self.names:
                n += 1
                unique = f"{name}_{n}"
            self.names.add(unique)
            values.append(unique)
        self.lines.append(f"{', '.join(f'%{v}' for v in values)} = {text}")
        return [Tensor(f"%{v}", t) for v, t in zip(values, types)]


class Tensor:
    """A tensor of a traced function."""

    __slots__ = ("value", "type")
    __array_priority__ = 1000
    __array_ufunc__ = None

    def __init__(self, value, type):
        self.value, self.type = value, type

    dtype = property(lambda self: self.type.dtype)
    shape = property(lambda self: self.type.shape)
    ndim = property(lambda self: len(self.type.shape))

    def __repr__(self):
        return f"<{self.value}: {self.type}>"

    def __bool__(self):
        refuse("a traced tensor has no truth value while its function is traced")

    def __getitem__(self, indices):
        if Captures.active:  # a score or mask function that got it not by name
            return Captures.active[-1].capture(self, self.value[1:])[indices]
        return refuse("tensors are read by element in score and mask functions only")

    def __add__(self, other):
        return _elementwise("add", self, other)

    def __sub__(self, other):
        return _elementwise("sub", self, other)

    def __mul__(self, other):
        return _elementwise("mul", self, other)

    def __truediv__(self, other):
        return _elementwise("div", self, other)

    def __radd__(self, other):
        return _elementwise("add", self, other)

    def __rsub__(self, other):
        return _elementwise("add", -self, other)

    def __rmul__(self, other):
        return _elementwise("mul", self, other)

    def __neg__(self):
        return scale(self, -1.0)


def _statistics(dtype):
    return "f64" if dtype == "f64" else "f32"


def _tensor(x, name):
    if isinstance(x, Tensor):
        return x
    if is_array(x):  # an argument that the kernel carries along
        kind = TensorType(element_type(x), map(int, x.shape))
        return Tensor(_Program.now().add(x, name, str(kind)).split(" : ")[0], kind)
    return refuse(f"{name}: expected a tensor of the function, but got {type(x).__name__}")


def scale(x, factor):
    """x * factor, a number of Python. Usually written so."""
    x = _tensor(x, "x")
    return _Program.now().op(f"attn.scale {x.value} by {_emit.float_text(float(factor), 'f64')} : {x.type}", x.type, "scaled")


def _elementwise(name, a, b):
    if isinstance(b, (int, float)):
        if name == "mul":
            return scale(a, b)
        if name == "div":
            return scale(a, 1 / b)
        refuse(f"{name}: a number and a tensor meet in * and / only; attn.score_mod adds numbers to scores")
    b = _tensor(b, "right operand")
    if a.type.shape != b.type.shape or a.dtype != b.dtype:
        if name == "add" and a.dtype == b.dtype and b.ndim <= a.ndim:
            return bias(a, b)
        refuse(f"{name}: expected tensors of one type, but got {a.type} and {b.type}; attn.bias broadcasts to scores")
    kind = "f" if a.dtype[0] in "bf" else "i"
    return _Program.now().op(f"arith.{name}{kind} {a.value}, {b.value} : {a.type}", a.type, name)


def scores(query, key):
    """Products of every query with every key: (.., Sq, Skv)."""
    query, key = _tensor(query, "query"), _tensor(key, "key")
    if query.ndim < 2 or key.ndim != query.ndim:
        refuse(f"scores: expected query and key of the same 2, 3 or 4 dimensions, but got {query.type} and {key.type}")
    type = TensorType(_statistics(query.dtype), [*query.shape[:-1], key.shape[-2]])
    return _Program.now().op(f"attn.scores {query.value}, {key.value} : ({query.type}, {key.type}) -> {type}", type, "scores")


def context(weights, value):
    """Sums of values, weighted: (.., Sq, Dv)."""
    weights, value = _tensor(weights, "weights"), _tensor(value, "value")
    if value.ndim != weights.ndim:
        refuse(f"context: expected weights and value of the same dimensions, but got {weights.type} and {value.type}")
    type = TensorType(value.dtype, [*weights.shape[:-1], value.shape[-1]])
    return _Program.now().op(f"attn.context {weights.value}, {value.value} : ({weights.type}, {value.type}) -> {type}", type, "out")


def softmax(scores, sinks=None):
    """Weights of each row of scores; `sinks` is one more score per head."""
    scores = _tensor(scores, "scores")
    more = ""
    if sinks is not None:
        sinks = _tensor(sinks, "sinks")
        more = f" sinks {sinks.value} : {sinks.type}"
    return _Program.now().op(f"attn.softmax {scores.value}{more} : {scores.type}", scores.type, "weights")


def _same(op, name, clause=""):
    def build(x):
        x = _tensor(x, "scores")
        return _Program.now().op(f"attn.{op} {x.value}{clause} : {x.type}", x.type, name)

    return build


def sigmoid(scores):
    """Weights 1 / (1 + exp(-s)), each by itself."""
    return _same("sigmoid", "weights")(scores)


def softcap(scores, cap):
    """cap * tanh(scores / cap)."""
    return _same("softcap", "capped", f" at {_emit.float_text(float(cap), 'f64')}")(scores)


def bias(scores, bias):
    """Scores plus a bias, which broadcasts to them from the right."""
    scores, bias = _tensor(scores, "scores"), _tensor(bias, "bias")
    return _Program.now().op(f"attn.bias {scores.value}, {bias.value} : {scores.type}, {bias.type}", scores.type, "biased")


def alibi(scores, slopes=None, position="top_left"):
    """Scores that fall with the distance, at a slope per head; without slopes
    those of the paper."""
    scores = _tensor(scores, "scores")
    more, types = "", ""
    if slopes is not None:
        slopes = _tensor(slopes, "slopes")
        more, types = f", {slopes.value}", f", {slopes.type}"
    text = f"attn.alibi {scores.value}{more} aligned {position} : {scores.type}{types}"
    return _Program.now().op(text, scores.type, "sloped")


def score_mod(scores, function):
    """Each score changed by function(score, batch, head, query, key)."""
    scores = _tensor(scores, "scores")
    program = _Program.now()
    program.statistics = scores.dtype
    region = _attention.score_region(function, program, scores.dtype).removeprefix("score_mod ")
    return program.op(f"attn.score_mod {scores.value} {region} : {scores.type}", scores.type, "modified")


def mask(scores, mask):
    """Scores of -inf where the mask, or function, sees no pair."""
    scores = _tensor(scores, "scores")
    program = _Program.now()
    program.rank, program.statistics = scores.ndim, scores.dtype
    return program.op(f"attn.mask {scores.value} where {as_mask(mask).text(program)} : {scores.type}", scores.type, "masked")


def project(x, weight, bias=None):
    """x @ weight (+ bias), the weight (in, out)."""
    x, weight = _tensor(x, "x"), _tensor(weight, "weight")
    operands = [x, weight] + ([] if bias is None else [_tensor(bias, "bias")])
    if weight.ndim != 2:
        refuse(f"project: expected a weight of 2 dimensions, but got {weight.type}")
    type = TensorType(x.dtype, [*x.shape[:-1], weight.shape[1]])
    text = f"attn.project {', '.join(o.value for o in operands)} : ({', '.join(str(o.type) for o in operands)}) -> {type}"
    return _Program.now().op(text, type, "projected")


def split_heads(x, heads):
    """(B, S, H*D) as (B, H, S, D), and (S, H*D) as (H, S, D)."""
    x = _tensor(x, "x")
    if not isinstance(x.shape[-1], int) or x.shape[-1] % heads:
        refuse(f"split_heads: expected a last size that {heads} divides, but got {x.type}")
    type = TensorType(x.dtype, [*x.shape[:-2], heads, x.shape[-2], x.shape[-1] // heads])
    return _Program.now().op(f"attn.split_heads {x.value} into {heads} : {x.type} -> {type}", type, "heads")


def merge_heads(x):
    """The inverse of split_heads."""
    x = _tensor(x, "x")
    if x.ndim < 3 or not all(isinstance(x.shape[i], int) for i in (-3, -1)):
        refuse(f"merge_heads: expected (.., heads, S, D) with known heads and D, but got {x.type}")
    type = TensorType(x.dtype, [*x.shape[:-3], x.shape[-2], x.shape[-3] * x.shape[-1]])
    return _Program.now().op(f"attn.merge_heads {x.value} : {x.type} -> {type}", type, "merged")


def rope(x, cos, sin, positions=None, interleaved=False):
    """Rotary position embedding; row p of cos and sin is position p."""
    x, cos, sin = _tensor(x, "x"), _tensor(cos, "cos"), _tensor(sin, "sin")
    at = ""
    if positions is not None:
        positions = _tensor(positions, "positions")
        at = f" at {positions.value} : {positions.type}"
    text = f"attn.rope {x.value}, {cos.value}, {sin.value}{' interleaved' if interleaved else ''}{at} : {x.type}, {cos.type}"
    return _Program.now().op(text, x.type, "rotated")


def rms_norm(x, weight=None, eps=1e-6):
    """x / sqrt(mean(x^2) + eps) * weight, along the last dimension."""
    x = _tensor(x, "x")
    more, types = "", ""
    if weight is not None:
        weight = _tensor(weight, "weight")
        more, types = f", {weight.value}", f", {weight.type}"
    text = f"attn.rms_norm {x.value}{more} eps {_emit.float_text(float(eps), 'f64')} : {x.type}{types}"
    return _Program.now().op(text, x.type, "normal")


def subtract_weights(first, second, factor):
    """first - factor * second: differential attention. `factor` is a tensor of
    one number, or of one per head."""
    first, second, factor = _tensor(first, "first"), _tensor(second, "second"), _tensor(factor, "factor")
    text = f"attn.subtract_weights {first.value}, {second.value} by {factor.value} : {first.type}, {factor.type}"
    return _Program.now().op(text, first.type, "difference")


def _math(name, x):
    return _Program.now().op(f"math.{name} {x.value} : {x.type}", x.type, name)


def tensor_function(name):
    """exp and the like: of traced tensors, of traced scalars, of numbers."""
    scalar = FUNCTIONS[name]
    if name in ("where", "minimum", "maximum", "abs"):
        return scalar

    @functools.wraps(scalar)
    def call(*values):
        return _math(name, values[0]) if len(values) == 1 and isinstance(values[0], Tensor) else scalar(*values)

    return call


class Function:
    """A traced function. Call it with arrays, as a Kernel; it is compiled at
    the first call. `mlir` is its specification."""

    def __init__(self, function, name=None, target="native"):
        functools.update_wrapper(self, function)
        self._target = target
        self._name = name or function.__name__
        self.mlir, self._bound = self._trace(function)

    def _trace(self, function):
        arguments = self._arguments(function)
        program = _Program([n for n, _ in arguments])
        _Program.active.append(program)
        try:
            results = function(*(Tensor(f"%{n}", t) for n, t in arguments))
        finally:
            _Program.active.pop()
        results = results if isinstance(results, (tuple, list)) else (results,)
        if not results or not all(isinstance(r, Tensor) for r in results):
            raise Error(f"{function.__code__.co_filename}:{function.__code__.co_firstlineno}: {self._name} returns a tensor or "
                        f"several, but this one returned {', '.join(type(r).__name__ for r in results)}")
        types = [str(r.type) for r in results]
        given = [f"%{n}: {t}" for n, t in arguments] + [f"%{n}: {t}" for n, t, _ in program.list]
        lines = [f"func.func @{self._name}({', '.join(given)}) -> {types[0] if len(types) == 1 else '(' + ', '.join(types) + ')'} {{"]
        lines += [f"  {line}" for line in program.constants + program.lines]
        lines += [f"  return {', '.join(r.value for r in results)} : {', '.join(types)}", "}", ""]
        return "\n".join(lines), {n: a for n, _, a in program.list}

    def _arguments(self, function):
        hints = inspect.get_annotations(function, eval_str=True)
        arguments = []
        for name in inspect.signature(function).parameters:
            type = hints.get(name)
            if not isinstance(type, TensorType):
                raise TypeError(f"{self._name}: argument {name} needs a type, such as {name}: attn.f32[\"n\", 64]")
            arguments.append((name, type))
        return arguments

    @functools.cached_property
    def kernel(self):
        kernel = _driver.load(Kernel, self.mlir, self._name, [f"--target={self._target}"])
        return _attention.Attention(kernel, self._bound) if self._bound else kernel

    def __call__(self, *arrays, out=None, threads=0, **named):
        return self.kernel(*arrays, out=out, threads=threads, **named)

    def explain(self, **sizes):
        """As Kernel.explain."""
        return self.kernel.explain(**sizes)

    def show(self, *arrays, tokens=None, keys=None, title=None, batch=0, **named):
        """As Kernel.show."""
        return self.kernel.show(*arrays, tokens=tokens, keys=keys, title=title, batch=batch, **named)

    def __repr__(self):
        return f"<attn function {self._name}>"


def function(function=None, *, name=None, target="native"):
    """Traces a function over tensors, whose arguments are annotated with types:
    see this module. Returns a Function."""
    if function is None:
        return lambda f: Function(f, name, target)
    return Function(function, name, target)
