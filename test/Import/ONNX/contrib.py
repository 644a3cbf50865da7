# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operators of com.microsoft against their formulas in float64: attention, rotation, residual norms and activations.

Their own documentation is the source: biases, padding and packed inputs of MultiHeadAttention and Attention; caches written at each sequence's
length, rotation, sinks, softcap and windows of GroupQueryAttention."""
import math
import tempfile
import threading
import zlib

import numpy as np
from onnx import TensorProto, helper

import formula
from models import Program, compare, main

local = threading.local()  # numbers follow from the case alone
KINDS = {"float32": TensorProto.FLOAT, "int32": TensorProto.INT32, "int64": TensorProto.INT64}


def floats(*shape):
    return local.rng.normal(size=shape).astype(np.float32)


def model(operator, inputs, outputs, attributes):
    """`inputs` are (name, array or None) in order, `outputs` (name, rank)."""
    last = max(i for i, (_, a) in enumerate(inputs) if a is not None)
    node = helper.make_node(operator, [name if a is not None else "" for name, a in inputs[:last + 1]], [name for name, _ in outputs],
                            domain="com.microsoft", name="attention", **attributes)
    graph = helper.make_graph([node], "g", [helper.make_tensor_value_info(n, KINDS[a.dtype.name], a.shape) for n, a in inputs if a is not None],
                              [helper.make_tensor_value_info(n, TensorProto.FLOAT, [None] * rank) for n, rank in outputs if n])
    sets = [helper.make_opsetid("", 18), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=sets, ir_version=10)


def run(operator, inputs, outputs, attributes, want):
    with tempfile.TemporaryDirectory() as folder:
        program = Program(model(operator, inputs, outputs, attributes).SerializeToString(), folder)
        names = [name for name, _ in outputs if name]
        results = program([a for _, a in inputs if a is not None], names)
    for name in names:
        compare(name, results[name], want[name], (1e-4, 2e-6))


def multi_head(bias=None, padding=None, added=None, past=0, causal=False, kv_rank=3, scale=None, packed=0, sizes=(2, 4, 6, 3, 8, 5)):
    b, s, t, heads, d, dv = sizes
    q, k, v = floats(b, s, heads * d), floats(b, t, heads * d), floats(b, t, heads * dv)
    parts = [0.0, 0.0, 0.0] if bias is None else np.split(bias, [heads * d, 2 * heads * d])
    arrays = {n: formula.split(x + p, heads) for n, x, p in zip("QKV", (q, k, v), parts)}
    if kv_rank == 4:
        k, v = formula.split(k, heads), formula.split(v, heads)
    pasts = (floats(b, heads, past, d), floats(b, heads, past, dv)) if past else (None, None)
    if past:
        arrays["past_key"], arrays["past_value"] = pasts
    attributes = {"is_causal": int(causal), **({"scale": scale} if scale else {})}
    total = np.zeros((b, 1, s, t + past))
    if added is not None:
        total = total + added
    if padding is not None:
        seen = np.arange(t + past)[None] < padding[:, None] if padding.ndim == 1 else padding != 0
        total = total + np.where(seen.reshape(b, 1, -1, t + past), 0.0, -np.inf)
    arrays["attn_mask"] = total
    want = formula.attention(arrays, attributes)
    want["Y"] = want["Y"].transpose(0, 2, 1, 3).reshape(b, s, -1)
    outputs = [("Y", 3)] + ([("present_key", 4), ("present_value", 4)] if past else [])
    if packed:  # as many of the three as one input holds
        parts = [x.reshape(b, x.shape[1], heads, -1) for x in (q, k, v)]
        q, k, v = (np.stack(parts, 3), None, None) if packed == 3 else (q, np.stack(parts[1:], 3), None)
    inputs = [("q", q), ("k", k), ("v", v), ("bias", bias), ("padding", padding), ("added", added), ("pk", pasts[0]), ("pv", pasts[1])]
    run("MultiHeadAttention", inputs, outputs, {"num_heads": heads, "unidirectional": int(causal), **({"scale": scale} if scale else {})}, want)


def rotated(x, cos, sin, places, interleaved):
    """x is (B, H, S, D), places (B, S)."""
    r = cos.shape[1]
    c, s = cos[places][:, None], sin[places][:, None]
    out = x.astype(np.float64).copy()
    left, right = (slice(0, 2 * r, 2), slice(1, 2 * r, 2)) if interleaved else (slice(0, r), slice(r, 2 * r))
    out[..., left] = x[..., left] * c - x[..., right] * s
    out[..., right] = x[..., right] * c + x[..., left] * s
    return out


def group_query(s=4, past=None, room=0, lengths=None, packed=False, rotary=False, interleaved=False, sinks=None, smooth=False, softcap=0.0,
                window=-1, bias=False):
    b, heads, groups, d = 2, 4, 2, 8
    q, k, v = floats(b, s, heads * d), floats(b, s, groups * d), floats(b, s, groups * d)
    lengths = np.full(b, s, np.int32) if lengths is None else np.array(lengths, np.int32)
    begin = lengths - s if past else np.zeros(b, np.int32)
    cos, sin = floats(32, d // 2), floats(32, d // 2)
    q4, k4, v4 = formula.split(q, heads), formula.split(k, groups), formula.split(v, groups)
    if rotary:
        places = begin[:, None] + np.arange(s)
        q4, k4 = rotated(q4, cos, sin, places, interleaved), rotated(k4, cos, sin, places, interleaved)
    caches = (floats(b, groups, room, d), floats(b, groups, room, d)) if past else (None, None)
    keys, values = k4, v4
    if past:
        keys, values = (x.astype(np.float64).copy() for x in caches)
        for i in range(b):
            keys[i, :, begin[i]:lengths[i]], values[i, :, begin[i]:lengths[i]] = k4[i], v4[i]
    total = keys.shape[2]
    added = floats(b, 1, s, total) if bias else None
    scores = (q4 @ np.repeat(keys, 2, 1).transpose(0, 1, 3, 2)) / np.sqrt(d)
    scores = softcap * np.tanh(scores / softcap) if softcap else scores
    scores = scores + (added if bias else 0)
    i, j = begin[:, None, None, None] + np.arange(s)[None, None, :, None], np.arange(total)
    seen = (j <= i) & (j < lengths[:, None, None, None])
    if window > 0:
        seen &= j > i - window
    scores = np.where(seen, scores, -np.inf)
    more = sinks[None, :, None, None] if sinks is not None else np.zeros((1, 1, 1, 1)) if smooth else np.full((1, 1, 1, 1), -np.inf)
    weights = np.exp(scores) / (np.exp(scores).sum(-1, keepdims=True) + np.exp(more))
    y = np.nan_to_num(weights) @ np.repeat(values, 2, 1)
    want = {"Y": y.transpose(0, 2, 1, 3).reshape(b, s, -1), "present_key": keys, "present_value": values}
    if packed:
        inputs = [("q", np.concatenate([q, k, v], 2)), ("k", None), ("v", None)]
    else:
        inputs = [("q", q), ("k", k), ("v", v)]
    inputs += [("pk", caches[0]), ("pv", caches[1]), ("last", lengths - np.int32(1)), ("total", np.array(lengths.max(), np.int32)),
               ("cos", cos if rotary else None), ("sin", sin if rotary else None), ("places", None), ("bias", added), ("sinks", sinks)]
    attributes = {"num_heads": heads, "kv_num_heads": groups, "do_rotary": int(rotary), "rotary_interleaved": int(interleaved),
                  "smooth_softmax": int(smooth), "softcap": softcap, "local_window_size": window}
    run("GroupQueryAttention", inputs, [("Y", 3), ("present_key", 4), ("present_value", 4)], attributes, want)


def projected(bias=True, padding=None, past=0, causal=False, sizes=None, rows=4, batch=2):
    """Attention: one matrix for queries, keys and values."""
    heads, inner = 3, 10
    sizes = sizes or (24, 24, 24)
    x, w = floats(batch, rows, inner), floats(inner, sum(sizes))
    c = floats(sum(sizes)) if bias else None
    parts = np.split(x.astype(np.float64) @ w + (c if bias else 0), np.cumsum(sizes)[:2], 2)
    arrays = {n: formula.split(p, heads) for n, p in zip("QKV", parts)}
    before = floats(2, batch, heads, past, 8) if past else None
    if past:
        arrays["past_key"], arrays["past_value"] = before
    if padding is not None:
        arrays["attn_mask"] = np.where(padding.reshape(batch, 1, -1, rows + past) != 0, 0.0, -np.inf)
    want = formula.attention(arrays, {"is_causal": int(causal)})
    want["Y"] = want["Y"].transpose(0, 2, 1, 3).reshape(batch, rows, -1)
    if past:
        want["present"] = np.stack([want["present_key"], want["present_value"]])
    inputs = [("x", x), ("w", w), ("c", c), ("padding", padding), ("past", before)]
    run("Attention", inputs, [("Y", 3)] + [("present", 5)] * bool(past), {"num_heads": heads, "unidirectional": int(causal)}
        | ({"qkv_hidden_sizes": list(sizes)} if sizes != (24, 24, 24) else {}), want)


def rotary(interleaved=False, rank=4, one=False, rotated_size=8):
    b, heads, s, d = 2, 3, 4, 8
    x, cos, sin = floats(b, heads, s, d), floats(20, rotated_size // 2), floats(20, rotated_size // 2)
    places = np.array([5]) if one else local.rng.integers(0, 20, (b, s))
    want = rotated(x, cos, sin, places[:, None] + np.arange(s) if one else places, interleaved)
    if rank == 3:
        x, want = (a.transpose(0, 2, 1, 3).reshape(b, s, -1) for a in (x, want))
    part = {"rotary_embedding_dim": rotated_size, "num_heads": heads} if rotated_size != d else {}
    run("RotaryEmbedding", [("x", x), ("p", places), ("cos", cos), ("sin", sin)], [("Y", rank)], {"interleaved": int(interleaved), **part}, {"Y": want})


def skip_norm(simplified=False, bias=True, beta=True, total=True, skip=(2, 5, 16), shape=(2, 5, 16)):
    x, s, g = floats(*shape), floats(*skip), floats(16)
    b, c = (floats(16) if beta and not simplified else None), (floats(16) if bias else None)
    wide = x.astype(np.float64) + s + (c if bias else 0)
    mean = 0 if simplified else wide.mean(-1, keepdims=True)
    want = (wide - mean) / np.sqrt(((wide - mean) ** 2).mean(-1, keepdims=True) + 1e-5) * g + (b if b is not None else 0)
    inputs = [("x", x), ("s", s), ("g", g)] + ([] if simplified else [("b", b)]) + [("c", c)]
    outputs = [("Y", len(shape)), ("", 0), ("", 0), ("sum", len(shape))] if total else [("Y", len(shape))]
    run("SkipSimplifiedLayerNormalization" if simplified else "SkipLayerNormalization", inputs, outputs, {"epsilon": 1e-5}, {"Y": want, "sum": wide})


def gelu(operator, bias=False, **attributes):
    x, b = floats(3, 8), floats(8) if bias else None
    wide = x.astype(np.float64) + (b if bias else 0)
    erf = np.vectorize(math.erf)
    want = {"Gelu": lambda: wide / 2 * (1 + erf(wide / 2**0.5)), "BiasGelu": lambda: wide / 2 * (1 + erf(wide / 2**0.5)),
            "FastGelu": lambda: wide / 2 * (1 + np.tanh((2 / np.pi) ** 0.5 * (wide + 0.044715 * wide**3))),
            "QuickGelu": lambda: wide / (1 + np.exp(-attributes.get("alpha", 1.702) * wide))}[operator]()
    run(operator, [("x", x), ("b", b)], [("Y", 2)], attributes, {"Y": want})


CASES = {
    "projected": lambda: projected(),
    "projected-lengths": lambda: projected(padding=np.array([[1, 1, 0, 0], [1] * 4], np.int32), bias=False),
    "projected-past": lambda: projected(past=3, causal=True),
    "projected-sizes": lambda: projected(sizes=(24, 24, 15), causal=True),
    "projected-one-row": lambda: projected(rows=1, batch=1),
    "rotary": lambda: rotary(),
    "rotary-joined": lambda: rotary(rank=3, interleaved=True),
    "rotary-one-place": lambda: rotary(one=True),
    "rotary-part": lambda: rotary(rank=3, rotated_size=4),
    "skip-norm": lambda: skip_norm(),
    "skip-norm-plain": lambda: skip_norm(bias=False, beta=False, total=False),
    "skip-norm-shared": lambda: skip_norm(skip=(1, 5, 16)),
    "skip-norm-one-row": lambda: skip_norm(shape=(1, 16), skip=(1, 16)),
    "skip-rms": lambda: skip_norm(simplified=True),
    "skip-rms-plain": lambda: skip_norm(simplified=True, bias=False, total=False),
    "gelu": lambda: gelu("Gelu"),
    "gelu-bias": lambda: gelu("BiasGelu", bias=True),
    "gelu-fast": lambda: gelu("FastGelu"),
    "gelu-fast-bias": lambda: gelu("FastGelu", bias=True),
    "gelu-quick": lambda: gelu("QuickGelu", alpha=1.5),
    "multi-head-packed": lambda: multi_head(packed=3, sizes=(2, 4, 4, 3, 8, 8)),
    "multi-head-packed-bias": lambda: multi_head(packed=3, sizes=(2, 4, 4, 3, 8, 8), bias=floats(72), causal=True),
    "multi-head-packed-keys": lambda: multi_head(packed=2, sizes=(1, 4, 6, 1, 8, 8)),
    "multi-head": lambda: multi_head(),
    "multi-head-bias": lambda: multi_head(bias=floats(24 + 24 + 15)),
    "multi-head-lengths": lambda: multi_head(padding=np.array([3, 6], np.int32)),
    "multi-head-lengths-causal": lambda: multi_head(padding=np.array([3, 5], np.int32), causal=True, sizes=(2, 5, 5, 2, 8, 8)),
    "multi-head-lengths-causal-past": lambda: multi_head(padding=np.array([4, 7], np.int32), causal=True, past=3, sizes=(2, 4, 4, 2, 8, 8)),
    "multi-head-padding": lambda: multi_head(padding=np.array([[1, 1, 0, 1, 0, 0], [1] * 6], np.int32)),
    "multi-head-added": lambda: multi_head(added=floats(1, 3, 4, 6), scale=0.3),
    "multi-head-past": lambda: multi_head(past=3, causal=True),
    "multi-head-cross": lambda: multi_head(kv_rank=4),
    "group-query": lambda: group_query(),
    "group-query-padding": lambda: group_query(lengths=[2, 4]),
    "group-query-packed": lambda: group_query(packed=True),
    "group-query-cache": lambda: group_query(s=1, past=True, room=9, lengths=[5, 9]),
    "group-query-cache-rotary": lambda: group_query(s=3, past=True, room=10, lengths=[7, 4], rotary=True),
    "group-query-interleaved": lambda: group_query(rotary=True, interleaved=True, packed=True),
    "group-query-sinks": lambda: group_query(sinks=floats(4)),
    "group-query-smooth": lambda: group_query(smooth=True, softcap=2.0),
    "group-query-window": lambda: group_query(s=4, past=True, room=12, lengths=[8, 12], window=3),
    "group-query-bias": lambda: group_query(bias=True, s=2, past=True, room=6, lengths=[5, 6]),
}



def check(name):
    local.rng = np.random.default_rng(zlib.crc32(name.encode()))
    CASES[name]()


if __name__ == "__main__":
    main(CASES, check)
