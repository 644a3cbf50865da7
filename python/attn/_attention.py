# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One attention: `attention`, for a kernel, and `flex_attention`, for a call."""
import functools
import math

import numpy as np

from . import _driver, _emit, _lab
from ._call import Error, _spelled, numpy_dtype
from ._capture import call_traced
from ._kernel import Kernel
from ._masks import Operands, as_mask
from ._trace import lift, refuse, to_float
from ._types import is_whole, known_type

_RESULTS = ("out", "lse", "weights", "scores")
_NORMALIZATIONS = ("softmax", "sigmoid")
_STAGES = ("raw", "scaled", "modified", "biased", "masked")


class Problem:
    """The shapes and types of an attention; lengths and batch size are open."""

    def __init__(self, heads, dim, dtype, value_dim=None, layout="bhsd", rank=None):
        pair = tuple(heads) if isinstance(heads, (tuple, list)) else (heads, heads)
        if len(pair) != 2 or heads is not None and not all(is_whole(n) and n >= 0 for n in pair):
            raise TypeError(f"heads: expected a number, or a pair of those of queries and of keys, but got {heads!r}")
        for name, size in (("dim", dim), ("value_dim", dim if value_dim is None else value_dim)):
            if not is_whole(size) or size < 0:
                raise TypeError(f"{name}: expected a whole number of at least 0, but got {size!r}")
        self.query_heads, self.key_heads = (n if n is None else int(n) for n in pair)
        if self.key_heads and self.query_heads % self.key_heads:
            raise ValueError(f"heads: expected query heads that are a multiple of the key heads, but got {pair}")
        self.dim, self.value_dim, self.dtype = int(dim), int(value_dim or dim), known_type(dtype) or dtype
        self.rank = rank or (2 if heads is None else 4)
        if self.dtype not in ("f16", "bf16", "f32", "f64"):
            raise TypeError(f"dtype: expected f16, bf16, f32 or f64, but got {dtype!r}")
        if layout not in ("bhsd", "bshd"):
            raise ValueError(f"layout: expected 'bhsd' or 'bshd', but got {layout!r}")
        self.layout = layout
        self.statistics = "f64" if self.dtype == "f64" else "f32"

    def _type(self, heads, last, element):
        inner = {2: ["?"], 3: [heads, "?"], 4: ["?", heads, "?"]}[self.rank]
        if self.layout == "bshd" and self.rank > 2:
            inner[-1], inner[-2] = inner[-2], inner[-1]
        return f"tensor<{'x'.join(map(str, [*inner, *last]))}x{element}>"

    def result_type(self, name):
        if name == "out":
            return self._type(self.query_heads, [self.value_dim], self.dtype)
        inner = {2: ["?"], 3: [self.query_heads, "?"], 4: ["?", self.query_heads, "?"]}[self.rank]
        return f"tensor<{'x'.join(map(str, inner))}{'x?' if name != 'lse' else ''}x{self.statistics}>"

    def query(self):
        return self._type(self.query_heads, [self.dim], self.dtype)

    def key(self):
        return self._type(self.key_heads, [self.dim], self.dtype)

    def value(self):
        return self._type(self.key_heads, [self.value_dim], self.dtype)


def score_region(function, operands, score):
    """The clause `score_mod` of a traced function."""
    inputs = _emit.score_inputs()
    result = to_float(lift(call_traced(function, inputs)))
    writer = _emit.Writer(inputs, operands.statistics)
    writer.find_captures(result)
    number = writer.write(result)
    names = ["%score", "%batch", "%head", "%query", "%key"]
    captured = [f"%c{i}" for i in range(len(writer.captured))]
    lines = [f"    {line}" for line in writer.region(names, captured)]
    values = names + captured + [f"%{i}" for i in range(len(writer.ops))]
    passed = []
    for name, c in zip(captured, writer.captured):
        value, type = operands.captured(c).split(" : ")
        passed.append(f"{name} = {value} : {type}")
    with_clause = f" with ({', '.join(passed)})" if passed else ""
    head = f"score_mod (%score: {score}, %batch, %head, %query, %key){with_clause} {{"
    return "\n".join([head, *lines, f"    attn.yield {values[number]} : {score}", "  }"])


