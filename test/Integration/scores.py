# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sweeps score functions, sinks and prologues of compiled kernels over shapes, masks and stages of the scores, against
their definition in f64 and against the project's Reference."""
import argparse
import tempfile

import numpy as np

import elements
from kernels import Kernel, attention, compare, finish, reference, visible


def lowest(element):
    """Kernels work in units of log2, in which a lower score has no finite value (docs/Spec.md, attn.score_mod)."""
    return float(np.finfo(elements.STORED[elements.statistics(element)]).min) * np.log(2)


class Case:
    """Steps between scale and mask as MLIR text on %scaled, and the same on arrays: modify(s, b, h, q, k, captured).
    `captured` makes the other arguments: name -> (element type, shape as a function of (b, h, sq, skv))."""

    def __init__(self, name, steps, modify, captured=(), mask=None, heads=4, group=2, dim=32, sinks=None, values=None,
                 floor=False):
        self.name, self.steps, self.modify, self.captured = name, steps, modify, dict(captured)
        self.mask, self.heads, self.group, self.dim, self.sinks = mask, heads, group, dim, sinks
        self.values, self.floor = values, floor

    def text(self, tail, element):
        """The whole function; `tail` is what it returns besides out: weights, or the scores after some step. Without it,
        few queries have kernels of their own."""
        hkv = self.heads // self.group
        query, key = f"tensor<?x{self.heads}x?x{self.dim}x{element}>", f"tensor<?x{hkv}x?x{self.dim}x{element}>"
        scores = f"tensor<?x{self.heads}x?x?xf32>"
        arguments = "".join(f", %{n}: {t}" for n, (t, _) in self.captured.items())
        mask = f"attn.mask %modified where {self.mask}" if self.mask else "attn.scale %modified by 1.0"
        sinks = f" sinks %{self.sinks} : tensor<{self.heads}xf32>" if self.sinks else ""
        results, returned = (query, "%out") if tail is None else (f"{query}, {scores}", f"%out, %{tail}")
        text = f"""
func.func @kernel(%q: {query}, %k: {key}, %v: {key}{arguments}) -> ({results}) {{
  %scores = attn.scores %q, %k : ({query}, {key}) -> {scores}
  %scaled = attn.scale %scores by {self.dim**-0.5!r} : {scores}
  {self.steps.replace("SCORES", scores)}
  %masked = {mask} : {scores}
  %weights = attn.softmax %masked{sinks} : {scores}
  %out = attn.context %weights, %v : ({scores}, {key}) -> {query}
  return {returned} : {results}
}}
"""
        if element == "f64":
            text = text.replace("f32", "f64").replace("0xFF800000", "0xFFF0000000000000")
        return text

    def run(self, kernel, tail, sizes, seed, folder, element):
        b, sq, skv = sizes
        rng = np.random.default_rng(seed)
        normal = lambda *s: rng.standard_normal(s).astype(np.float32)
        hkv = self.heads // self.group
        arrays = {"q": 2 * normal(b, self.heads, sq, self.dim), "k": normal(b, hkv, skv, self.dim),
                  "v": normal(b, hkv, skv, self.dim)}
        for name, (type_text, shape) in self.captured.items():
            shape = shape(b, self.heads, sq, skv)
            arrays[name] = 0.1 * normal(*shape) if "f32" in type_text else rng.integers(0, max(skv, 1), shape, np.int32)
        if self.values:
            self.values(arrays)
        for name, array in arrays.items():
            if array.dtype == np.float32:
                arrays[name] = elements.store(array, element if name in "qkv" else elements.statistics(element))
        outputs = [elements.empty((b, self.heads, sq, self.dim), element)]
        if tail is not None:
            outputs.append(elements.empty((b, self.heads, sq, skv), elements.statistics(element)))
        got = kernel(list(arrays.values()), outputs, 1 + seed % 3)
        captured = {n: x.astype(np.float64) if x.dtype == np.float32 else x for n, x in arrays.items()}
        modify = lambda s, *at: self.modify(s, *at, captured)
        causal = [("causal", "top_left")] if self.mask else []
        seen = visible(causal, (b, self.heads, sq, skv), arrays)
        out, _, weights, scaled = attention(*(arrays[n] for n in "qkv"), self.dim**-0.5, seen, modify=modify,
                                            sinks=arrays.get(self.sinks))
        grid = np.meshgrid(*map(np.arange, scaled.shape), indexing="ij", sparse=True)
        wanted = {"weights": weights, "scaled": scaled, "scores": scaled * self.dim**0.5}
        with np.errstate(all="ignore"):
            wanted["modified"] = np.broadcast_to(modify(scaled, *grid), scaled.shape)
            if self.floor:
                wanted["modified"] = np.maximum(wanted["modified"], lowest(element))
        wanted["masked"] = np.where(seen, wanted["modified"], -np.inf)
        error = 0.0
        bounds = [elements.near(element, out, rtol=2e-5, atol=1e-5), dict(rtol=2e-5, atol=1e-5)]
        if element == "f64":
            bounds = 2 * [dict(rtol=1e-12, atol=1e-12)]
        for what, x, y, near in zip(("out", tail), got, (out, wanted.get(tail)), bounds):
            error = max(error, compare(f"{self.name} {sizes} {what}", x, y, **near))
        if sq * skv > MOST_REFERENCE_PAIRS or seed % 2:  # the Reference is slow
            return error
        expected = reference(kernel.source, list(arrays.values()), len(got), folder)
        for what, x, y, near in zip(("out", tail), got, expected, bounds):
            if self.floor and what == tail:
                y = np.where(np.isfinite(y), np.maximum(y, lowest(element)), y)
            compare(f"{self.name} {sizes} {what} (Reference)", x, y, **near)
        return error


