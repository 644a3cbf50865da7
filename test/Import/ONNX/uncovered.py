# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Cases of Attention that ONNX's own do not have, against the formula in float64: masks of every rank and with one column, sequences of no
element and beyond a tile, element types and mixtures of them, rows of -inf, large scores, windows beside lengths, scales of 0 and below,
sizes known at run time only."""
import tempfile

import ml_dtypes
import numpy as np

import formula
from models import TOLERANCE, USUAL, Program, compare, main

rng = np.random.default_rng(24)
CASES = {}


def tensors(b=2, hq=4, hkv=2, s=5, t=7, d=8, dv=8, dtype=np.float32, vtype=None, size=1.0, past=0, joined=False):
    """Q, K and V of normal numbers; keys of which `past` lie in a cache."""
    def make(h, n, features, kind=dtype):
        x = (rng.normal(size=(b, h, n, features)) * size).astype(kind)
        return x.transpose(0, 2, 1, 3).reshape(b, n, h * features) if joined else x
    arrays = {"Q": make(hq, s, d), "K": make(hkv, t - past, d), "V": make(hkv, t - past, dv, vtype or dtype)}
    if past:
        arrays["past_key"] = (rng.normal(size=(b, hkv, past, d)) * size).astype(dtype)
        arrays["past_value"] = rng.normal(size=(b, hkv, past, dv)).astype(vtype or dtype)
    return arrays


def case(name, arrays, outputs=("Y",), shapes=None, tolerance=None, opset=25, **attributes):
    assert name not in CASES
    CASES[name] = (arrays, outputs, shapes, tolerance, opset, attributes)


def masked(mask, **sizes):
    return {**tensors(**sizes), "attn_mask": mask}


def bools(*shape):
    return rng.random(shape) < 0.6


def floats(*shape):
    return rng.normal(size=shape).astype(np.float32)


for kind, make in (("bool", bools), ("float", floats)):
    case(f"mask-1-{kind}", masked(make(7)))
    case(f"mask-3-{kind}", masked(make(4, 5, 7)))
    case(f"mask-3-one-head-{kind}", masked(make(1, 5, 7)))
    case(f"mask-4-batch-{kind}", masked(make(2, 1, 1, 7)))
    case(f"mask-rows-{kind}", masked(make(2, 4, 1, 7)))
    case(f"mask-short-{kind}", masked(make(5, 4)))
    case(f"mask-short-causal-{kind}", masked(make(2, 1, 5, 6)), is_causal=1, softcap=3.0)
    case(f"mask-one-column-{kind}", masked(make(5, 1) | True if kind == "bool" else make(5, 1)))
    case(f"mask-short-past-{kind}", masked(make(5, 8), t=12, past=7), ("Y", "present_key", "present_value", "qk_matmul_output"),
         qk_matmul_output_mode=2)
rows = floats(5, 7)
rows[1] = rows[3] = -np.inf
case("rows-of-minus-infinity", masked(rows), ("Y", "", "", "qk_matmul_output"), qk_matmul_output_mode=3)
case("mask-1e9", masked(np.where(bools(5, 7), 0, -1e9).astype(np.float32)))
case("long", tensors(1, 2, 1, 130, 257, 64, 64))
case("long-causal", tensors(1, 2, 2, 130, 257, 80, 48), is_causal=1)
case("long-window", tensors(1, 4, 1, 97, 300, 96, 33, past=203), is_causal=1, left_window_size=40)
case("tile-edge", tensors(1, 1, 1, 1, 96, 72, 72))
case("large-scores", tensors(size=30.0), tolerance=(2e-3, 2e-4))
case("large-scores-capped", tensors(size=30.0), ("Y", "", "", "qk_matmul_output"), softcap=5.0, qk_matmul_output_mode=1, tolerance=(2e-3, 2e-4))
case("no-query", tensors(s=0))
case("no-key", tensors(t=0))
case("no-key-scores", tensors(t=0), ("Y", "", "", "qk_matmul_output"))
case("scale-0", tensors(), scale=0.0, is_causal=1)
case("scale-negative", tensors(), scale=-0.5)
lengths = {"nonpad_kv_seqlen": np.array([3, 7])}
for mode in range(4):
    case(f"lengths-window-mode-{mode}", {**masked(bools(5, 7)), **lengths}, ("Y", "", "", "qk_matmul_output"), left_window_size=2,
         right_window_size=1, softcap=2.0, qk_matmul_output_mode=mode)
case("lengths-window-causal", {**tensors(), **lengths}, is_causal=1, left_window_size=1)
case("length-0", {**tensors(), "nonpad_kv_seqlen": np.array([0, 7])})
case("past-window", tensors(t=12, past=7), ("Y", "present_key", "present_value"), is_causal=1, left_window_size=3)
case("joined", {**tensors(joined=True, dv=6), "attn_mask": floats(2, 4, 5, 7)}, q_num_heads=4, kv_num_heads=2, is_causal=1)
case("joined-past", tensors(joined=True, t=9, past=4), ("Y", "present_key", "present_value", "qk_matmul_output"), q_num_heads=4, kv_num_heads=2,
     is_causal=1)
case("f64", masked(rng.normal(size=(5, 7)), dtype=np.float64), ("Y", "", "", "qk_matmul_output"), tolerance=(1e-9, 1e-12), is_causal=1)
case("f64-softmax", tensors(), softmax_precision=11, softcap=2.0)
case("f64-mask", masked(rng.normal(size=(5, 7))))
for name in ("float16", "bfloat16"):
    narrow = getattr(np, name, None) or getattr(ml_dtypes, name)
    case(f"{name}-mask", masked(floats(5, 7).astype(narrow), dtype=narrow), is_causal=1)
    case(f"{name}-float32-mask", masked(np.where(bools(5, 7), 0, -1e9).astype(np.float32), dtype=narrow))
    case(f"{name}-past", tensors(dtype=narrow, t=12, past=7), ("Y", "present_key", "present_value", "qk_matmul_output"), qk_matmul_output_mode=3)
    case(f"{name}-values", tensors(vtype=narrow))
    case(f"{name}-queries", tensors(dtype=narrow, vtype=np.float32))
    case(f"{name}-f64-values", tensors(dtype=narrow, vtype=np.float64))
case("half-and-bfloat", tensors(dtype=np.float16, vtype=ml_dtypes.bfloat16), tolerance=TOLERANCE["bfloat16"])
case("f64-and-f32", tensors(dtype=np.float64, vtype=np.float32))
UNKNOWN = {"Q": ["batch", 4, "sq", 8], "K": ["batch", 2, "skv", 8], "V": ["batch", 2, "skv", 8]}
case("unknown", tensors(), shapes=UNKNOWN, is_causal=1)
case("unknown-mask", masked(bools(2, 1, 5, 7)), shapes={**UNKNOWN, "attn_mask": ["batch", 1, "sq", "skv"]})
case("unknown-short-mask", masked(floats(5, 4)), shapes={**UNKNOWN, "attn_mask": ["sq", "columns"]})
case("unknown-lengths", {**masked(floats(2, 4, 5, 7)), **lengths}, is_causal=1, left_window_size=3,
     shapes={**UNKNOWN, "attn_mask": ["batch", 4, "sq", "skv"], "nonpad_kv_seqlen": ["batch"]})
case("unknown-joined", tensors(joined=True), q_num_heads=4, kv_num_heads=2,
     shapes={"Q": ["batch", "sq", 32], "K": ["batch", "skv", 16], "V": ["batch", "skv", 16]})
case("unknown-past", tensors(t=12, past=7), shapes={"Q": ["batch", 4, "new", 8], "K": ["batch", 2, "new", 8], "V": ["batch", 2, "new", 8],
     "past_key": ["batch", 2, "past", 8], "past_value": ["batch", 2, "past", 8]}, is_causal=1)
case("unknown-past-present", tensors(t=12, past=7), ("Y", "present_key", "present_value", "qk_matmul_output"), is_causal=1, shapes={
    "Q": ["batch", 4, "new", 8], "K": ["batch", 2, "new", 8], "V": ["batch", 2, "new", 8], "past_key": ["batch", 2, "past", 8],
    "past_value": ["batch", 2, "past", 8]})
case("unknown-past-and-known", tensors(t=12, past=7), ("present_key", "present_value", "Y"), shapes={
    "past_key": [2, 2, "past", 8], "past_value": [2, 2, "past", 8]})
case("unknown-past-other-length", tensors(s=3, t=12, past=7), shapes={**UNKNOWN, "past_key": ["batch", 2, "past", 8],
     "past_value": ["batch", 2, "past", 8]}, is_causal=1, right_window_size=2, left_window_size=9)


def check(name):
    arrays, outputs, shapes, tolerance, opset, attributes = CASES[name]
    outputs = [output for output in outputs if output]
    want = formula.attention(arrays, attributes)
    with tempfile.TemporaryDirectory() as folder:
        program = Program(formula.model(arrays, attributes, outputs, opset, shapes).SerializeToString(), folder)
        raw = [a.view("V2") if a.dtype == ml_dtypes.bfloat16 else a for a in (arrays[n] for n in formula.INPUTS if n in arrays)]
        results = program(raw, outputs)
    for output in outputs:
        kind = arrays["Q" if output != "present_value" else "V"].dtype.name
        compare(output, results[output], want[output], tolerance or TOLERANCE.get(kind, (1e-4, 2e-6) if kind == "float32" else USUAL))


if __name__ == "__main__":
    main(CASES, check)
