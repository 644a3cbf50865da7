# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels in PyTorch: operators that `torch.compile` keeps as one call.

    import attn.torch

    out = attn.torch.sdpa(q, k, v, is_causal=True)

    window = attn.torch.operator(attn.attention(attn.causal() & attn.window(left=1023), heads=8, dim=64))
    out = torch.compile(lambda q, k, v: window(q, k, v) * 2)(q, k, v)

Tensors are in the processor's memory and are read in place. Both are part of
autograd: where a tensor requires a gradient, the kernel's own gradient is
compiled, and `loss.backward()` calls it.
"""
import functools
import math
import numbers

import numpy as np
import torch
from torch.autograd import forward_ad

from . import _attention, _autograd, _gradient, _masks
from ._autograd import library
from ._call import _spelled


def _tensor_of(array):
    """A captured array, whose memory the tensor shares where PyTorch can say so."""
    if isinstance(array, torch.Tensor):
        return array
    array = np.asarray(array)
    if any(stride < 0 for stride in array.strides):
        array = array.copy()
    if _spelled(array.dtype) == "bf16":
        return torch.from_numpy(array.view(np.int16)).view(torch.bfloat16)
    return torch.from_numpy(array)


def _refuse_forward_mode(tensors):
    """Operators have gradients in reverse mode; of others, autograd would take their tangents for 0."""
    if torch.compiler.is_compiling():
        return
    if any(forward_ad.unpack_dual(t).tangent is not None for t in tensors if t is not None):
        raise NotImplementedError("attn: kernels have no derivative in forward mode (torch.func.jvp, jacfwd, dual tensors); "
                                  "use reverse mode")


class Operator:
    """What `operator` returns. A pickled one is what it was made of."""

    def __init__(self, source):
        self._source, kernel, bound = source, source, {}
        while hasattr(kernel, "kernel"):
            bound.update(getattr(kernel, "_bound", {}))
            kernel = kernel.kernel
        self._kernel, self._defined = kernel, _autograd.define(kernel)
        self._tail = {name: _tensor_of(array) for name, array in bound.items()}
        self._names, self._count = [a.name for a in kernel.arguments], len(kernel.results)
        self._open = [n for n in self._names if n not in self._tail]
        self._absent = {a.name: None for a in kernel.arguments if a.optional and a.name not in self._tail}
        self._numbers = {a.name: _autograd.TYPES[a.dtype] for a in kernel.arguments if not a.shape}
        self.__name__, self.__doc__ = kernel.name, f"Runs {kernel!r}"

    def __reduce__(self):
        return Operator, (self._source,)

    def __call__(self, *tensors, **named):
        given = dict(zip(self._open, tensors)) | named
        twice = len(given) != len(tensors) + len(named)
        given = self._absent | given
        if twice or set(given) != set(self._open):
            raise TypeError(f"{self.__name__} takes {', '.join(self._open)}, each once, but got {len(tensors)} tensors"
                            + f" and {', '.join(named)}" * bool(named))
        tensors = [self._tail[n] if n in self._tail else self._tensor(n, given[n]) for n in self._names]
        _refuse_forward_mode(tensors)
        wrt = tuple(n for n, t in zip(self._names, tensors) if t is not None and t.requires_grad) if torch.is_grad_enabled() else ()
        if not wrt:
            return self._defined(*tensors)
        results = _autograd.call(getattr(torch.ops.attn, _autograd.differentiable(self._kernel, wrt)), *tensors)
        if isinstance(results, torch.Tensor):  # no residuals
            return results
        return results[0] if self._count == 1 else results[:self._count]

    def _tensor(self, name, value):
        if value is None or isinstance(value, torch.Tensor):
            return value
        if isinstance(value, numbers.Real) and name in self._numbers:
            return torch.tensor(value, dtype=self._numbers[name])
        raise TypeError(f"{name}: expected a tensor, but got {type(value).__name__}")


def operator(kernel):
    """A function of tensors that runs `kernel`, a Kernel, an Attention, or what
    `attn.function` returns, and that torch.compile keeps as one call. Arrays
    that a mask or score function reads are part of it. Its gradient is compiled
    when a tensor requires one first."""
    return Operator(kernel)


# --- scaled dot-product attention ---


@functools.lru_cache(256)
def _kernel_of(rank, heads, dims, dtype, mask, is_causal, scale, dropout):
    """The kernel for tensors like these; `mask` is None or the element type and
    the sizes of a mask, where sizes that are not 1 are open."""
    problem = _attention.Problem(heads, dims[0], dtype, dims[1], rank=rank)
    given = bias = None
    if mask is not None:
        stand_in = torch.empty([2 if s is None else s for s in mask[1]], dtype=mask[0])
        given, bias = (_masks.allowed(stand_in), None) if mask[0] == torch.bool else (None, stand_in)
    if is_causal:
        given = _masks.causal() if given is None else given & _masks.causal()
    return _attention._make(problem, given, bias=bias, scale=scale, name="sdpa", dropout=dropout).kernel


def _check_sdpa(query, key, value, attn_mask, dropout_p, is_causal, enable_gqa):
    for name, tensor in (("query", query), ("key", key), ("value", value), ("attn_mask", attn_mask)):
        if tensor is None and name == "attn_mask":
            continue
        if not isinstance(tensor, torch.Tensor):
            raise TypeError(f"{name}: expected a tensor, but got {type(tensor).__name__}")
        if tensor.device.type != "cpu":
            raise ValueError(f"{name}: is in the memory of the device {tensor.device}, and the kernel runs on the processor")
    if not 0 <= dropout_p < 1:
        raise ValueError(f"dropout_p: expected a probability of at least 0 and below 1, but got {dropout_p}")
    if is_causal and attn_mask is not None:
        raise ValueError("attn_mask, is_causal: PyTorch allows one of them")
    if attn_mask is not None and attn_mask.dtype != torch.bool and not attn_mask.is_floating_point():
        raise TypeError(f"attn_mask: expected truth values or floats, but got {attn_mask.dtype}")
    if query.dim() not in (2, 3, 4) or key.dim() != query.dim() or value.dim() != query.dim():
        raise ValueError(f"query, key, value: expected the same number of dimensions, 2 to 4, but got {query.dim()}, {key.dim()} "
                         f"and {value.dim()}")
    for name, tensor in (("query", query), ("key", key), ("value", value)):
        if tensor.dtype not in (torch.float16, torch.bfloat16, torch.float32, torch.float64):
            raise TypeError(f"{name}: expected floats, but got {tensor.dtype}")
        if tensor.dtype != query.dtype:
            raise TypeError(f"{name}: expected {query.dtype}, as query has, but got {tensor.dtype}")
    if query.dim() > 2 and enable_gqa and key.shape[-3] and query.shape[-3] % key.shape[-3]:
        raise ValueError(f"query: expected heads that are a multiple of the key's {key.shape[-3]}, but got {query.shape[-3]}")
    scores = (*query.shape[:-1], key.shape[-2])
    if attn_mask is not None and (attn_mask.dim() > len(scores) or any(
            size not in (1, whole) for size, whole in zip(attn_mask.shape[::-1], scores[::-1]))):
        raise ValueError(f"attn_mask: expected a shape that broadcasts to the scores' {tuple(scores)}, but got {tuple(attn_mask.shape)}")
    if query.dim() > 2 and query.shape[-3] != key.shape[-3] and not enable_gqa:
        raise ValueError(f"key: expected {query.shape[-3]} heads, as query has, but got {key.shape[-3]}; enable_gqa=True lets heads share keys")


def _cast_by_autocast(*tensors):
    if not torch.is_autocast_enabled("cpu"):
        return tensors
    dtype = torch.get_autocast_dtype("cpu")
    return [t.to(dtype) if isinstance(t, torch.Tensor) and t.is_floating_point() and t.dtype != torch.float64 else t for t in tensors]


def sdpa(query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None, enable_gqa=False):
    """torch.nn.functional.scaled_dot_product_attention by a compiled kernel.

    Tensors are (.., S, D) with up to 4 dimensions, of float32, float64, float16
    or bfloat16. `attn_mask` is boolean, true where a key is seen, or is added
    to the scores; it broadcasts to them. `is_causal` counts from the first key.
    A query that sees no key gets 0. `dropout_p` is the share of weights that are
    dropped; which ones, says a seed that PyTorch's generator draws, so that
    `torch.manual_seed` repeats them. Each probability is a kernel of its own.
    `torch.autocast` casts queries, keys and values, as it does for PyTorch's own."""
    query, key, value = _cast_by_autocast(query, key, value)
    _check_sdpa(query, key, value, attn_mask, dropout_p, is_causal, enable_gqa)
    tensors = {"q": query, "k": key, "v": value, "bias": attn_mask}
    _refuse_forward_mode(tensors.values())
    wrt = " ".join(n for n, t in tensors.items() if t is not None and t.requires_grad) if torch.is_grad_enabled() else ""
    seed = torch.randint(0, 2**63 - 1, (), dtype=torch.int64) if dropout_p else None
    arguments = query, key, value, attn_mask, seed, is_causal, scale, float(dropout_p)
    if wrt:
        return _autograd.call(torch.ops.attn.sdpa_forward, *arguments, wrt)[0]
    return torch.ops.attn.sdpa(*arguments)  # tracers and vmap see an operator


