# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attention of opset 25 in float64, step by step as its text has them, and models of one node."""
import numpy as np
import onnx
from onnx import TensorProto, helper

INF = np.inf
TYPES = {"float32": TensorProto.FLOAT, "float64": TensorProto.DOUBLE, "float16": TensorProto.FLOAT16, "bfloat16": TensorProto.BFLOAT16,
         "bool": TensorProto.BOOL, "int64": TensorProto.INT64}
INPUTS = ["Q", "K", "V", "attn_mask", "past_key", "past_value", "nonpad_kv_seqlen"]
OUTPUTS = ["Y", "present_key", "present_value", "qk_matmul_output"]


def split(x, heads):
    """(B, S, H*D) as (B, H, S, D)."""
    batch, length, features = x.shape
    return x.reshape(batch, length, heads, features // heads).transpose(0, 2, 1, 3)


def bias_of(arrays, attributes, shape, past):
    """What is added to scores of `shape`: 0, -inf and a mask of numbers."""
    batch, _, queries, keys = shape
    bias = np.zeros(shape)
    mask = arrays.get("attn_mask")
    if mask is not None:
        added = np.where(mask, 0.0, -INF) if mask.dtype == bool else mask.astype(np.float64)
        missing = keys - added.shape[-1]
        added = np.pad(added, [(0, 0)] * (added.ndim - 1) + [(0, missing)], constant_values=-INF)
        bias = bias + added
    lengths = arrays.get("nonpad_kv_seqlen")
    offset = np.full(batch, past) if lengths is None else lengths - queries
    i = np.arange(queries)[None, None, :, None] + offset[:, None, None, None]
    j = np.arange(keys)[None, None, None, :]
    seen = np.ones((batch, 1, queries, keys), bool)
    if attributes.get("is_causal"):
        seen &= j <= i
    if attributes.get("left_window_size", -1) >= 0:
        seen &= j >= i - attributes["left_window_size"]
    if attributes.get("right_window_size", -1) >= 0:
        seen &= j <= i + attributes["right_window_size"]
    if lengths is not None:
        seen &= j < lengths[:, None, None, None]
    return bias + np.where(seen, 0.0, -INF)


def attention(arrays, attributes):
    """All outputs by name."""
    q, k, v = (arrays[name].astype(np.float64) for name in "QKV")
    joined = q.ndim == 3
    if joined:
        q = split(q, attributes["q_num_heads"])
        k, v = split(k, attributes["kv_num_heads"]), split(v, attributes["kv_num_heads"])
    past = 0
    if "past_key" in arrays:
        past = arrays["past_key"].shape[2]
        k = np.concatenate([arrays["past_key"].astype(np.float64), k], 2)
        v = np.concatenate([arrays["past_value"].astype(np.float64), v], 2)
    results = {"present_key": k, "present_value": v}
    group = q.shape[1] // k.shape[1]
    k, v = np.repeat(k, group, 1), np.repeat(v, group, 1)
    with np.errstate(invalid="ignore", over="ignore"):
        root = np.sqrt(np.float64(attributes.get("scale", q.shape[3] ** -0.5)))
        stages = [(q * root) @ (k * root).transpose(0, 1, 3, 2)]
        cap = attributes.get("softcap", 0)
        stages.append(cap * np.tanh(stages[0] / cap) if cap else stages[0])
        bias = bias_of(arrays, attributes, stages[1].shape, past)
        stages.append(stages[1] + bias)
        top = stages[2].max(-1, keepdims=True, initial=-INF)
        weights = np.exp(stages[2] - np.where(np.isneginf(top), 0, top))
        weights = weights / weights.sum(-1, keepdims=True)
        stages.append(np.where(np.isneginf(bias).all(-1, keepdims=True), 0.0, weights))
        out = stages[3] @ v
    if joined:
        out = out.transpose(0, 2, 1, 3).reshape(out.shape[0], out.shape[2], -1)
    results.update(Y=out, qk_matmul_output=stages[attributes.get("qk_matmul_output_mode", 0)])
    return results


def model(arrays, attributes, outputs=("Y",), opset=25, shapes=None):
    """A model of one Attention with the types of `arrays`; `shapes` may name sizes."""
    def info(name):
        array = arrays[name]
        return helper.make_tensor_value_info(name, TYPES[array.dtype.name], (shapes or {}).get(name, array.shape))
    last = max(INPUTS.index(name) for name in arrays)
    results = attention({name: np.zeros(a.shape, a.dtype) for name, a in arrays.items()}, attributes)
    kind = TYPES[arrays["Q"].dtype.name]
    value = TYPES[arrays["V"].dtype.name]
    declared = [helper.make_tensor_value_info(name, value if name == "present_value" else kind, [None] * results[name].ndim) for name in outputs]
    node = helper.make_node("Attention", [name if name in arrays else "" for name in INPUTS[:last + 1]],
                            [name if name in outputs else "" for name in OUTPUTS[:max(map(OUTPUTS.index, outputs)) + 1]], name="attention", **attributes)
    graph = helper.make_graph([node], "one", [info(name) for name in INPUTS if name in arrays], declared)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)
