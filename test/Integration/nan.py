# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""NaN and infinities: what a row sees reaches it, what it does not see never does."""
import argparse
import tempfile

import numpy as np

import elements
from kernels import Kernel, compare, finish, reference

SPEC = """func.func @kernel(%q: tensor<2x?x40xTYPE>, %k: tensor<2x?x40xTYPE>, %v: tensor<2x?x24xTYPE>, %bias: tensor<?x?xf32>)
    -> (tensor<2x?x24xTYPE>, tensor<2x?xf32>, tensor<2x?x?xf32>, tensor<2x?x?xf32>) {
  %out, %lse, %weights, %scores = attn.sdpa %q, %k, %v bias %bias : tensor<?x?xf32> scale 0.15 where WHERE
    returning(out, lse, weights, scores) {scores_stage = #attn<scores_stage masked>}
    : (tensor<2x?x40xTYPE>, tensor<2x?x40xTYPE>, tensor<2x?x24xTYPE>)
    -> (tensor<2x?x24xTYPE>, tensor<2x?xf32>, tensor<2x?x?xf32>, tensor<2x?x?xf32>)
  return %out, %lse, %weights, %scores : tensor<2x?x24xTYPE>, tensor<2x?xf32>, tensor<2x?x?xf32>, tensor<2x?x?xf32>
}
"""


LARGE = """func.func @kernel(%q: tensor<?x32xTYPE>, %k: tensor<?x32xTYPE>, %v: tensor<?x32xTYPE>) -> (tensor<?x32xTYPE>, tensor<?xf32>) {
  %out, %lse = attn.sdpa %q, %k, %v scale 0.15 returning(out, lse)
    : (tensor<?x32xTYPE>, tensor<?x32xTYPE>, tensor<?x32xTYPE>) -> (tensor<?x32xTYPE>, tensor<?xf32>)
  return %out, %lse : tensor<?x32xTYPE>, tensor<?xf32>
}
"""


# Kernels work in units of log2, in which a lower bias has no finite value (docs/Spec.md, attn.bias).
LOWEST = float(np.finfo(np.float32).min) * np.log(2)


def large_scores(element, target, flags):
    """Finite scores never overflow: the largest takes all of the weight, whatever rounding leaves of it."""
    powers = (10, 28, 33, 40, 60) if element != "f16" else (10, 15)
    with tempfile.TemporaryDirectory() as folder:
        kernel = Kernel(LARGE.replace("TYPE", element), folder, target=target, flags=flags)
        for power in powers:
            for largest, others in ((1.25, 0), (1.25, -1), (0, -1.25), (-1.25, -1.5)):
                q, k, v = np.zeros((70, 32)), np.zeros((99, 32)), np.ones((99, 32))
                q[:, 3], k[:, 3], k[41, 3], v[41] = 2.0, others * 2.0**power, largest * 2.0**power, 3
                room = [elements.empty((70, 32), element), elements.empty((70,), "f32")]
                out, lse = (elements.numbers(a) for a in kernel([elements.store(a, element) for a in (q, k, v)], room, threads=2))
                score = 0.3 * largest * 2.0**power
                assert (out == 3).all() and np.allclose(lse, score, rtol=1e-6), f"scores of 2^{power}, {largest} and {others}: {out[0, 0]}, {lse[0]}"
    return 4 * len(powers)


def main():
    parser = argparse.ArgumentParser(description=__doc__, epilog="Other options go to attn-opt.")
    parser.add_argument("--target", default="native")
    parser.add_argument("--element", default="f32")
    options, flags = parser.parse_known_args()
    element = options.element
    count, failures = 0, []
    for where in ("causal(top_left)", "causal(bottom_right)", "not causal(offset = 3)"):
        with tempfile.TemporaryDirectory() as folder:
            text = SPEC.replace("WHERE", where).replace("TYPE", element)
            kernel = Kernel(text, folder, target=options.target, flags=flags)
            for sq, skv, seed in [(5, 5, 1), (17, 40, 2), (33, 130, 3), (130, 97, 4)]:
                rng = np.random.default_rng(seed)
                normal = lambda *s: rng.standard_normal(s).astype(np.float32)
                bias = normal(sq, skv)
                q, k, v = (elements.store(normal(2, *s), element) for s in ((sq, 40), (skv, 40), (skv, 24)))
                for value in elements.store([np.nan, np.inf, -np.inf], element):  # one key, one value, one query each
                    k[0, rng.integers(skv), rng.integers(40)] = value
                    v[1, rng.integers(skv), rng.integers(24)] = value
                q[1, rng.integers(sq)] = elements.store(np.nan, element)
                bias[rng.random(bias.shape) < 0.2] = -np.inf
                bias[0] = -np.inf  # sees nothing
                bias[-1] = np.finfo(np.float32).min  # a bias, however low
                shapes = [(2, sq, 24), (2, sq), (2, sq, skv), (2, sq, skv)]
                inputs, types = [q, k, v, bias], [element, "f32", "f32", "f32"]
                got = kernel(inputs, [elements.store(np.full(s, 7.0), t) for s, t in zip(shapes, types)], threads=2)
                for name, of, g, w in zip(("out", "lse", "weights", "scores"), types, got,
                                          reference(kernel.source, inputs, 4, folder)):
                    count += 1
                    if name in ("lse", "scores"):
                        w = np.where(np.isfinite(w), np.maximum(w, LOWEST), w)
                    try:
                        bounds = elements.near(of, elements.numbers(w), rtol=2e-5)
                        compare(f"{where} {sq}x{skv} {name}", g, w, **bounds)
                    except AssertionError as error:
                        failures.append(str(error))
    try:
        count += large_scores(element, options.target, flags)
    except AssertionError as error:
        failures.append(str(error))
    finish(count, failures)


if __name__ == "__main__":
    main()