def _prepare(query, key, value, attn_mask, seed, is_causal, scale, dropout):
    """The kernel, and its arguments."""
    rank = query.dim()
    heads = None if rank == 2 else (int(query.shape[-3]), int(key.shape[-3]))
    mask = None
    if attn_mask is not None:
        if attn_mask.dtype not in (torch.bool, torch.float64 if query.dtype == torch.float64 else torch.float32):
            attn_mask = attn_mask.to(torch.float64 if query.dtype == torch.float64 else torch.float32)
        mask = attn_mask.dtype, tuple(1 if s == 1 else None for s in attn_mask.shape)
    scale = 1 / math.sqrt(query.shape[-1]) if scale is None else float(scale)
    kernel = _kernel_of(rank, heads, (int(query.shape[-1]), int(value.shape[-1])), _spelled(query.dtype), mask, is_causal, scale, dropout)
    return kernel, tuple(t for t in (query, key, value, attn_mask, seed) if t is not None)


_ARGUMENTS = "Tensor query, Tensor key, Tensor value, Tensor? attn_mask, Tensor? seed, bool is_causal, float? scale, float dropout"
library.define(f"sdpa({_ARGUMENTS}) -> Tensor")


def _sdpa_below_autograd(*arguments):
    kernel, tensors = _prepare(*arguments)
    with torch.no_grad():
        return kernel(*tensors)