def _floats(name, value, dtype):
    """An array that the kernel carries along, or the name of an argument: lists and NumPy's floats in the type that the kernel reads."""
    if value is None or isinstance(value, str):
        return value
    array = value if hasattr(value, "dtype") and hasattr(value, "shape") else np.asarray(value)
    is_list = array is not value and array.dtype.kind in "biuf"
    if is_list or isinstance(array, (np.ndarray, np.generic)) and _spelled(array.dtype) in ("f16", "bf16", "f32", "f64"):
        array = array.astype(numpy_dtype(dtype), copy=False)
    if _spelled(array.dtype) != dtype:
        raise TypeError(f"{name}: expected floats of {dtype}, but got {_spelled(array.dtype)}")
    return array


def write(problem, mask, score_mod, bias, scale, returns, scores_stage, sinks, normalization, name, dropout=0.0):
    """The specification's text and its operands."""
    operands = Operands(problem.rank, problem.statistics)
    bias, sinks = _floats("bias", bias, problem.statistics), _floats("sinks", sinks, problem.statistics)
    clauses = []
    if bias is not None:
        clauses.append("bias " + operands.tensor(bias, "bias", ("?",) * 2, problem.statistics))
    clauses.append(f"scale {_emit.float_text(scale, 'f64')}")
    if score_mod is not None:
        clauses.append(score_region(score_mod, operands, problem.statistics))
    if mask is not None:
        clauses.append("where " + as_mask(mask).text(operands))
    if sinks is not None:
        clauses.append("sinks " + operands.tensor(sinks, "sinks", (problem.query_heads or 1,), problem.statistics, fixed=True))
    if dropout:
        clauses.append(f"dropout {_emit.float_text(dropout, 'f64')} seed %seed : tensor<i64>")
    made = [r for r in _RESULTS if r in returns]
    if returns != ("out",):
        clauses.append(f"returning({', '.join(made)})")
    attributes = []
    if problem.layout == "bshd":
        attributes += [f"{n}_layout = #attn<layout bshd>" for n in ("query", "key", "value", "out")]
    if "scores" in returns:
        attributes.append(f"scores_stage = #attn<scores_stage {scores_stage}>")
    if normalization != "softmax":
        attributes.append(f"normalization = #attn<normalization {normalization}>")
    if attributes:
        clauses.append(f"{{{', '.join(attributes)}}}")
    types = [problem.query(), problem.key(), problem.value()]
    result_types = {r: problem.result_type(r) for r in returns}
    arguments = [f"%{n}: {t}" for n, t in zip("qkv", types)] + [f"%{n}: {t}" for n, t, _ in operands.list] + ["%seed: tensor<i64>"] * bool(dropout)

    def listed(names):
        return f"({', '.join(result_types[n] for n in names)})"

    lines = [f"func.func @{name}({', '.join(arguments)}) -> {listed(returns)} {'attributes {attn.dropout} ' * bool(dropout)}{{"]
    lines += [f"  {line}" for line in operands.constants]
    lines.append(f"  {', '.join(f'%{r}' for r in made)} = attn.sdpa %q, %k, %v {' '.join(clauses)}")
    lines.append(f"      : ({', '.join(types)}) -> {listed(made)}")
    lines += [f"  return {', '.join(f'%{r}' for r in returns)} : {', '.join(result_types.values())}", "}", ""]
    return "\n".join(lines), operands


def _is_traced(x):
    """Whether it is a tensor of a function that is traced now."""
    return hasattr(type(x), "as_scores")


