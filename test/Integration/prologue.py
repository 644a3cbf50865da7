# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""attn.rope and attn.rms_norm in front of an attention, and sinks that are constants, against their definition in f64
and against the project's Reference."""
import tempfile

import numpy as np

from kernels import Kernel, attention, compare, finish, reference

HEADS, GROUP, DIM, TABLE = 4, 2, 24, 150
Q, K = f"tensor<?x{HEADS}x?x{DIM}xf32>", f"tensor<?x{HEADS // GROUP}x?x{DIM}xf32>"
SCORES = f"tensor<?x{HEADS}x?x?xf32>"


def text(steps, arguments="", sinks=""):
    return f"""
func.func @kernel(%q: {Q}, %k: {K}, %v: {K}{arguments}) -> {Q} {{
{steps}
  %scores = attn.scores %q1, %k1 : ({Q}, {K}) -> {SCORES}
  %scaled = attn.scale %scores by 0.2 : {SCORES}
  %weights = attn.softmax %scaled{sinks} : {SCORES}
  %out = attn.context %weights, %v : ({SCORES}, {K}) -> {Q}
  return %out : {Q}
}}
"""


def rope(x, cos, sin, positions, interleaved=False):
    x, cos, sin = (a.astype(np.float64) for a in (x, cos, sin))
    pairs = cos.shape[1]
    first, second = (np.arange(0, 2 * pairs, 2), np.arange(1, 2 * pairs, 2)) if interleaved else (
        np.arange(pairs), np.arange(pairs, 2 * pairs))
    at = np.clip(positions, 0, len(cos) - 1)
    c, s = cos[at], sin[at]
    if at.ndim == 2:
        c, s = c[:, None], s[:, None]
    out = x.copy()
    out[..., first] = x[..., first] * c - x[..., second] * s
    out[..., second] = x[..., second] * c + x[..., first] * s
    return out


def norm(x, weight, eps):
    x = x.astype(np.float64)
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + eps) * (1 if weight is None else weight.astype(np.float64))


def ropes(pairs, interleaved, positions):
    table = f"tensor<{TABLE}x{pairs}xf32>"
    word, at, arguments = (" interleaved" if interleaved else ""), "", f", %cos: {table}, %sin: {table}"
    if positions:
        at = f" at %ids : {positions}"
        arguments += f", %ids: {positions}"
    steps = "\n".join(f"  %{x}1 = attn.rope %{x}, %cos, %sin{word}{at} : {t}, {table}" for x, t in (("q", Q), ("k", K)))

    def prepare(rng, arrays, b, n):
        angles = np.outer(np.arange(TABLE), 10000.0 ** (-np.arange(pairs) / pairs))
        extra = [np.cos(angles).astype(np.float32), np.sin(angles).astype(np.float32)]
        ids = np.arange(n)
        if positions:
            ids = rng.integers(-2, TABLE + 2, (b, n) if positions.count("?") == 2 else n, np.int32)
            extra.append(ids)
        turn = lambda x: rope(x, extra[0], extra[1], ids, interleaved)
        return extra, turn(arrays[0]), turn(arrays[1]), None
    return text(steps, arguments), prepare


def norms(weight):
    argument = f", %w: tensor<{DIM}xf32>" if weight else ""
    w, t = (", %w", f", tensor<{DIM}xf32>") if weight else ("", "")
    steps = "\n".join(f"  %{x}1 = attn.rms_norm %{x}{w} eps 1.0e-5 : {y}{t}" for x, y in (("q", Q), ("k", K)))

    def prepare(rng, arrays, b, n):
        extra = [rng.standard_normal(DIM).astype(np.float32)] if weight else []
        return extra, *(norm(x, extra[0] if weight else None, 1e-5) for x in arrays[:2]), None
    return text(steps, argument), prepare


def off_by_one():
    steps = (f"  %zero = arith.constant dense<0.0> : tensor<{HEADS}xf32>\n"
             f"  %q1 = attn.scale %q by 1.0 : {Q}\n  %k1 = attn.scale %k by 1.0 : {K}")
    return (text(steps, sinks=f" sinks %zero : tensor<{HEADS}xf32>"),
            lambda rng, arrays, b, n: ([], *arrays[:2], np.zeros(HEADS)))


CASES = {
    "rope half": ropes(12, False, None), "rope partial": ropes(5, False, None), "rope pairs": ropes(12, True, None),
    "rope pairs partial": ropes(7, True, "tensor<?xi32>"), "rope positions": ropes(12, False, "tensor<?xi32>"),
    "rope positions per batch": ropes(8, False, "tensor<?x?xi32>"), "norm": norms(False), "norm weighted": norms(True),
    "off by one": off_by_one(),
}


def main():
    count, failures, worst = 0, [], 0.0
    for number, (name, (source, prepare)) in enumerate(CASES.items()):
        with tempfile.TemporaryDirectory() as folder:
            kernel = Kernel(source, folder)
            for b, n in [(1, 1), (2, 7), (1, 64), (3, 65), (1, 130)]:
                rng = np.random.default_rng(100 * number + n)
                arrays = [rng.standard_normal((b, h, n, DIM)).astype(np.float32) for h in (HEADS, HEADS // GROUP, HEADS // GROUP)]
                extra, q, k, sinks = prepare(rng, arrays, b, n)
                want = attention(q, k, arrays[2], 0.2, np.ones((b, HEADS, n, n), bool), sinks=sinks)[0]
                count += 1
                try:
                    got = kernel([*arrays, *extra], [np.full(want.shape, np.nan, np.float32)], threads=1 + n % 3)[0]
                    worst = max(worst, compare(f"{name} {b}x{n}", got, want, rtol=2e-5, atol=2e-6))
                    compare(f"{name} {b}x{n} (Reference)", got, reference(kernel.source, [*arrays, *extra], 1, folder)[0],
                            rtol=2e-5, atol=2e-6)
                except (AssertionError, RuntimeError) as error:
                    failures.append(str(error))
    finish(count, failures, f"; largest error {worst:.2g}")


if __name__ == "__main__":
    main()