def _sdpa_fake(query, key, value, *_):
    return query.new_empty([*query.shape[:-1], value.shape[-1]], dtype=value.dtype)


library.impl("sdpa", _sdpa_below_autograd, "CPU")
torch.library.register_fake("attn::sdpa", _sdpa_fake, lib=library)


def _learned(arguments, wrt):
    """What learns the arguments of the kernel that `wrt` names, and the kernel's arguments."""
    kernel, tensors = _prepare(*arguments)
    text, name, target, _ = _gradient.unwrap(kernel)
    return _autograd.learned(text, name, target, tuple(wrt.split())), tensors


def _sdpa_forward(*arguments):
    made, tensors = _learned(arguments[:-1], arguments[-1])
    return _autograd.run(made.pair.forward, tensors)


def _sdpa_forward_fake(*arguments):
    made, tensors = _learned(arguments[:-1], arguments[-1])
    return _autograd.empty_results(made.pair.forward, tensors)


def _sdpa_gradient(*arguments):
    attn_mask, (wrt, kept, cotangent) = arguments[3], arguments[-3:]
    made, tensors = _learned(arguments[:-3], wrt)
    found = _autograd.run(made.pair.gradient, made.operands(tensors, kept, [cotangent]))
    return [g.to(attn_mask.dtype) if n == "bias" else g for n, g in zip(wrt.split(), found)]


def _sdpa_gradient_fake(query, key, value, attn_mask, seed, is_causal, scale, dropout, wrt, kept, cotangent):
    tensors = {"q": query, "k": key, "v": value, "bias": attn_mask}
    return [torch.empty(tensors[n].shape, dtype=tensors[n].dtype) for n in wrt.split()]


def _sdpa_setup(ctx, inputs, output):
    ctx.save_for_backward(*inputs[:5], *output)
    ctx.rest = inputs[5:]
    ctx.mark_non_differentiable(*output[1:])


def _sdpa_backward(ctx, cotangents):
    saved = ctx.saved_tensors  # once: torch.utils.checkpoint computes them again
    inputs, kept = saved[:5], saved[5:]
    found = dict(zip(ctx.rest[-1].split(), _autograd.call(torch.ops.attn.sdpa_gradient, *inputs, *ctx.rest, list(kept), cotangents[0])))
    return (*(found[n] if n in found else None for n in ("q", "k", "v", "bias")), None, None, None, None, None)


library.define(f"sdpa_forward({_ARGUMENTS}, str wrt) -> Tensor[]")
library.define(f"sdpa_gradient({_ARGUMENTS}, str wrt, Tensor[] kept, Tensor cotangent) -> Tensor[]")
library.impl("sdpa_forward", _sdpa_forward, "CPU")
library.impl("sdpa_gradient", _sdpa_gradient, "CPU")
torch.library.register_fake("attn::sdpa_forward", _sdpa_forward_fake, lib=library)
torch.library.register_fake("attn::sdpa_gradient", _sdpa_gradient_fake, lib=library)
_autograd.add_gradient(torch.ops.attn.sdpa_forward, _sdpa_backward, _sdpa_setup)
_autograd.add_gradient(torch.ops.attn.sdpa_gradient)


def hugging_face_attention(module, query, key, value, attention_mask, scaling=None, dropout=0.0, is_causal=None, **_):
    """An attention function of the package transformers:

        transformers.AttentionInterface.register("attn", attn.torch.hugging_face_attention)
        model = transformers.AutoModel.from_config(config, attn_implementation="attn")

    Returns the context as (B, S, H, D), and no weights."""
    if is_causal is None:
        is_causal = query.shape[2] > 1 and attention_mask is None and getattr(module, "is_causal", True)
    mask = attention_mask if attention_mask is None else attention_mask[..., :key.shape[-2]]
    out = sdpa(query, key, value, mask, dropout, bool(is_causal), scaling, enable_gqa=True)
    return out.transpose(1, 2), None