class Attention:
    """A kernel with the arrays that its mask and score function read. Call it
    as a Kernel, with query, key and value, and the named arguments of the mask.

    `kernel` is the Kernel, which takes those arrays as arguments."""

    def __init__(self, kernel, bound, observe=None):
        self.kernel = kernel
        self._bound = bound
        self._observe = observe  # (stage) -> the same attention, which returns weights and the scores of a stage
        self._open = [a.name for a in kernel.arguments if a.name not in bound]
        self._tail = tuple(bound.values()) if [a.name for a in kernel.arguments[3:]] == list(bound) else None

    def __reduce__(self):
        return Attention, (self.kernel, self._bound)

    def __call__(self, *arrays, out=None, threads=0, **named):
        if self._tail is not None and len(arrays) == 3 and not named and not _is_traced(arrays[0]):
            return self.kernel(*arrays, *self._tail, out=out, threads=threads)
        if arrays and _is_traced(arrays[0]):
            return self._inlined(arrays, named)
        if len(arrays) > len(self._open):
            raise TypeError(f"{self.kernel.name} takes {len(self._open)} arguments ({', '.join(self._open)}), but got {len(arrays)}")
        given = dict(zip(self._open, arrays))
        for name, array in named.items():
            if name in given or name in self._bound:
                raise TypeError(f"{self.kernel.name} got {name!r} twice")
            given[name] = array
        return self.kernel(out=out, threads=threads, **given, **self._bound)

    def _inlined(self, tensors, named):
        if self._observe is None or named:
            refuse("expected query, key and value alone, of what attn.attention made; write attn.scores .. attn.context for others")
        from ._inline import attend  # which traces, for what this module is part of
        return attend(tensors, [r.name for r in self.kernel.results], **self._observe.keywords)

    def show(self, *arrays, tokens=None, keys=None, title=None, batch=0, **named):
        """A picture of one call: the weights and the five steps to them, with
        every number as kernels return it. A notebook shows it; `save(path)`
        writes the page. `tokens` are the labels of queries, and of keys unless
        `keys` are; `batch` is the batch entry that is shown."""
        if self._observe is None:
            given = dict(zip(self._open, arrays)) | named | self._bound
            return self.kernel.show(tokens=tokens, keys=keys, title=title, batch=batch, **given)
        if self._observe.keywords["sinks"] is not None:
            raise Error(f"{self.name}: this attention has sinks, which no picture shows")
        if self._observe.keywords["dropout"]:
            raise Error(f"{self.name}: this attention drops weights, which no picture shows")
        seen = {stage: self._observe(stage)(*arrays, **named) for stage in ("raw", "scaled", "masked")}
        first, problem = seen["masked"], self._observe.keywords["problem"]

        def one(array, heads_at=-3):
            array = _lab.entry(array, batch)
            return array.swapaxes(0, 1) if array.ndim == 3 and problem.layout == "bshd" and heads_at == -2 else array

        given = dict(zip(self._open, arrays)) | named
        query, key, value, out = (one(a, -2) for a in (given["q"], given["k"], given["v"], first.out))
        return _lab.Picture(_lab.describe(
            title=title or self.name, entry=self.name, query=query, key=key, value=value, out=out, weights=one(first.weights),
            scores=one(seen["raw"].scores), scaled=one(seen["scaled"].scores), masked=one(first.scores),
            scale=self._observe.keywords["scale"], normalization=self._observe.keywords["normalization"], queries=tokens,
            keys=keys or (tokens if tokens is not None and len(tokens) == key.shape[-2] else None), specification=self.mlir))

    def __getattr__(self, name):
        if name == "kernel":
            raise AttributeError(name)
        return getattr(self.kernel, name)

    def __repr__(self):
        return repr(self.kernel)


def _make(problem, mask=None, score_mod=None, bias=None, scale=None, returns="out", scores_stage="masked", sinks=None,
          normalization="softmax", name="attention", target="native", dropout=0.0):
    if not 0 <= dropout < 1:
        raise ValueError(f"dropout: expected a probability of at least 0 and below 1, but got {dropout}")
    returns = (returns,) if isinstance(returns, str) else tuple(returns)
    if not returns or any(r not in _RESULTS for r in returns) or "out" not in returns:
        raise ValueError(f"returns: expected 'out' and others of {', '.join(_RESULTS[1:])}, but got {returns}")
    if normalization not in _NORMALIZATIONS:
        raise ValueError(f"normalization: expected {' or '.join(_NORMALIZATIONS)}, but got {normalization!r}")
    if scores_stage not in _STAGES:
        raise ValueError(f"scores_stage: expected one of {', '.join(_STAGES)}, but got {scores_stage!r}")
    if len(set(returns)) < len(returns):
        raise ValueError(f"returns: expected each result once, but got {returns}")
    if not (name.isidentifier() and name.isascii()):
        raise ValueError(f"name: expected a name of Python and C, but got {name!r}")
    scale = 1 / math.sqrt(max(problem.dim, 1)) if scale is None else float(scale)
    same = dict(problem=problem, mask=mask, score_mod=score_mod, bias=bias, scale=scale, sinks=sinks, normalization=normalization, name=name, dropout=dropout)
    text, operands = write(**same, returns=returns, scores_stage=scores_stage)
    kernel = _driver.load(Kernel, text, name, [f"--target={target}"])
    observe = functools.partial(_observed, target=target, **same)
    return Attention(kernel, {n: a for n, _, a in operands.list if a is not None}, observe)


