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
import json
import math
import re
import traceback
import weakref

from . import _attention, _driver, _emit
from ._arrays import absolute, elementwise, function_of, where
from ._call import Error
from ._kernel import Kernel
from ._operators import called
from ._products import context_of, matmul, scores_of
from ._reductions import softmax_along
from ._score_steps import masked
from ._tensor import Program, Tensor, TensorType, floats, in_front, row, scores_tensor, shown, step_of, tensor
from ._trace import FUNCTIONS, refuse
from ._types import is_whole


def scores(query, key):
    """Products of every query with every key: (.., Sq, Skv)."""
    query, key = tensor(query, "query"), tensor(key, "key")
    if query.ndim not in (2, 3, 4) or key.ndim != query.ndim:
        refuse(f"scores: expected query and key of the same 2, 3 or 4 dimensions, but got {shown(query)} and {shown(key)}")
    if query.dtype != key.dtype or not query.is_float:
        refuse(f"scores: expected query and key of one type of floats, but got {shown(query)} and {shown(key)}")
    if _differ(query.shape[-1], key.shape[-1]):
        refuse(f"scores: expected query and key of the same features, but got {shown(query)} and {shown(key)}")
    _check_heads("scores", query, key)
    return scores_of(query, key)


def _differ(a, b):
    return isinstance(a, int) and isinstance(b, int) and a != b


def _check_heads(op, many, few):
    """Batch sizes agree, and the heads of `many` are a multiple of those of `few`."""
    if many.ndim == 4 and _differ(many.shape[0], few.shape[0]):
        refuse(f"{op}: expected the same batch sizes, but got {shown(many)} and {shown(few)}")
    if many.ndim > 2 and all(isinstance(x.shape[-3], int) for x in (many, few)) and (
            many.shape[-3] % few.shape[-3] if few.shape[-3] else many.shape[-3]):
        refuse(f"{op}: expected heads that are a multiple of the other's, but got {shown(many)} and {shown(few)}")


def context(weights, value):
    """Sums of values, weighted: (.., Sq, Dv)."""
    weights, value = tensor(weights, "weights"), tensor(value, "value")
    if value.ndim != weights.ndim:
        refuse(f"context: expected weights and value of the same dimensions, but got {shown(weights)} and {shown(value)}")
    if weights.is_scores:
        refuse("context: expected weights, but got scores; write attn.softmax(scores) or attn.sigmoid(scores)")
    if weights.stage != "weights":
        return matmul(weights, value)
    if not value.is_float or (value.dtype == "f64") != (weights.dtype == "f64"):
        refuse(f"context: expected values of the type of query and key, but got {shown(weights)} and {shown(value)}")
    if _differ(weights.shape[-1], value.shape[-2]):
        refuse(f"context: expected a value per column of the weights, but got {shown(weights)} and {shown(value)}")
    _check_heads("context", weights, value)
    return context_of(weights, value)


def softmax(scores, sinks=None, axis=-1):
    """Weights of each row of scores; `sinks` is one more score per head. Of a tensor that is no scores of an attention, along any axis."""
    scores = tensor(scores, "scores")
    if sinks is None and not scores.is_scores:
        made = softmax_along(scores, axis)
        made.stage = "rows"
        return made
    scores = scores_tensor(scores, "softmax")
    if axis not in (-1, scores.ndim - 1):
        refuse(f"softmax: expected the last axis, along which scores have their keys, but got {axis}")
    more = ""
    if sinks is not None:
        sinks = row("softmax", "sinks", sinks, scores.dtype, _heads(scores))
        more = f" sinks {sinks.value} : {sinks.type}"
    return _weights(f"attn.softmax {scores.value}{more} : {scores.type}", scores.type)


def _heads(scores):
    return scores.shape[-3] if scores.ndim > 2 else 1


def _weights(text, type, name="weights"):
    made = Program.now().op(text, type, name)
    made.stage = "weights"
    return made


def dropout(weights, probability, seed):
    """Weights of which some are 0, each with this probability, and the others divided by one minus it; which ones follows from the seed,
    an attn.i64[()] that a call chooses. A negative seed drops nothing."""
    weights, seed = tensor(weights, "weights"), tensor(seed, "seed")
    if weights.stage != "weights":
        refuse(f"dropout: expected weights of an attention, such as attn.softmax(scores), but got {shown(weights)}")
    if isinstance(probability, Tensor) or not 0 <= probability < 1:
        refuse(f"dropout: expected a probability of at least 0 and below 1, but got {probability}")
    if seed.ndim or seed.dtype != "i64":
        refuse(f"dropout: expected a seed of attn.i64[()], but got {shown(seed)}")
    Program.now().drops = True
    return _weights(f"attn.dropout {weights.value} by {_emit.float_text(float(probability), 'f64')} seed {seed.value} : {weights.type}, {seed.type}",
                    weights.type)


