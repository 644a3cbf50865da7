# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""LinearAttention and CausalConvWithState of operator set 27 and SwiGLU of 28 beside their formulas in float64, written out here: every
rule, groups of queries, gates per head and per feature, one step, several, states handed from call to call."""
import tempfile

import numpy as np
import onnx
from onnx import helper

from models import Program, compare, main

rng = np.random.default_rng(67)
CASES = {}
NEAR = (1e-4, 1e-5)


def numbers(*shape, dtype=np.float32):
    return (rng.normal(size=shape) / 2).astype(dtype)


def add(name, node, inputs, shapes, wants, tolerance=NEAR):
    """`shapes` of inputs by name; None: unknown."""
    infos = [helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(x.dtype), shapes.get(n, x.shape)) for n, x in inputs.items()]
    graph = helper.make_graph([node], "g", infos, [onnx.ValueInfoProto(name=n) for n in wants])
    CASES[name] = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 28)], ir_version=10), inputs, wants, tolerance


def by_steps(x, rule, heads, group, scale):
    """(batch, steps, heads * ..) of each input by name."""
    x = {n: a.astype(np.float64) for n, a in x.items()}
    batch, steps = x["q"].shape[:2]
    k, v = (x[n].reshape(batch, steps, heads, x[n].shape[2] // heads) for n in "kv")
    q = x["q"].reshape(batch, steps, heads, group, k.shape[3])
    state = x.get("past", np.zeros((batch, heads, k.shape[-1], v.shape[-1])))
    out = []
    for i in range(steps):
        if "gated" in rule:
            state = np.exp(x["decay"].reshape(batch, steps, heads, -1, 1)[:, i]) * state
        new = v[:, i]
        if "delta" in rule:
            beta = x["beta"][:, i, :, None]
            new = beta * (new - np.einsum("bhkv,bhk->bhv", state, k[:, i]))
        state = state + k[:, i][..., None] * new[:, :, None]
        out.append(np.einsum("bhgk,bhkv->bhgv", q[:, i], state) * scale)
    return np.stack(out, 1).reshape(batch, steps, -1) if steps else np.zeros((batch, 0, heads * group * v.shape[-1])), state


def linear(rule, batch, steps, heads, group, features=8, values=12, past=True, each=True, beta=True, scale=0.0, dtype=np.float32):
    x = {"q": numbers(batch, steps, heads * group * features, dtype=dtype), "k": numbers(batch, steps, heads * features, dtype=dtype),
         "v": numbers(batch, steps, heads * values, dtype=dtype)}
    if past:
        x["past"] = numbers(batch, heads, features, values)
    if "gated" in rule:
        x["decay"] = -np.abs(numbers(batch, steps, heads * (features if each else 1))).astype(dtype)
    if "delta" in rule:
        x["beta"] = np.abs(numbers(batch, steps, heads if beta else 1)).astype(dtype)
    out, state = by_steps(x, rule, heads, group, scale or features**-0.5)
    node = helper.make_node("LinearAttention", [n if n in x else "" for n in ("q", "k", "v", "past", "decay", "beta")], ["y", "state"],
                            q_num_heads=heads * group, kv_num_heads=heads, update_rule=rule, scale=scale)
    shapes = {n: ["batch", "steps", a.shape[2]] for n, a in x.items() if n != "past"} | {"past": ["batch", heads, features, values]}
    tolerance = NEAR if dtype == np.float32 else (4e-3, 4e-3)
    add(f"{rule}-{batch}x{steps}-{heads}x{group}-{'past' if past else 'none'}-{'each' if each else 'head'}-{np.dtype(dtype).name}", node, x, shapes,
        {"y": out, "state": state}, tolerance)


def rules():
    for rule in ("linear", "gated", "delta", "gated_delta"):
        linear(rule, 2, 5, 2, 2)
        linear(rule, 1, 1, 1, 1, past=False, each=False)
    linear("gated_delta", 1, 17, 3, 1, each=False, beta=False)
    linear("gated_delta", 2, 0, 2, 1)
    linear("gated", 1, 33, 1, 4, features=16, values=16, scale=0.5)
    linear("gated_delta", 1, 9, 2, 2, past=True, dtype=np.float16)


def convolutions():
    for channels, kernel, length, past in ((4, 4, 9, True), (4, 4, 2, True), (4, 3, 1, False), (1, 1, 5, False), (6, 2, 17, True)):
        x = {"x": numbers(2, channels, length), "w": numbers(channels, 1, kernel), "b": numbers(channels)}
        if past:
            x["past"] = numbers(2, channels, kernel - 1)
        whole = np.concatenate([x.get("past", np.zeros((2, channels, kernel - 1))), x["x"]], 2).astype(np.float64)
        sums = sum(whole[:, :, i : i + length] * x["w"][:, 0, i, None] for i in range(kernel)) + x["b"][:, None]
        for activation in ("none", "silu"):
            want = sums if activation == "none" else sums / (1 + np.exp(-sums))
            node = helper.make_node("CausalConvWithState", ["x", "w", "b", "past" if past else ""], ["y", "state"], activation=activation)
            add(f"conv-{channels}-{kernel}-{length}-{activation}", node, x, {"x": ["batch", channels, "length"], "past": ["batch", channels, kernel - 1]},
                {"y": want, "state": whole[:, :, length:]})


def gates():
    a, b = numbers(2, 7, 8), numbers(2, 7, 8)
    add("swiglu", helper.make_node("SwiGLU", ["a", "b"], ["y"], alpha=1.5), {"a": a, "b": b}, {"a": [2, "n", 8], "b": [2, "n", 8]},
        {"y": a / (1 + np.exp(-1.5 * a.astype(np.float64))) * b})


for group in (rules, convolutions, gates):
    group()


def check(name):
    model, inputs, wants, tolerance = CASES[name]
    with tempfile.TemporaryDirectory() as folder:
        results = Program(model.SerializeToString(), folder)(list(inputs.values()), wants)
    for output, want in wants.items():
        compare(output, results[output], want, tolerance)


if __name__ == "__main__":
    main(CASES, check)