def _observed(stage, **same):
    return _make(returns=("out", "weights", "scores"), scores_stage=stage, **same)


def attention(mask=None, *, heads=None, dim, dtype="f32", value_dim=None, scale=None, score_mod=None, bias=None, sinks=None,
              returns="out", scores_stage="masked", normalization="softmax", layout="bhsd", name="attention", target="native", dropout=0.0):
    """Compiles one attention, for any batch size and any lengths.

    `heads` is a number, a pair of query and key heads, or None: then arrays are
    (Sq, D), (Skv, D) and (Skv, Dv). Otherwise they have the order of `layout`,
    (B, H, S, D) or (B, S, H, D). `dim` is D, `value_dim` Dv. `dtype` is f16,
    bf16, f32 or f64. `mask` is a mask or a function (batch, head, query, key)
    -> bool, `score_mod` a function (score, batch, head, query, key) -> score
    of the scaled score. `bias` is added to the scores, `sinks` has one more
    score per head; both have f32, or f64 where `dtype` is that, and lists and
    other floats of NumPy are copied as such. `scale` is 1 / sqrt(D) unless it
    is given. `normalization` is softmax or sigmoid. With a `dropout`, weights
    become 0 with this probability and the others grow by 1 / (1 - dropout), for
    training: the last argument, `seed`, an integer, says which; a negative one
    drops nothing. `returns` names results: out, lse (the natural logarithm of
    each row's sum), weights, scores.

        causal = attn.attention(attn.causal(), heads=(32, 8), dim=128, dtype="bf16")
        out = causal(q, k, v)
    """
    problem = Problem(heads, dim, dtype, value_dim, layout)
    return _make(problem, mask, score_mod, bias, scale, returns, scores_stage, sinks, normalization, name, target, dropout)


def flex_attention(query, key, value, score_mod=None, mask_mod=None, *, bias=None, scale=None, return_lse=False, out=None, threads=0):
    """Attention of arrays (B, H, S, D), (H, S, D) or (S, D), as FlexAttention
    writes it: `score_mod(score, batch, head, query, key)` changes each scaled
    score, `mask_mod(batch, head, query, key)`, or a mask, says who sees whom.
    With `return_lse` also each row's logarithm of the sum of exponentials.

    The kernel is compiled at the first call with these functions, types, heads
    and head dimensions, and serves every length."""
    for name, array in (("query", query), ("key", key), ("value", value)):
        if not hasattr(array, "shape") or not hasattr(array, "dtype"):
            raise TypeError(f"{name}: expected an array, but got {type(array).__name__}")
    rank = len(query.shape)
    if rank not in (2, 3, 4) or len(key.shape) != rank or len(value.shape) != rank:
        raise ValueError(f"query, key, value: expected 2, 3 or 4 dimensions each, but got {rank}, {len(key.shape)} and {len(value.shape)}")
    heads = None if rank == 2 else (int(query.shape[-3]), int(key.shape[-3]))
    if _is_traced(query):
        from ._inline import attend
        problem = Problem(heads, query.shape[-1], query.dtype, value.shape[-1], rank=rank)
        scale = 1 / math.sqrt(max(problem.dim, 1)) if scale is None else float(scale)
        return attend([query, key, value], ["lse"] if return_lse else ["out"], problem=problem, mask=None if mask_mod is None else as_mask(mask_mod),
                      score_mod=score_mod, bias=bias, scale=scale, sinks=None, normalization="softmax")
    problem = Problem(heads, int(query.shape[-1]), _spelled(query.dtype), int(value.shape[-1]), rank=rank)
    run = _make(problem, mask_mod, score_mod, bias, scale, ("out", "lse") if return_lse else "out")
    return run(query, key, value, out=out, threads=threads)

