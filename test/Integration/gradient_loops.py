# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Gradients of loops around attention: lookups (embeddings), broadcasts, sums, maxima, padding. In f64 compiled gradients are compared with
central differences of the compiled forward function along random directions, and with attn-reference; in bf16 with those of f64."""
import sys
import tempfile

import numpy as np

import elements
from learned import Learned, learning

LOOKUP = """#id = affine_map<(s, d) -> (s)>
#full = affine_map<(s, d) -> (s, d)>
func.func @f(%ids: tensor<?xi64>, %table: tensor<9x8xf64>, %w: tensor<8x8xf64>) -> (tensor<?x8xf64> {attn.name = "y"}) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %ids, %c0 : tensor<?xi64>
  %e = tensor.empty(%n) : tensor<?x8xf64>
  %x = linalg.generic {indexing_maps = [#id, #full], iterator_types = ["parallel", "parallel"]} ins(%ids : tensor<?xi64>) outs(%e : tensor<?x8xf64>) {
  ^bb0(%i: i64, %o: f64):
    %row = arith.index_cast %i : i64 to index
    %d = linalg.index 1 : index
    %t = tensor.extract %table[%row, %d] : tensor<9x8xf64>
    %s = math.tanh %t : f64
    linalg.yield %s : f64
  } -> tensor<?x8xf64>
  %q = attn.project %x, %w : (tensor<?x8xf64>, tensor<8x8xf64>) -> tensor<?x8xf64>
  %y = attn.sdpa %q, %x, %x scale 0.5 where causal(top_left) : (tensor<?x8xf64>, tensor<?x8xf64>, tensor<?x8xf64>) -> tensor<?x8xf64>
  return %y : tensor<?x8xf64>
}
"""

BROADCAST = """#full = affine_map<(s, d) -> (s, d)>
#row = affine_map<(s, d) -> (d)>
#column = affine_map<(s, d) -> (s)>
func.func @f(%x: tensor<?x8xf64>, %gain: tensor<8xf64>, %shift: tensor<?xf64>) -> (tensor<?x8xf64> {attn.name = "y"}, tensor<8xf64> {attn.name = "total"}) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x8xf64>
  %e = tensor.empty(%n) : tensor<?x8xf64>
  %g = linalg.generic {indexing_maps = [#full, #row, #column, #full], iterator_types = ["parallel", "parallel"]}
      ins(%x, %gain, %shift : tensor<?x8xf64>, tensor<8xf64>, tensor<?xf64>) outs(%e : tensor<?x8xf64>) {
  ^bb0(%a: f64, %b: f64, %c: f64, %o: f64):
    %p = arith.mulf %a, %b : f64
    %s = arith.subf %p, %c : f64
    %r = math.exp %s : f64
    linalg.yield %r : f64
  } -> tensor<?x8xf64>
  %y = attn.sdpa %x, %x, %g scale 0.5 : (tensor<?x8xf64>, tensor<?x8xf64>, tensor<?x8xf64>) -> tensor<?x8xf64>
  %zero = arith.constant 0.0 : f64
  %e1 = tensor.empty() : tensor<8xf64>
  %z1 = linalg.fill ins(%zero : f64) outs(%e1 : tensor<8xf64>) -> tensor<8xf64>
  %total = linalg.reduce ins(%y : tensor<?x8xf64>) outs(%z1 : tensor<8xf64>) dimensions = [0]
    (%in: f64, %sum: f64) {
      %s = arith.addf %in, %sum : f64
      linalg.yield %s : f64
    }
  return %y, %total : tensor<?x8xf64>, tensor<8xf64>
}
"""

# Pooled by a maximum, and by a minimum that begins with a learned number; repeated, and padded.
POOL = """func.func @f(%x: tensor<?x8xf64>, %row: tensor<8xf64>, %most: tensor<8xf64>) -> (tensor<8xf64> {attn.name = "best"}, tensor<8xf64> {attn.name = "least"}, tensor<?x10xf64> {attn.name = "y"}) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x8xf64>
  %low = arith.constant 0xFFF0000000000000 : f64
  %zero = arith.constant 0.0 : f64
  %e1 = tensor.empty() : tensor<8xf64>
  %start = linalg.fill ins(%low : f64) outs(%e1 : tensor<8xf64>) -> tensor<8xf64>
  %best = linalg.reduce ins(%x : tensor<?x8xf64>) outs(%start : tensor<8xf64>) dimensions = [0]
    (%in: f64, %so: f64) {
      %s = arith.maximumf %in, %so : f64
      linalg.yield %s : f64
    }
  %least = linalg.reduce { arith.minimumf } ins(%x : tensor<?x8xf64>) outs(%most : tensor<8xf64>) dimensions = [0]
  %e = tensor.empty(%n) : tensor<?x8xf64>
  %many = linalg.broadcast ins(%row : tensor<8xf64>) outs(%e : tensor<?x8xf64>) dimensions = [0]
  %o = attn.sdpa %many, %x, %x scale 0.5 : (tensor<?x8xf64>, tensor<?x8xf64>, tensor<?x8xf64>) -> tensor<?x8xf64>
  %y = tensor.pad %o low[0, 2] high[0, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f64
  } : tensor<?x8xf64> to tensor<?x10xf64>
  return %best, %least, %y : tensor<8xf64>, tensor<8xf64>, tensor<?x10xf64>
}
"""


def normal(*shape):
    return lambda rng, n: rng.standard_normal([n if d is None else d for d in shape])


def places(rng, n):
    """Some rows several times, and some outside: the nearest is read."""
    return np.where(rng.random(n) < 0.2, rng.choice([-3, 40], n), rng.integers(0, 9, n))


CASES = {
    "lookup": (LOOKUP, ("table", "w"), {"ids": places, "table": normal(9, 8), "w": normal(8, 8)}),
    "broadcast": (BROADCAST, ("x", "gain", "shift"), {"x": normal(None, 8), "gain": normal(8), "shift": normal(None)}),
    "pool": (POOL, ("x", "row", "most"), {"x": normal(None, 8), "row": normal(8), "most": normal(8)}),
}


def gradients(learned, kernels, arrays, cotangents, threads):
    forward, gradient = kernels
    kept = learned.call(forward, "forward", arrays, threads)
    return kept, learned.call(gradient, "gradient", {**arrays, **kept, **cotangents}, threads)


def sized(ports, n):
    for port in ports:
        port.shape = tuple(n if d == -1 else d for d in port.shape)
    return ports


class Sized(Learned):
    """With the unknown size that all have in common."""
    length = 0

    def ports(self, which):
        return tuple(sized(ports, self.length) for ports in super().ports(which))


def compiled(learned):
    return [learned.kernel(which) for which in ("forward", "gradient")]


def check(name, n, rng, wide, narrow):
    """`wide` and `narrow` are the program in f64 and in bf16, with their kernels."""
    (learned, kernels), (low, low_kernels) = wide, narrow
    _, wrt, make = CASES[name]
    arrays = {key: value(rng, n) for key, value in make.items()}
    learned.length = low.length = n
    cotangents = {p.name: rng.standard_normal(p.shape) for p in learned.ports("gradient")[0] if p.name.startswith("d_")}
    _, got = gradients(learned, kernels, arrays, cotangents, 1)
    again = gradients(learned, kernels, arrays, cotangents, 2)[1]
    assert all(np.array_equal(got[key], again[key]) for key in got), f"{name} of {n}: other bits with two threads"
    if not (name == "lookup" and ((arrays["ids"] < 0) | (arrays["ids"] > 8)).any()):  # which attn-reference refuses
        want = learned.evaluate("gradient", learned.gradient_inputs(arrays, cotangents))
        for key in got:
            assert np.allclose(got[key], want[key], rtol=1e-11, atol=1e-12), f"{name} of {n}: {key} is not attn-reference's"
    directions = {key: rng.standard_normal(np.shape(arrays[key])) for key in wrt}
    step, loss = 1e-6, []
    for sign in (1, -1):
        moved = {key: value + sign * step * directions[key] if key in wrt else value for key, value in arrays.items()}
        out = learned.call(kernels[0], "forward", moved)
        loss.append(sum((out[d[2:]] * cotangents[d]).sum() for d in cotangents))
    slope = (loss[0] - loss[1]) / (2 * step)
    along = sum((got["d_" + key] * directions[key]).sum() for key in wrt)
    assert abs(slope - along) < 1e-6 * (1 + abs(slope)), f"{name} of {n}: {along} along a direction, differences {slope}"
    stored = {key: value if key == "ids" else elements.store(value, "bf16") for key, value in {**arrays, **cotangents}.items()}
    rounded = gradients(low, low_kernels, {key: stored[key] for key in arrays}, {key: stored[key] for key in cotangents}, 1)[1]
    for key in got:
        error = np.abs(elements.numbers(rounded[key]) - got[key]).max(initial=0)
        # Of two that round to one number both are the maximum.
        assert name == "pool" or error <= 0.06 * (1 + np.abs(got[key]).max(initial=0)), f"{name} of {n}: {key} of bf16 is off by {error}"


def main():
    rng, failures, sizes = np.random.default_rng(11), [], (1, 2, 7, 33)
    for name, (text, wrt, _) in CASES.items():
        text = learning(text, wrt)
        with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as other:
            programs = Sized(text, folder), Sized(text.replace("f64", "bf16").replace("0xFFF0000000000000", "0xFF80"), other)
            pairs = [(program, compiled(program)) for program in programs]
            for n in sizes:
                try:
                    check(name, n, rng, *pairs)
                except AssertionError as error:
                    failures.append(str(error))
                    print("FAILED", error)
    print(f"{len(sizes) * len(CASES)} calls, {len(failures)} failures")
    sys.exit(bool(failures))


if __name__ == "__main__":
    main()
