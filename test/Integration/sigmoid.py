# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sigmoid attention against its definition in f64 and against the project's Reference: masks, biases, types, results, and
what infinities and NaN do."""
import argparse
import tempfile

import numpy as np

import elements
from kernels import compare, finish, load_kernel, reference, scores_of, weigh
from values import BOTTOM, CAUSAL, PADDED, Case

STAGED = {"weights": "attn.sigmoid", "scores": "masked"}


class Sigmoid(Case):
    """The textbook steps, returning out and weights or the masked scores; `rest` says which."""

    def __init__(self, name, dk=64, rest=None, **options):
        super().__init__(name, dk, **options)
        self.rest = rest

    def text(self):
        text = super().text()
        head, tail = text.split("returning(out, lse)")
        b, sq, skv = self.sizes or ("?", "?", "?")
        row = f"tensor<{b}x{self.heads}x{sq}x{self.wide_type}>"
        pairs = f"tensor<{b}x{self.heads}x{sq}x{skv}x{self.wide_type}>"
        attributes = "normalization = #attn<normalization sigmoid>"
        if self.rest == "scores":
            attributes += ", scores_stage = #attn<scores_stage masked>"
        if self.rest:
            text = f"{head}returning(out, {self.rest}) {{{attributes}}}{tail}".replace(row, pairs)
            return text
        text = f"{head}{{{attributes}}}{tail}"
        return text.replace("%out, %lse = ", "%out = ").replace(f", {row})", ")").replace("%out, %lse :", "%out :").replace(
            f", {row}\n", "\n")

    def expected(self, arrays, sizes):
        q, k, v = (elements.numbers(arrays[x]) for x in "qkv")
        k, v = (np.repeat(x, self.group, axis=1) for x in (k, v))
        seen = self.visible(arrays, sizes)
        with np.errstate(all="ignore"):
            scores = scores_of(q, k) * self.scale
            if self.bias:
                bias = arrays["bias"].astype(np.float64)
                scores = scores + bias
                seen = seen & (bias != -np.inf)
            scores = np.where(seen, scores, -np.inf)
            weights = 1 / (1 + np.exp(-scores))
        rest = {"weights": [weights], "scores": [scores], None: []}[self.rest]
        return [weigh(weights, v), *rest]

    def outputs(self, sizes):
        b, sq, skv = sizes
        out = elements.empty((b, self.heads, sq, self.dv), self.value_type)
        return [out, elements.empty((b, self.heads, sq, skv), self.wide_type)] if self.rest else [out]


CASES = [
    *(Sigmoid(f"dim{d}", d) for d in (1, 17, 64, 72, 128)), Sigmoid("causal", 64, mask=CAUSAL, heads=4, group=2),
    Sigmoid("bottom", 40, mask=BOTTOM, rest="weights"), Sigmoid("padding", 64, mask=PADDED, heads=3),
    Sigmoid("padding_bottom", 40, mask=[*PADDED, *BOTTOM], rest="scores"),
    Sigmoid("allowed", 64, mask=[("allowed", "ok")], allowed="hqk", rest="weights"),
    Sigmoid("bias", 64, bias="bhqk"), Sigmoid("bias_row", 40, bias="1k", mask=CAUSAL, rest="weights"),
    Sigmoid("value_wider", 40, dv=72), Sigmoid("value_narrow", 72, dv=5, mask=CAUSAL),
    *(Sigmoid(f"{t}_{v}", 64, types=(t, v), mask=m, heads=4, group=2)
      for t, v, m in [("f16", "f16", CAUSAL), ("bf16", "bf16", ()), ("f64", "f64", BOTTOM), ("f16", "f32", PADDED)]),
    Sigmoid("static", 64, sizes=(2, 37, 130), mask=CAUSAL), Sigmoid("static_one", 64, sizes=(1, 1, 700)),
]
LENGTHS = [(1, 1, 1), (2, 7, 3), (1, 1, 1500), (3, 17, 131), (1, 130, 129), (1, 5, 0)]


def check(case, kernel, sizes, seed, folder, poison):
    arrays = case.inputs(sizes, np.random.default_rng(seed), poison)
    got = kernel(list(arrays.values()), case.outputs(sizes), 1 + seed % 3)
    want = case.expected(arrays, sizes)
    answers = [("", want)]
    if not poison and sizes[2] < 1000:
        answers.append((" (Reference)", reference(kernel.source, list(arrays.values()), len(got), folder)))
    for suffix, answer in answers:
        for name, element, g, w in zip(("out", case.rest), (case.value_type, case.wide_type), got, answer):
            if np.asarray(w).size:
                limits = elements.tolerance(element, elements.numbers(np.asarray(w)))
                limits["atol"] = limits["atol"] * max(1, sizes[2] ** 0.5)  # a row's weights do not add up to 1
                compare(f"{case.name} {sizes}{suffix} {name}", g, w, **limits)


def check_not_finite(target, flags, folder):
    """Scores of one feature are the keys themselves."""
    case = Sigmoid("not_finite", 1, dv=1, heads=1, scale=1.0, rest="weights")
    kernel = load_kernel(case.text(), folder, target, flags)
    scores = np.array([np.inf, -np.inf, 1e4, -1e4, 0, np.nan, 3e38, -3e38, 89, -89], np.float32)
    q, v = np.ones((1, 1, 1, 1), np.float32), np.ones((1, 1, len(scores), 1), np.float32)
    out, weights = kernel([q, scores.reshape(1, 1, -1, 1), v], case.outputs((1, 1, len(scores))))
    want = np.array([1, 0, 1, 0, 0.5, np.nan, 1, 0, 1, 1 / (1 + np.exp(89.0))])
    compare("weights of scores that are not finite", weights.ravel(), want, atol=1e-36)
    if not np.isnan(out).all():
        raise AssertionError("a NaN among the scores of a row does not reach out")


def main():
    parser = argparse.ArgumentParser(description=__doc__, epilog="Other options go to attn-opt.")
    parser.add_argument("--target", default="native")
    parser.add_argument("--only", default="", help="cases whose name contains this")
    options, flags = parser.parse_known_args()
    count, failures = 0, []
    for number, case in enumerate(CASES):
        if options.only not in case.name:
            continue
        with tempfile.TemporaryDirectory() as folder:
            kernel = load_kernel(case.text(), folder, options.target, flags)
            for i, sizes in enumerate([case.sizes] if case.sizes else LENGTHS):
                for poison in (False, True) if case.mask and case.mask[0][0] != "allowed" else (False,):
                    try:
                        check(case, kernel, sizes, 100 * number + i, folder, poison)
                    except (AssertionError, RuntimeError) as error:
                        failures.append(f"{'poisoned ' if poison else ''}{error}")
                    count += 1
    with tempfile.TemporaryDirectory() as folder:
        check_not_finite(options.target, flags, folder)
    finish(count, failures)


if __name__ == "__main__":
    main()
