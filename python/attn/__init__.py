# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attention in Python, compiled ahead of time by attn-opt.

    import attn

    causal = attn.attention(attn.causal(), heads=8, dim=64)
    out = causal(q, k, v)

    out = attn.flex_attention(q, k, v, score_mod=lambda s, b, h, i, j: s - 0.1 * abs(i - j))

    kernel = attn.compile("examples/causal.mlir")
"""
from ._arrays import bias
from ._attention import Attention, attention, flex_attention
from ._call import Argument, Error
from ._capture import array, constant
from ._composed import arange
from ._driver import cache_folder, clear_cache
from ._gradient import value_and_grad
from ._graph import (Function, alibi, context, dropout, function, gelu, layer_norm, mask, merge_heads, project, relu, rms_norm, rope,
                     scores, sigmoid, silu, softcap, softmax, split_heads, subtract_weights, tensor_function as _tensor_function)
from ._kernel import Kernel, compile
from ._lab import Picture
from ._masks import (Mask, allowed, block, causal, chunked, dilated, document, key_length, mask_function, prefix, sink, tree,
                     window)
from ._parts import take
from ._products import matmul
from ._reductions import max, mean, min, std, sum, var
from ._tensor import ElementType, Tensor, TensorType, bf16, f16, f32, f64, i1, i32, i64, score_mod
from ._trace import FUNCTIONS as _FUNCTIONS
from ._views import concat, expand_dims, reshape, swapaxes, transpose

globals().update({_name: _tensor_function(_name) for _name in _FUNCTIONS})

__version__ = "0.1.0"
__all__ = [
    "Argument", "Attention", "ElementType", "Error", "Function", "Kernel", "Mask", "Picture", "Tensor", "TensorType",
    "alibi", "allowed", "arange", "array", "attention", "bf16", "bias", "block", "cache_folder", "causal", "chunked", "clear_cache",
    "compile", "concat", "constant", "context", "dilated", "document", "dropout", "expand_dims", "f16", "f32", "f64", "flex_attention", "function",
    "gelu", "i1", "i32", "i64", "key_length", "layer_norm", "mask", "mask_function", "matmul", "max", "mean", "merge_heads", "min", "prefix", "project",
    "relu", "reshape", "rms_norm", "rope", "score_mod", "scores", "sigmoid", "silu", "sink", "softcap", "softmax", "split_heads",
    "std", "subtract_weights", "sum", "swapaxes", "take", "transpose", "tree", "value_and_grad", "var", "window", *_FUNCTIONS,
]