def sigmoid(scores):
    """Weights 1 / (1 + exp(-s)), each by itself."""
    x = tensor(scores, "scores")
    if x.is_scores or x.as_scores:
        x = scores_tensor(x, "sigmoid")
        return _weights(f"attn.sigmoid {x.value} : {x.type}", x.type)
    return elementwise("div", 1.0, elementwise("add", function_of("exp", -x), 1.0))


def softcap(scores, cap):
    """cap * tanh(scores / cap)."""
    x = tensor(scores, "scores")
    if not 0 < cap < math.inf:
        refuse(f"softcap: expected a cap above 0, but got {cap}")
    if not x.is_scores and not x.as_scores:
        return function_of("tanh", x / cap) * cap
    x = in_front("softcap", scores_tensor(x, "softcap"))
    return step_of(x, Program.now().op(f"attn.softcap {x.value} at {_emit.float_text(float(cap), 'f64')} : {x.type}", x.type, "capped"))


def alibi(scores, slopes=None, position="top_left"):
    """Scores that fall with the distance, at a slope per head; without slopes
    those of the paper."""
    scores = in_front("alibi", scores_tensor(scores, "alibi"))
    more, types = "", ""
    if slopes is not None:
        slopes = row("alibi", "slopes", slopes, scores.dtype, _heads(scores))
        more, types = f", {slopes.value}", f", {slopes.type}"
    text = f"attn.alibi {scores.value}{more} aligned {position} : {scores.type}{types}"
    return step_of(scores, Program.now().op(text, scores.type, "sloped"))


def mask(scores, mask):
    """Scores of -inf where the mask, or function, sees no pair."""
    return masked(scores, mask)


def project(x, weight, bias=None, *, transposed=False):
    """x @ weight (+ bias), the weight (in, out); `transposed`, (out, in), as torch's Linear has it."""
    x, weight = floats("project", x), floats("project", weight, name="weight")
    if weight.ndim != 2:
        refuse(f"project: expected a weight of 2 dimensions, but got {weight.type}")
    rows, columns = weight.shape[::-1] if transposed else weight.shape
    if not x.ndim or _differ(x.shape[-1], rows) or (x.dtype == "f64") != (weight.dtype == "f64"):
        refuse(f"project: expected as many features of x as the weight takes, of one type, but got {shown(x)} and {shown(weight)}")
    if x.ndim not in (2, 3):
        made = matmul(x, weight.T if transposed else weight)
        return made if bias is None else made + bias
    operands = [x, weight] + ([] if bias is None else [tensor(bias, "bias")])
    for each in operands[2:]:
        row("project", "bias", each, each.dtype if each.is_float and (each.dtype == "f64") == (x.dtype == "f64") else x.dtype, columns)
    type = TensorType(x.dtype, [*x.shape[:-1], columns])
    names = [o.value for o in operands]
    names[1] += " transposed" * transposed
    text = f"attn.project {', '.join(names)} : ({', '.join(str(o.type) for o in operands)}) -> {type}"
    return Program.now().op(text, type, "projected")