def mod(body, captures=""):
    return f"%modified = attn.score_mod %scaled (%s: f32, %b, %h, %i, %j) {captures} {{\n{body}\n}} : SCORES"


CAUSAL = "causal(top_left)"
CASES = [
    Case("softcap", "%modified = attn.softcap %scaled at 1.5 : SCORES", lambda s, b, h, q, k, x: 1.5 * np.tanh(s / 1.5)),
    Case("softcap_causal", "%modified = attn.softcap %scaled at 1.5 : SCORES",
         lambda s, b, h, q, k, x: 1.5 * np.tanh(s / 1.5), mask=CAUSAL),
    Case("alibi", "%modified = attn.alibi %scaled, %slopes aligned top_left : SCORES, tensor<4xf32>",
         lambda s, b, h, q, k, x: s + x["slopes"][h] * (k - q), {"slopes": ("tensor<4xf32>", lambda b, h, sq, skv: (h,))},
         mask=CAUSAL),
    Case("alibi_bottom_right", "%modified = attn.alibi %scaled, %slopes aligned bottom_right : SCORES, tensor<4xf32>",
         lambda s, b, h, q, k, x: s + x["slopes"][h] * (k - q - (k.size - q.size)),
         {"slopes": ("tensor<4xf32>", lambda b, h, sq, skv: (h,))}),
    Case("alibi_offset", "%modified = attn.alibi %scaled, %slopes aligned offset by %start : tensor<?xi32> : SCORES, "
         "tensor<4xf32>", lambda s, b, h, q, k, x: s + x["slopes"][h] * (k - q - x["start"][b]),
         {"slopes": ("tensor<4xf32>", lambda b, h, sq, skv: (h,)), "start": ("tensor<?xi32>", lambda b, *_: (b,))}),
    Case("alibi_computed", "%modified = attn.alibi %scaled aligned top_left : SCORES",
         lambda s, b, h, q, k, x: s + np.array([2**-2.0, 2**-4.0, 2**-6.0, 2**-8.0, 2**-1.0, 2**-3.0])[h] * (k - q),
         heads=6, group=3, mask=CAUSAL),
    Case("table", mod("""
    %c = arith.constant 20 : index
    %d = arith.subi %j, %i : index
    %at = arith.addi %d, %c : index
    %x = tensor.extract %t[%h, %at] : tensor<4x41xf32>
    %y = arith.addf %s, %x : f32
    attn.yield %y : f32""", "with (%t = %table : tensor<4x41xf32>)"),
         lambda s, b, h, q, k, x: s + x["table"][h, np.clip(k - q + 20, 0, 40)],
         {"table": ("tensor<4x41xf32>", lambda *_: (4, 41))}),
    Case("table_forward", mod("""
    %d = arith.subi %i, %j : index
    %x = tensor.extract %t[%h, %d] : tensor<?x?xf32>
    %y = arith.mulf %s, %x : f32
    attn.yield %y : f32""", "with (%t = %table : tensor<?x?xf32>)"),
         lambda s, b, h, q, k, x: s * x["table"][h, np.clip(q - k, 0, q.size - 1)],
         {"table": ("tensor<?x?xf32>", lambda b, h, sq, skv: (h, sq))}, mask=CAUSAL),
    Case("gather", mod("""
    %p = tensor.extract %u[%b, %i] : tensor<?x?xi32>
    %r = tensor.extract %w[%b, %j] : tensor<?x?xi32>
    %d = arith.subi %p, %r : i32
    %a = math.absi %d : i32
    %at = arith.index_cast %a : i32 to index
    %x = tensor.extract %t[%at, %h] : tensor<?x4xf32>
    %y = arith.addf %s, %x : f32
    attn.yield %y : f32""", "with (%t = %table : tensor<?x4xf32>, %u = %from : tensor<?x?xi32>, %w = %to : tensor<?x?xi32>)"),
         lambda s, b, h, q, k, x: s + x["table"][np.clip(abs(x["from"][b, q] - x["to"][b, k]), 0, 8), h],
         {"table": ("tensor<?x4xf32>", lambda b, h, sq, skv: (9, h)), "from": ("tensor<?x?xi32>", lambda b, h, sq, skv: (b, sq)),
          "to": ("tensor<?x?xi32>", lambda b, h, sq, skv: (b, skv))}),
    Case("distance", mod("""
    %d = arith.subi %i, %j : index
    %e = arith.index_cast %d : index to i32
    %a = math.absi %e : i32
    %f = arith.sitofp %a : i32 to f32
    %c = arith.constant 1.0 : f32
    %g = arith.addf %f, %c : f32
    %l = math.log %g : f32
    %y = arith.subf %s, %l : f32
    attn.yield %y : f32"""), lambda s, b, h, q, k, x: s - np.log(1 + abs(q - k))),
    Case("window_per_head", mod("""
    %w = tensor.extract %t[%h] : tensor<4xi32>
    %width = arith.index_cast %w : i32 to index
    %d = arith.subi %i, %j : index
    %far = arith.cmpi sgt, %d, %width : index
    %none = arith.constant 0xFF800000 : f32
    %y = arith.select %far, %none, %s : f32
    attn.yield %y : f32""", "with (%t = %widths : tensor<4xi32>)"),
         lambda s, b, h, q, k, x: np.where(q - k > x["widths"][h], -np.inf, s),
         {"widths": ("tensor<4xi32>", lambda *_: (4,))}, mask=CAUSAL),
    Case("chain", """%capped = attn.softcap %scaled at 2.0 : SCORES
  %moved = attn.score_mod %capped (%s: f32, %b, %h, %i, %j) with (%g = %gain : tensor<4xf32>) {
    %f = tensor.extract %g[%h] : tensor<4xf32>
    %y = arith.mulf %s, %f : f32
    attn.yield %y : f32
  } : SCORES
  %modified = attn.alibi %moved, %slopes aligned top_left : SCORES, tensor<4xf32>""",
         lambda s, b, h, q, k, x: 2 * np.tanh(s / 2) * x["gain"][h] + x["slopes"][h] * (k - q),
         {"gain": ("tensor<4xf32>", lambda *_: (4,)), "slopes": ("tensor<4xf32>", lambda *_: (4,))}, mask=CAUSAL),
    Case("lowest", mod("""
    %far = arith.cmpi sgt, %j, %i : index
    %low = arith.constant -3.40282347E+38 : f32
    %y = arith.select %far, %low, %s : f32
    attn.yield %y : f32"""), lambda s, b, h, q, k, x: np.where(k > q, -3.40282347e38, s), floor=True),
    Case("sinks", "%modified = attn.scale %scaled by 1.0 : SCORES", lambda s, b, h, q, k, x: s,
         {"sinks": ("tensor<4xf32>", lambda *_: (4,))}, mask=CAUSAL, sinks="sinks"),
    Case("sinks_infinite", "%modified = attn.scale %scaled by 1.0 : SCORES", lambda s, b, h, q, k, x: s,
         {"sinks": ("tensor<4xf32>", lambda *_: (4,))}, sinks="sinks",
         values=lambda arrays: arrays["sinks"].__setitem__(slice(None), [np.inf, -np.inf, 1e4, -1e4])),
]
LENGTHS = [(1, 1, 1), (2, 7, 3), (1, 16, 16), (2, 33, 97), (1, 130, 129)]
FEW = [(1, 1, 1), (2, 1, 2500), (2, 3, 97), (1, 8, 1100), (1, 2, 4), (2, 15, 961)]
MOST_REFERENCE_PAIRS = 20_000
TAILS = ["weights", "masked", "modified", "scaled", "scores"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, epilog="Other options go to attn-opt.")
    parser.add_argument("--target", default="native")
    parser.add_argument("--only", default="")
    parser.add_argument("--element", default="f32")
    options, flags = parser.parse_known_args()
    count, failures, worst = 0, [], 0.0
    for number, case in enumerate(CASES):
        if options.only and options.only not in case.name:
            continue
        for tail in [None, *(TAILS if number % 4 == 0 else TAILS[number % 4:][:1])]:
            with tempfile.TemporaryDirectory() as folder:
                kernel = Kernel(case.text(tail, options.element), folder, target=options.target, flags=flags)
                for i, sizes in enumerate(FEW if tail is None else LENGTHS):
                    count += 1
                    try:
                        worst = max(worst, case.run(kernel, tail, sizes, 1000 * number + i, folder, options.element))
                    except (AssertionError, RuntimeError) as error:
                        failures.append(str(error))
    finish(count, failures, f"; largest error {worst:.2g}")


if __name__ == "__main__":
    main()
