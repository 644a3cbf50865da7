# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels in PyTorch: operators that `torch.compile` keeps as one call.

    import attn.torch

    out = attn.torch.sdpa(q, k, v, is_causal=True)

    window = attn.torch.operator(attn.attention(attn.causal() & attn.window(left=1023), heads=8, dim=64))
    out = torch.compile(lambda q, k, v: window(q, k, v) * 2)(q, k, v)

Tensors are in the processor's memory and are read in place. Gradients are not
computed yet: tensors that require them raise, unless torch.no_grad() holds.
"""
import functools
import hashlib
import math

import torch

from . import _attention, _masks
from ._call import _refuse_gradients, _spelled

_TYPES = {"f32": torch.float32, "f64": torch.float64, "f16": torch.float16, "bf16": torch.bfloat16, "i1": torch.bool,
          "i32": torch.int32, "i64": torch.int64}
_library = torch.library.Library("attn", "DEF")
_defined = {}


def _symbolic_shapes(kernel, tensors):
    """Shapes of results for tensors whose sizes may be symbols."""
    sizes = {}
    for port, tensor in zip(kernel.arguments, tensors):
        for name, size in zip(port.shape, tensor.shape):
            sizes.setdefault(name, size)
    return [[sizes[s] if isinstance(s, str) else s for s in r.shape] for r in kernel.results]


def _define(kernel):
    """The operator of a kernel, torch.ops.attn.NAME_HASH."""
    name = f"{kernel.name}_{hashlib.sha256(repr((kernel.mlir, kernel.library)).encode()).hexdigest()[:12]}"
    if name in _defined:
        return _defined[name]
    arguments = ", ".join(f"Tensor {a.name}" for a in kernel.arguments)
    results = ", ".join("Tensor" for _ in kernel.results)
    _library.define(f"{name}({arguments}) -> ({results})", tags=(torch.Tag.needs_fixed_stride_order,))

    def fake(*tensors):
        made = [tensors[0].new_empty(shape, dtype=_TYPES[r.dtype]) for shape, r in zip(_symbolic_shapes(kernel, tensors), kernel.results)]
        return made[0] if len(made) == 1 else tuple(made)

    def run(*tensors):
        with torch.no_grad():
            results = kernel(*tensors)
        return results if len(kernel.results) == 1 else tuple(results)

    _library.impl(name, run, "CPU")
    torch.library.register_fake(f"attn::{name}", fake, lib=_library)
    _defined[name] = getattr(torch.ops.attn, name)
    return _defined[name]


def operator(kernel):
    """A function of tensors that runs `kernel`, a Kernel, an Attention, or what
    `attn.function` returns, and that torch.compile keeps as one call. Arrays
    that a mask or score function reads are part of it."""
    bound = {}
    while hasattr(kernel, "kernel"):
        bound.update(getattr(kernel, "_bound", {}))
        kernel = kernel.kernel
    defined = _define(kernel)
    tail = {name: torch.as_tensor(array) for name, array in bound.items()}
    names = [a.name for a in kernel.arguments]

    def call(*tensors, **named):
        if named or tail:
            open_names = [n for n in names if n not in tail]
            given = dict(zip(open_names, tensors)) | named | tail
            tensors = [given[n] for n in names]
        for tensor, name in zip(tensors, names):
            _refuse_gradients(tensor, name)
        return defined(*tensors)

    call.__name__ = kernel.name
    call.__doc__ = f"Runs {kernel!r}"
    return call


# --- scaled dot-product attention ---


@functools.lru_cache(256)
def _kernel_of(rank, heads, dims, dtype, mask, is_causal, scale):
    """The kernel for tensors like these; `mask` is None or the element type and
    the sizes of a mask, where sizes that are not 1 are open."""
    problem = _attention.Problem(heads, dims[0], dtype, dims[1], rank=rank)
    given = bias = None
    if mask is not None:
        stand_in = torch.empty([2 if s is None else s for s in mask[1]], dtype=mask[0])
        given, bias = (_masks.allowed(stand_in), None) if mask[0] == torch.bool else (None, stand_in)
    if is_causal:
        given = _masks.causal() if given is None else given & _masks.causal()
    return _attention._make(problem, given, bias=bias, scale=scale, name="sdpa").kernel


def _check_sdpa(query, key, value, attn_mask, dropout_p, is_causal, enable_gqa):
    for name, tensor in (("query", query), ("key", key), ("value", value), ("attn_mask", attn_mask)):
        if tensor is None and name == "attn_mask":
            continue
        if not isinstance(tensor, torch.Tensor):
            raise TypeError(f"{name}: expected a tensor, but got {type(tensor).__name__}")
        if tensor.device.type != "cpu":
            raise ValueError(f"{name}: is in the memory of the device {tensor.device}, and the kernel runs on the processor")
        _refuse_gradients(tensor, name)
    if dropout_p:
        raise ValueError(f"dropout_p: kernels drop nothing, so it is 0, but got {dropout_p}")
    if is_causal and attn_mask is not None:
        raise ValueError("attn_mask, is_causal: PyTorch allows one of them")
    if query.dim() < 2 or key.dim() != query.dim() or value.dim() != query.dim():
        raise ValueError(f"query, key, value: expected the same number of dimensions, at least 2, but got {query.dim()}, {key.dim()} "
                         f"and {value.dim()}")
    if query.dim() > 2 and query.shape[-3] != key.shape[-3] and not enable_gqa:
        raise ValueError(f"key: expected {query.shape[-3]} heads, as query has, but got {key.shape[-3]}; enable_gqa=True lets heads share keys")


def sdpa(query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None, enable_gqa=False):
    """torch.nn.functional.scaled_dot_product_attention by a compiled kernel.

    Tensors are (.., S, D) with up to 4 dimensions, of float32, float64, float16
    or bfloat16. `attn_mask` is boolean, true where a key is seen, or is added
    to the scores; it broadcasts to them. `is_causal` counts from the first key.
    A query that sees no key gets 0. `dropout_p` is 0."""
    _check_sdpa(query, key, value, attn_mask, dropout_p, is_causal, enable_gqa)
    if torch.compiler.is_compiling():
        return torch.ops.attn.sdpa(query, key, value, attn_mask, is_causal, scale)
    return _sdpa(query, key, value, attn_mask, is_causal, scale)


def _sdpa(query, key, value, attn_mask, is_causal, scale):
    rank = query.dim()
    heads = None if rank == 2 else (query.shape[-3], key.shape[-3])
    mask = None
    if attn_mask is not None:
        if attn_mask.dtype not in (torch.bool, torch.float64 if query.dtype == torch.float64 else torch.float32):
            attn_mask = attn_mask.to(torch.float64 if query.dtype == torch.float64 else torch.float32)
        mask = attn_mask.dtype, tuple(1 if s == 1 else None for s in attn_mask.shape)
    scale = 1 / math.sqrt(query.shape[-1]) if scale is None else float(scale)
    kernel = _kernel_of(rank, heads, (query.shape[-1], value.shape[-1]), _spelled(query.dtype), mask, is_causal, scale)
    arguments = (query, key, value) if mask is None else (query, key, value, attn_mask)
    return kernel(*arguments)


_library.define("sdpa(Tensor query, Tensor key, Tensor value, Tensor? attn_mask, bool is_causal, float? scale) -> Tensor")


def _sdpa_below_autograd(*arguments):
    with torch.no_grad():
        return _sdpa(*arguments)


def _sdpa_fake(query, key, value, attn_mask, is_causal, scale):
    return query.new_empty([*query.shape[:-1], value.shape[-1]], dtype=value.dtype)


_library.impl("sdpa", _sdpa_below_autograd, "CPU")
torch.library.register_fake("attn::sdpa", _sdpa_fake, lib=_library)


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