def split_heads(x, heads):
    """(B, S, H*D) as (B, H, S, D), and (S, H*D) as (H, S, D)."""
    x = tensor(x, "x")
    if x.ndim not in (2, 3):
        refuse(f"split_heads: expected (S, H*D) or (B, S, H*D), but got {shown(x)}")
    if not is_whole(heads) or heads < 1 or not isinstance(x.shape[-1], int) or x.shape[-1] % heads:
        refuse(f"split_heads: expected a last size that {heads} divides, but got {x.type}")
    type = TensorType(x.dtype, [*x.shape[:-2], int(heads), x.shape[-2], x.shape[-1] // heads])
    return Program.now().op(f"attn.split_heads {x.value} into {heads} : {x.type} -> {type}", type, "heads")


def merge_heads(x):
    """The inverse of split_heads."""
    x = tensor(x, "x")
    if x.ndim not in (3, 4) or not all(isinstance(x.shape[i], int) for i in (-3, -1)):
        refuse(f"merge_heads: expected (.., heads, S, D) with known heads and D, but got {x.type}")
    type = TensorType(x.dtype, [*x.shape[:-3], x.shape[-2], x.shape[-3] * x.shape[-1]])
    return Program.now().op(f"attn.merge_heads {x.value} : {x.type} -> {type}", type, "merged")


def rope(x, cos, sin, positions=None, interleaved=False):
    """Rotary position embedding; row p of cos and sin is position p."""
    x, cos, sin = floats("rope", x, (2, 3, 4)), floats("rope", cos, (2,)), floats("rope", sin, (2,))
    features, columns = x.shape[-1], cos.shape[1]
    if not isinstance(columns, int) or not isinstance(features, int) or features < 2 * columns or str(cos.type) != str(sin.type):
        refuse(f"rope: expected cos and sin of one type, with a known number of columns that x has at least twice as many features as, but got "
               f"{shown(x)}, {shown(cos)} and {shown(sin)}")
    at = ""
    if positions is not None:
        positions = tensor(positions, "positions")
        if positions.dtype not in ("i32", "i64"):
            refuse(f"rope: expected positions of i32 or i64, but got {shown(positions)}")
        at = f" at {positions.value} : {positions.type}"
    text = f"attn.rope {x.value}, {cos.value}, {sin.value}{' interleaved' if interleaved else ''}{at} : {x.type}, {cos.type}"
    return Program.now().op(text, x.type, "rotated")


def rms_norm(x, weight=None, eps=1e-6):
    """x / sqrt(mean(x^2) + eps) * weight, along the last dimension."""
    x = floats("rms_norm", x, (2, 3, 4))
    more, types = "", ""
    if weight is not None:
        weight = row("rms_norm", "weight", weight, x.dtype, x.shape[-1])
        more, types = f", {weight.value}", f", {weight.type}"
    text = f"attn.rms_norm {x.value}{more} eps {_emit.float_text(float(eps), 'f64')} : {x.type}{types}"
    return Program.now().op(text, x.type, "normal")


def layer_norm(x, weight=None, bias=None, eps=1e-5):
    """(x - mean) / sqrt(variance + eps) * weight + bias, along the last
    dimension."""
    x = floats("layer_norm", x, (2, 3, 4))
    if weight is None and bias is not None:
        return layer_norm(x, eps=eps) + row("layer_norm", "bias", bias, x.dtype, x.shape[-1])
    operands = [x] + [row("layer_norm", name, each, x.dtype, x.shape[-1]) for name, each in (("weight", weight), ("bias", bias))
                      if each is not None]
    text = f"attn.layer_norm {', '.join(o.value for o in operands)} eps {_emit.float_text(float(eps), 'f64')}"
    return Program.now().op(f"{text} : {', '.join(str(o.type) for o in operands)}", x.type, "normal")


def gelu(x, approximate="none"):
    """x times the normal distribution's share below x; approximate="tanh" is
    what some models compute instead."""
    x = tensor(x, "x")
    if approximate == "tanh":
        near = x
        if x.dtype == "f16" and not x.is_scores:  # tanh has ended long before x * x does, whose slope would be infinite
            near = elementwise("minimum", elementwise("maximum", x, -16.0), 16.0)
        return x * 0.5 * (function_of("tanh", (near + near * near * near * 0.044715) * (2 / math.pi) ** 0.5) + 1.0)
    if approximate != "none":
        refuse(f"gelu: expected 'none' or 'tanh', but got {approximate!r}")
    return x * 0.5 * (function_of("erf", x * 0.5**0.5) + 1.0)


def silu(x):
    """x / (1 + exp(-x))."""
    x = tensor(x, "x")
    return x / (function_of("exp", -x) + 1.0)


def relu(x):
    """x, or 0 where it is below."""
    return elementwise("maximum", tensor(x, "x"), 0.0)


def subtract_weights(first, second, factor):
    """first - factor * second: differential attention. `factor` is a tensor of
    one number, or of one per head."""
    first, second, factor = tensor(first, "first"), tensor(second, "second"), tensor(factor, "factor")
    if first.stage != "weights" or second.stage != "weights" or str(first.type) != str(second.type):
        refuse(f"subtract_weights: expected weights of attn.softmax or attn.sigmoid of one type, but got {shown(first)} and {shown(second)}")
    if factor.ndim:
        row("subtract_weights", "factor", factor, first.dtype, 1, _heads(first))
    text = f"attn.subtract_weights {first.value}, {second.value} by {factor.value} : {first.type}, {factor.type}"
    return _weights(text, first.type, "difference")


def tensor_function(name):
    """exp and the like: of traced tensors, of traced scalars, of numbers."""
    scalar = FUNCTIONS[name]
    of_tensors = {"where": where, "abs": absolute}.get(name, functools.partial(function_of, name))

    @functools.wraps(scalar)
    def call(*values):
        if not any(isinstance(value, Tensor) for value in values):
            return scalar(*values)
        if name not in ("minimum", "maximum"):
            return called(name, of_tensors, values, {})
        return functools.reduce(functools.partial(elementwise, name), values)

    return call


def _names_of_sizes(type):
    """The attribute by which sizes of one name are compared when the kernel runs."""
    names = [size if isinstance(size, str) else "" for size in type.shape]
    return f" {{attn.sizes = [{', '.join(json.dumps(name) for name in names)}]}}" if any(names) else ""


class Function:
    """A traced function. Call it with arrays, as a Kernel; it is compiled at
    the first call. `mlir` is its specification."""

    def __init__(self, function, name=None, target="native"):
        functools.update_wrapper(self, function)
        self._target = target
        plain = _plain(function)
        called = plain.__name__ if plain.__name__ != "__call__" else type(function).__name__
        self._name = re.sub(r"\W", "_", name or called, flags=re.ASCII).strip("_") or "traced"  # C calls nothing <lambda> or _f
        self.mlir, self._bound = self._trace(function)

    def __reduce__(self):
        return self.__qualname__  # as a function: where it is defined

    def _trace(self, function):
        arguments, by_name = self._arguments(function)
        tensors = {n: Tensor(f"%{n}", t) for n, t in arguments}
        program = Program(list(tensors.values()))
        Program.active.append(program)
        try:
            results = function(*(x for n, x in tensors.items() if n not in by_name), **{n: tensors[n] for n in by_name})
        except IndexError as error:  # NumPy's, for an array of the closure
            last = traceback.extract_tb(error.__traceback__)[-1]
            raise Error(f"{last.filename}:{last.lineno}: {error}; an array is looked up in by attn.take(array, ids)") from None
        except TypeError as error:  # NumPy's, for a size, which it takes for text
            if "arange" not in str(error) or "StrDType" not in str(error):
                raise
            last = traceback.extract_tb(error.__traceback__)[-1]
            raise Error(f"{last.filename}:{last.lineno}: np.arange knows no size that a call chooses; write attn.arange(n)") from None
        finally:
            Program.active.pop()
        program.check_attention()
        results = results if isinstance(results, (tuple, list)) else (results,)
        if not results or not all(isinstance(r, Tensor) for r in results):
            raise Error(f"{_place(function)}: {self._name} returns a tensor or several, but this one returned "
                        f"{', '.join(type(r).__name__ for r in results)}")
        if any(r.ndim > 6 for r in results):
            raise Error(f"{_place(function)}: {self._name} returns tensors of at most 6 dimensions, but this one returned "
                        f"{', '.join(shown(r) for r in results if r.ndim > 6)}")
        types = [str(r.type) for r in results]
        given = [f"%{n}: {t}{_names_of_sizes(t)}" for n, t in arguments] + [f"%{n}: {t}" for n, t, _ in program.list]
        lines = [f"func.func @{self._name}({', '.join(given)}) -> {types[0] if len(types) == 1 else '(' + ', '.join(types) + ')'} "
                 f"{'attributes {attn.dropout} ' * program.drops}{{"]
        lines += [f"  {line}" for line in program.constants + program.lines]
        lines += [f"  return {', '.join(r.value for r in results)} : {', '.join(types)}", "}", ""]
        return "\n".join(lines), {n: a for n, _, a in program.list}

    def _arguments(self, function):
        """Names and types, and the names that are passed as such. What has a default and no type keeps its default."""
        arguments, by_name, has_default = [], [], False
        given = function.keywords if isinstance(function, functools.partial) else ()
        plain = _plain(function)
        for name, parameter in inspect.signature(function).parameters.items():
            if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
                raise TypeError(f"{self._name}: expected arguments that have names each, but got {parameter}")
            type = _evaluated(plain.__annotations__.get(name), plain)
            if name in given or not isinstance(type, (TensorType, str)) and parameter.default is not parameter.empty:
                has_default = True
                continue
            if name == "self" and type is None:
                raise _Unbound(f"{self._name}: argument self needs no type, but an object; write attn.function(x.{self._name})")
            if not isinstance(type, TensorType):
                raise TypeError(f"{self._name}: argument {name} needs a type, such as {name}: attn.f32[\"n\", 64]"
                                + (f", but got {type!r}" if type is not None else ""))
            wrong = [size for size in type.shape if isinstance(size, str) and not (size.isidentifier() and size.isascii())]
            if wrong:
                raise TypeError(f"{self._name}: argument {name} has a size {str(wrong[0])!r}, but sizes of arguments are numbers or names of "
                                "letters from a to z, digits and _")
            if not name.isascii():
                raise TypeError(f"{self._name}: argument {name} has a name that C lacks; names are of letters from a to z, digits and _")
            arguments.append((name, type))
            if has_default or parameter.kind is parameter.KEYWORD_ONLY:
                by_name.append(name)
        return arguments, by_name

    @functools.cached_property
    def kernel(self):
        kernel = _driver.load(Kernel, self.mlir, self._name, [f"--target={self._target}"])
        return _attention.Attention(kernel, self._bound) if self._bound else kernel

    def __call__(self, *arrays, out=None, threads=0, **named):
        if Program.active and any(isinstance(x, Tensor) for x in [*arrays, *named.values()]):
            return self._inlined(arrays, named)
        return self.kernel(*arrays, out=out, threads=threads, **named)

    def _inlined(self, arrays, named):
        """The results in the function that is traced now, of which this one becomes part."""
        function = self.__wrapped__() if isinstance(self.__wrapped__, weakref.WeakMethod) else self.__wrapped__
        values = inspect.signature(function).bind(*arrays, **named)
        for name, type in self._arguments(function)[0]:
            given = tensor(values.arguments[name], name)
            if given.dtype != type.dtype or given.ndim != len(type.shape) or any(map(_differ, given.shape, type.shape)):
                refuse(f"{self._name}: expected {name}: {shown(type)}, but got {shown(given)}")
            values.arguments[name] = given
        return function(*values.args, **values.kwargs)

    def explain(self, **sizes):
        """As Kernel.explain."""
        return self.kernel.explain(**sizes)

    def show(self, *arrays, tokens=None, keys=None, title=None, batch=0, **named):
        """As Kernel.show."""
        return self.kernel.show(*arrays, tokens=tokens, keys=keys, title=title, batch=batch, **named)

    def __repr__(self):
        return f"<attn function {self._name}>"


def _plain(function):
    """What was written with def, of a method, an object that is called, or functools.partial."""
    while isinstance(function, functools.partial):
        function = function.func
    function = getattr(function, "__func__", function)
    return function if hasattr(function, "__code__") else getattr(type(function).__call__, "__func__", type(function).__call__)


def _place(function):
    code = _plain(function).__code__
    return f"{code.co_filename}:{code.co_firstlineno}"


class _Unbound(TypeError):
    """A method as it stands in its class."""


class _Method:
    """attn.function of a method: each object has a function of its own, traced with what it holds when it is first called."""

    def __init__(self, function, *more):
        functools.update_wrapper(self, function)
        self._more, self._of = more, weakref.WeakKeyDictionary()

    def __get__(self, owner, kind=None):
        if owner is None:
            return self
        try:
            made = self._of.get(owner)
        except TypeError:  # no hash, as of a dataclass: traced at each call, and compiled once
            return Function(self.__wrapped__.__get__(owner), *self._more)
        if made is None:
            made = self._of[owner] = Function(self.__wrapped__.__get__(owner), *self._more)
            made.__wrapped__ = weakref.WeakMethod(made.__wrapped__)  # or the table would keep its own key
        return made

    def __call__(self, owner, *arrays, **named):
        return self.__get__(owner)(*arrays, **named)


def _evaluated(annotation, function):
    """An annotation, which may be text, as all are with `from __future__ import annotations`; what is none stays text."""
    if not isinstance(annotation, str):
        return annotation
    try:
        return eval(annotation, function.__globals__)  # as inspect.get_annotations does
    except (NameError, SyntaxError, AttributeError):
        return annotation


def function(function=None, *, name=None, target="native"):
    """Traces a function over tensors, whose arguments are annotated with types:
    see this module. Returns a Function."""
    if function is None:
        return lambda f: _traced(f, name, target)
    return _traced(function, name, target)


def _traced(function, name, target):
    try:
        return Function(function, name, target)
    except _Unbound:
        return _Method(function, name, target)

