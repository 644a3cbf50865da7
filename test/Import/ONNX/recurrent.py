# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""RNN, GRU and LSTM beside their formulas in float64, written out here: one graph has all three.
ONNX's own reference knows neither two directions nor lengths."""
import tempfile

import numpy as np
import onnx
from models import TOLERANCE, Failure, Program, compare, main
from onnx import helper

FUNCTIONS = {"Sigmoid": lambda x: 1 / (1 + np.exp(-x)), "Tanh": np.tanh, "Relu": lambda x: np.maximum(x, 0)}
GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}
USUAL = {"RNN": ["Tanh"], "GRU": ["Sigmoid", "Tanh"], "LSTM": ["Sigmoid", "Tanh", "Tanh"]}
HIDDEN, FEATURES = 5, 3


def step(kind, x, h, c, w, r, b, functions, resets_later):
    """States behind one step; `w`, `r` and both halves of `b` are lists of the gates' weights."""
    f, g = functions[0], functions[-1]
    (wb, rb), gate = b, lambda i, h: x @ w[i].T + h @ r[i].T + b[0][i] + b[1][i]
    if kind == "RNN":
        return f(gate(0, h)), c
    if kind == "GRU":
        z, reset = f(gate(0, h)), f(gate(1, h))
        new = g(x @ w[2].T + reset * (h @ r[2].T + rb[2]) + wb[2]) if resets_later else g(gate(2, reset * h))
        return (1 - z) * new + z * h, c
    i, o, forget, new = f(gate(0, h)), f(gate(1, h)), f(gate(2, h)), functions[1](gate(3, h))
    c = forget * c + i * new
    return o * g(c), c


def run(kind, x, w, r, b, h, c, lengths, names, resets_later, reverse):
    """One direction: states of all steps, and the last ones."""
    split = lambda a: np.split(a.astype(np.float64), GATES[kind])  # noqa: E731
    functions = [FUNCTIONS[name] for name in names]
    y = np.zeros((*x.shape[:2], HIDDEN))
    for t in reversed(range(len(x))) if reverse else range(len(x)):
        goes = (t < lengths)[:, None]
        new, cell = step(kind, x[t].astype(np.float64), h, c, split(w), split(r), [split(half) for half in np.split(b, 2)], functions, resets_later)
        h, c = np.where(goes, new, h), np.where(goes, cell, c)
        y[t] = np.where(goes, h, 0)
    return y, h, c


# steps, batch, and what differs from the usual: one direction forward, zeros first, a bias, all steps, the batch behind.
CASES = {
    "usual": (6, 2, {}),
    "one": (1, 1, {}),
    "none": (0, 2, {"states": True}),
    "no-bias": (4, 3, {"bias": False, "states": True}),
    "reverse": (5, 2, {"direction": "reverse", "lengths": [3, 5]}),
    "both": (7, 2, {"direction": "bidirectional", "states": True, "resets": 1}),
    "lengths": (6, 3, {"direction": "bidirectional", "lengths": [6, 0, 2], "resets": 1, "states": True}),
    "batch-first": (4, 2, {"layout": 1, "direction": "bidirectional", "states": True}),
    "functions": (4, 1, {"functions": {"RNN": ["Relu"], "GRU": ["Tanh", "Relu"], "LSTM": ["Relu", "Sigmoid", "Tanh"]}}),
    "half": (5, 2, {"type": np.float16, "states": True}),
    "double": (5, 1, {"type": np.float64, "direction": "reverse"}),
}


def check(name):
    steps, batch, how = CASES[name]
    rng, kind = np.random.default_rng(41), how.get("type", np.float32)
    direction, first = how.get("direction", "forward"), how.get("layout", 0)
    ways = 2 if direction == "bidirectional" else 1
    numbers = lambda *shape: rng.normal(size=shape).astype(kind)  # noqa: E731
    x = numbers(steps, batch, FEATURES)
    inputs = {"x": x.swapaxes(0, 1) if first else x}
    shapes = {"x": ["batch", "steps", FEATURES] if first else ["steps", "batch", FEATURES]}
    lengths = np.array(how.get("lengths", [steps] * batch), np.int32)
    if "lengths" in how:
        inputs["lengths"], shapes["lengths"] = lengths, ["sequences"]
    h = c = np.zeros((ways, batch, HIDDEN), kind)
    if how.get("states"):
        h, c = numbers(ways, batch, HIDDEN), numbers(ways, batch, HIDDEN)
        for state, value in (("h", h), ("c", c)):
            inputs[state], shapes[state] = (value.swapaxes(0, 1), ["states", ways, HIDDEN]) if first else (value, [ways, "states", HIDDEN])
    nodes, constants, wanted = [], {}, {}
    for op, gates in GATES.items():
        w, r, b = numbers(ways, gates * HIDDEN, FEATURES), numbers(ways, gates * HIDDEN, HIDDEN) / 2, numbers(ways, 2 * gates * HIDDEN)
        constants |= {f"{op}w": w, f"{op}r": r} | ({f"{op}b": b} if how.get("bias", True) else {})
        names = how.get("functions", USUAL)[op]
        attributes = {"hidden_size": HIDDEN, "direction": direction, "layout": first} | ({"activations": names} if "functions" in how else {})
        attributes |= {"linear_before_reset": how.get("resets", 0)} if op == "GRU" else {}
        given = ["x", f"{op}w", f"{op}r", f"{op}b", "lengths", "h", *(["c"] if op == "LSTM" else [])]
        outputs = [f"{op}-{output}" for output in (["y", "h", "c"] if op == "LSTM" else ["y", "h"])]
        nodes.append(helper.make_node(op, [i if i in inputs or i in constants else "" for i in given], outputs, **attributes))
        if not how.get("bias", True):
            b = np.zeros_like(b)
        runs = [run(op, x, w[i], r[i], b[i], h[i].astype(np.float64), c[i].astype(np.float64), lengths, names, how.get("resets", 0),
                    direction == "reverse" or i == 1) for i in range(ways)]
        y, *states = (np.stack([one[part] for one in runs], 1 if part == 0 else 0) for part in range(3))
        if first:
            y, states = y.transpose(2, 0, 1, 3), [state.swapaxes(0, 1) for state in states]
        wanted |= dict(zip(outputs, (y, *states)))
    compare_all(nodes, inputs, shapes, constants, wanted, kind)


def compare_all(nodes, inputs, shapes, constants, wanted, kind):
    infos = [helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(a.dtype), shapes[n]) for n, a in inputs.items()]
    weights = [helper.make_tensor(n, helper.np_dtype_to_tensor_dtype(a.dtype), a.shape, a.tobytes(), raw=True) for n, a in constants.items()]
    graph = helper.make_graph(nodes, "g", infos, [onnx.ValueInfoProto(name=n) for n in wanted], weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 14)], ir_version=10)
    with tempfile.TemporaryDirectory() as folder:
        results = Program(model.SerializeToString(), folder)(list(inputs.values()), list(wanted))
    tolerance = {np.float64: (1e-12, 1e-13), np.float32: (1e-5, 1e-6)}.get(kind, TOLERANCE["float16"])
    for output, array in wanted.items():
        if results[output].dtype != kind:
            raise Failure(f"{output} has the type {results[output].dtype}")
        compare(output, results[output], array, tolerance)


if __name__ == "__main__":
    main(CASES, check)
