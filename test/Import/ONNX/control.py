# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Loop, Scan and an If that is decided when the model runs, beside NumPy: known, given and decided numbers of turns, none, states that
grow, results of each turn, axes and directions, one inside the other, attention inside of them."""
import tempfile

import numpy as np
import onnx
import onnx.parser

from models import Program, compare, main

rng = np.random.default_rng(61)
CASES = {}


def floats(*shape):
    return rng.normal(size=shape).astype(np.float32)


def add(name, text, inputs, wants):
    """`text` is a graph; `wants` are its outputs by name."""
    CASES[name] = f'<ir_version: 10, opset_import: ["": 21]>\n{text}', inputs, wants


ATTEND = "kt = Transpose <perm = [1, 0]> (h) p = MatMul (h, kt) w = Softmax <axis = -1> (p) o = MatMul (w, h)"


def attend(x):
    scores = x.astype(np.float64) @ x.T
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    return weights / weights.sum(-1, keepdims=True) @ x


def loops():
    """Attention with a residual, again and again."""
    body = f"body: graph = b (int64 i, bool c, float[n, 16] h) => (bool d, float[n, 16] r) {{ d = Identity (c) {ATTEND} r = Add (h, o) }}"
    for rows in (1, 7, 33):
        x = floats(rows, 16) / 4
        wants = [x]
        for _ in range(5):
            wants.append(wants[-1] + attend(wants[-1]))
        add(f"loop-known-{rows}", f"g (float[n, 16] x) => (float[n, 16] y) <int64 m = {{5}}, bool yes = {{1}}> {{ y = Loop (m, yes, x) <{body}> }}", [x], {"y": wants[5]})
        for turns in (-1, 0, 1, 3):
            add(f"loop-given-{rows}-{turns}", f"g (float[n, 16] x, int64 m) => (float[n, 16] y) {{ y = Loop (m, , x) <{body}> }}",
                [x, np.int64(turns)], {"y": wants[max(turns, 0)]})
    k = floats(33, 16)
    add("loop-names", """g (float[m, 16] k, float[n, 16] x, int64 t) => (float[n, 16] y)
        { y = Loop (t, , x) <body: graph = b (int64 i, bool c, float[n, 16] h) => (bool d, float[n, 16] r) { d = Identity (c) r = Add (h, k) }> }""",
        [k, x, np.int64(2)], {"y": x + 2 * k})
    for begins in (False, True):
        add(f"loop-begins-{begins}", f"g (float[n, 16] x, bool yes) => (float[n, 16] y) <int64 m = {{2}}> {{ y = Loop (m, yes, x) <{body}> }}",
            [x, np.bool_(begins)], {"y": wants[2 if begins else 0]})


def decided():
    """As long as nothing is above a limit."""
    body = """body: graph = b (int64 i, bool c, float[n, 4] h, int64 k) => (bool d, float[n, 4] r, int64 l)
        { r = Add (h, h) a = Abs (r) t = ReduceMax <keepdims = 0> (a) d = Less (t, top) l = Add (k, i) }"""
    x = np.linspace(-1, 0.9, 20, dtype=np.float32).reshape(5, 4)
    for name, most, turns in (("", "", 7), ("m", "int64 m = {3}, ", 3)):
        add(f"while-{turns}", f"""g (float[n, 4] x) => (float[n, 4] y, int64 count) <{most}int64 zero = {{0}}, bool yes = {{1}}, float top = {{100}}>
            {{ y, count = Loop ({name}, yes, x, zero) <{body}> }}""", [x], {"y": x * 2**turns, "count": np.int64(turns * (turns - 1) // 2)})
    add("while-never", f"""g (float[n, 4] x, bool yes) => (float[n, 4] y, int64 count) <int64 zero = {{0}}, float top = {{100}}>
        {{ y, count = Loop (, yes, x, zero) <{body}> }}""", [x, np.bool_(False)], {"y": x, "count": np.int64(0)})


def turns():
    """What each turn gives, and reads by its number."""
    x = floats(6, 4)
    body = """body: graph = b (int64 i, bool c, float[4] h) => (bool d, float[4] r, float[4] one)
        { d = Identity (c) row = Gather (x, i) r = Add (h, row) one = Mul (r, row) }"""
    sums = np.cumsum(x, 0)
    add("loop-results", f"""g (float[n, 4] x) => (float[4] y, float[n, 4] all)
        {{ s = Shape <start = 0, end = 1> (x) m = Squeeze (s) z = Constant <value_floats = [0.0, 0.0, 0.0, 0.0]> () y, all = Loop (m, , z) <{body}> }}""",
        [x], {"y": sums[-1], "all": sums * x})
    grow = "body: graph = b (int64 i, bool c, float[m, 4] h) => (bool d, float[k, 4] r) { d = Identity (c) r = Concat <axis = 0> (h, x) }"
    add("loop-grows", f"g (float[1, 4] x) => (float[4, 4] y) <int64 m = {{3}}, bool yes = {{1}}> {{ y = Loop (m, yes, x) <{grow}> }}", [x[:1]], {"y": np.tile(x[:1], (4, 1))})
    part = """body: graph = b (int64 i, bool c, float[1, 4] h) => (bool d, float[1, 4] r)
        { d = Identity (c) a = Unsqueeze (i, z) e = Add (a, one) p = Slice (x, a, e, z) r = Add (h, p) }"""
    add("loop-slices", f"""g (float[n, 4] x, float[1, 4] s) => (float[1, 4] y) <int64 m = {{3}}, bool yes = {{1}}, int64[1] one = {{1}}, int64[1] z = {{0}}>
        {{ y = Loop (m, yes, s) <{part}> }}""", [x, x[3:4]], {"y": x[:4].sum(0, keepdims=True)})


def scans():
    for batch, steps in ((2, 5), (1, 1), (1, 17)):
        x, first = floats(batch, steps, 4), floats(batch, 4)
        states, h = [], first.astype(np.float64)
        for i in range(steps):
            h = np.tanh(h) + x[:, i]
            states.append(h)
        add(f"scan-axes-{batch}-{steps}", """g (float[b, n, 4] x, float[b, 4] h) => (float[b, 4] y, float[b, 4, n] all, float[n, b, 4] back)
            { y, all, back = Scan <num_scan_inputs = 1, scan_input_axes = [-2], scan_output_axes = [2, 0], scan_output_directions = [0, 1],
              body: graph = g (float[b, 4] s, float[b, 4] e) => (float[b, 4] r, float[b, 4] o, float[b, 4] q) { t = Tanh (s) r = Add (t, e) o = Mul (r, e) q = Identity (r) }> (h, x) }""",
            [x, first], {"y": h, "all": np.stack([s * x[:, i] for i, s in enumerate(states)], 2), "back": np.stack(states[::-1])})
    a, b, first = floats(6, 4), floats(6, 4), floats(4)
    h, want = first.astype(np.float64), []
    for i in range(6):
        h = h * b[i] + a[5 - i]
        want.append(h)
    add("scan-reverse", """g (float[n, 4] a, float[n, 4] b, float[4] h) => (float[4] y, float[n, 4] all)
        { y, all = Scan <num_scan_inputs = 2, scan_input_directions = [1, 0], body: graph = g (float[4] s, float[4] c, float[4] d) => (float[4] r, float[4] o)
          { t = Mul (s, d) r = Add (t, c) o = Identity (r) }> (h, a, b) }""", [a, b, first], {"y": h, "all": np.stack(want)})
    add("scan-names", """g (float[p, 4] k, float[n, 4] h, float[t, n, 4] x) => (float[n, 4] y, float[t, n, 4] all)
        { y, all = Scan <num_scan_inputs = 1, body: graph = g (float[n, 4] s, float[n, 4] e) => (float[n, 4] r, float[n, 4] o) { q = Add (s, k) r = Add (q, e) o = Identity (r) }> (h, x) }""",
        [a, b, np.stack([a, b])], {"y": 3 * a + 2 * b, "all": np.stack([2 * a + b, 3 * a + 2 * b])})
    add("scan-no-state", "g (float[n, 4] a) => (float[n, 4] all) { all = Scan <num_scan_inputs = 1, body: graph = g (float[4] c) => (float[4] o) { o = Exp (c) }> (a) }",
        [a], {"all": np.exp(a)})


def branches():
    x = floats(9, 16) / 4
    both = f"""then_branch: graph = t () => (float[n, 16] o, float[1] k) {{ h = Identity (x) {ATTEND} k = Constant <value_floats = [2.0]> () }},
        else_branch: graph = e () => (float[n, 16] u, float[1] l) {{ u = Neg (x) l = Constant <value_floats = [3.0]> () }}"""
    for chosen in (False, True):
        wants = {"y": attend(x) if chosen else -x, "z": np.array([2.0 if chosen else 3.0])}
        add(f"if-{chosen}", f"g (float[n, 16] x, bool c) => (float[n, 16] y, float[1] z) {{ y, z = If (c) <{both}> }}", [x, np.bool_(chosen)], wants)
        add(f"if-row-{chosen}", f"g (float[n, 16] x, bool[1] c) => (float[n, 16] y, float[1] z) {{ y, z = If (c) <{both}> }}", [x, np.array([chosen])], wants)
    inner = "r = If (few) <then_branch: graph = t () => (float[n, 16] o) { o = Add (h, x) }, else_branch: graph = e () => (float[n, 16] u) { u = Mul (h, x) }>"
    add("if-in-loop", f"""g (float[n, 16] x) => (float[n, 16] y) <int64 m = {{4}}, bool yes = {{1}}, int64 two = {{2}}>
        {{ y = Loop (m, yes, x) <body: graph = b (int64 i, bool c, float[n, 16] h) => (bool d, float[n, 16] r) {{ d = Identity (c) few = Less (i, two) {inner} }}> }}""",
        [x], {"y": 3 * x * x * x})


for group in (loops, decided, turns, scans, branches):
    group()


def check(name):
    text, inputs, wants = CASES[name]
    with tempfile.TemporaryDirectory() as folder:
        program = Program(onnx.parser.parse_model(text).SerializeToString(), folder)
        results = program([np.asarray(x) for x in inputs], wants)
    for output, want in wants.items():
        compare(output, results[output], np.asarray(want), (1e-5, 1e-5))


if __name__ == "__main__":
    main(CASES, check)
