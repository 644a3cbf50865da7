# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Gradients as a newcomer would ask for them, for sm_80: the function that keeps residuals and the one that returns gradients
run by a driver that needs no GPU (test/Runtime/GPU), compared with attn-reference.
usage: gradients.py [CASE..]    with LD_LIBRARY_PATH at the driver"""
import pathlib
import re
import sys
import tempfile

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).parents[3] / "Integration"))
import elements  # noqa: E402
from learned import Learned  # noqa: E402

LEARNED = " {attn.gradient}"


def attention(b, heads, keys, sq, skv, d, dv, clauses, element="f32", more="", attributes="", minus="", results="out"):
    """A function of one attention that learns: sizes of batch, query and key heads, lengths, features."""
    of = lambda h, s, f, e=element: f"tensor<{b}x{h}x{s}x{f}x{e}>"  # noqa: E731
    q, k, v, o = of(heads, sq, d), of(keys, skv, d), of(keys, skv, dv), of(heads, sq, dv)
    types = {"out": o, "lse": f"tensor<{b}x{heads}x{sq}xf32>", "weights": f"tensor<{b}x{heads}x{sq}x{skv}x{element}>"}
    names = results.split(", ")
    given, kept = ", ".join(types[n] for n in names), ", ".join(f"%{n}" for n in names)
    returning = f" returning({results})" if len(names) > 1 else ""
    return (f"func.func @f(%q: {q}{LEARNED}, %k: {k}{LEARNED}, %v: {v}{LEARNED}{more}) -> ({given}) {{\n"
            f"  {kept} = attn.sdpa %q, %k, %v {minus}{clauses}{returning} {{{attributes}}} : ({q}, {k}, {v}) -> ({given})\n  return {kept} : {given}\n}}")


READS = """score_mod (%s: f32, %b, %h, %i, %j) with (%near = %table : tensor<4x7xf32>, %any = %buckets : tensor<3xf32>, %one = %number : tensor<f32>) {
    %c3 = arith.constant 3 : index
    %d = arith.subi %i, %j : index
    %a = arith.addi %d, %c3 : index
    %x0 = tensor.extract %near[%h, %a] : tensor<4x7xf32>
    %product = arith.muli %i, %j : index
    %bucket = arith.remui %product, %c3 : index
    %x1 = tensor.extract %any[%bucket] : tensor<3xf32>
    %x2 = tensor.extract %one[] : tensor<f32>
    %g = math.tanh %s : f32
    %y0 = math.fma %g, %x2, %x0 : f32
    %y1 = math.fma %x1, %s, %y0 : f32
    attn.yield %y1 : f32
  } """
READ = "".join(f", %{name}: tensor<{shape}f32>{LEARNED}" for name, shape in (("table", "4x7x"), ("buckets", "3x"), ("number", "")))
LAYER = """func.func @f(%x: tensor<1x5x12xf32> {attn.gradient}, %wq: tensor<12x16xf32> {attn.gradient}, %wk: tensor<8x12xf32> {attn.gradient},
    %norm: tensor<12xf32> {attn.gradient}, %wo: tensor<16x12xf32> {attn.gradient}, %cos: tensor<9x4xf32>, %sin: tensor<9x4xf32>) -> tensor<1x5x12xf32> {
  %n = attn.rms_norm %x, %norm eps 1.0e-6 : tensor<1x5x12xf32>, tensor<12xf32>
  %pq = attn.project %n, %wq : (tensor<1x5x12xf32>, tensor<12x16xf32>) -> tensor<1x5x16xf32>
  %pk = attn.project %n, %wk transposed : (tensor<1x5x12xf32>, tensor<8x12xf32>) -> tensor<1x5x8xf32>
  %hq = attn.split_heads %pq into 2 : tensor<1x5x16xf32> -> tensor<1x2x5x8xf32>
  %hk = attn.split_heads %pk into 1 : tensor<1x5x8xf32> -> tensor<1x1x5x8xf32>
  %rq = attn.rope %hq, %cos, %sin : tensor<1x2x5x8xf32>, tensor<9x4xf32>
  %rk = attn.rope %hk, %cos, %sin : tensor<1x1x5x8xf32>, tensor<9x4xf32>
  %o = attn.sdpa %rq, %rk, %hk scale 0.3 where causal(top_left) : (tensor<1x2x5x8xf32>, tensor<1x1x5x8xf32>, tensor<1x1x5x8xf32>) -> tensor<1x2x5x8xf32>
  %p = attn.sdpa %o, %rk, %hk scale 0.3 : (tensor<1x2x5x8xf32>, tensor<1x1x5x8xf32>, tensor<1x1x5x8xf32>) -> tensor<1x2x5x8xf32>
  %m = attn.merge_heads %p : tensor<1x2x5x8xf32> -> tensor<1x5x16xf32>
  %w = attn.project %m, %wo : (tensor<1x5x16xf32>, tensor<16x12xf32>) -> tensor<1x5x12xf32>
  %y = arith.addf %x, %w : tensor<1x5x12xf32>
  return %y : tensor<1x5x12xf32>
}"""
SIGMOID = "normalization = #attn<normalization sigmoid>"
DOCUMENTS = "document(cumulative %starts : tensor<4xi32>, %starts : tensor<4xi32>) and causal(bottom_right in document)"
DROPPED = "dropout 0.3 seed %seed : tensor<i64>"

# Each with sizes for `?` in the order of places: batch, queries, keys.
CASES = {
    "one": (attention(1, 1, 1, 1, 1, 2, 3, "scale 0.3"), ()),
    "causal": (attention(2, 2, 1, 9, 13, 16, 12, "scale 0.3 where causal(bottom_right)"), ()),
    "rows_without_keys": (attention(1, 1, 1, 9, 5, 8, 8, "scale 0.3 where causal(bottom_right)"), ()),
    "unknown": (attention("?", 4, 2, "?", "?", 8, 8, "scale 0.3 where causal(top_left)", "bf16"), (1, 7, 6)),
    "rounded": (attention(1, 2, 2, 6, 6, 8, 8, "scale 0.3 where window(left = 2, top_left)", "f16"), ()),
    "bias": (attention(2, 2, 1, 5, 6, 8, 8, "bias %bias : tensor<2x5x6xf32> scale 0.3", more=f", %bias: tensor<2x5x6xf32>{LEARNED}"), ()),
    "column": (attention(1, 2, 1, 5, 6, 8, 8, "bias %bias : tensor<5x1xf32> scale 0.3 where %seen : tensor<5x6xi1>",
                         more=f", %bias: tensor<5x1xf32>{LEARNED}, %seen: tensor<5x6xi1>", attributes=SIGMOID), ()),
    "reads": (attention(2, 4, 2, 5, 6, 8, 4, "scale 0.3 " + READS + "where key_length(%len : tensor<2xi32>)", more=READ + ", %len: tensor<2xi32>"), ()),
    "documents": (attention(1, 2, 1, 9, 9, 8, 8, f"scale 0.3 where {DOCUMENTS}", more=", %starts: tensor<4xi32>"), ()),
    "weights": (attention(1, 2, 2, 5, 6, 8, 8, "scale 0.3 where causal(bottom_right)", results="out, lse, weights"), ()),
    "sinks": (attention(2, 2, 1, 5, 6, 8, 8, "scale 0.3 sinks %sinks : tensor<2xf32>", more=f", %sinks: tensor<2xf32>{LEARNED}"), ()),
    "two_maps": (attention(1, 2, 1, 5, 6, 8, 8, "scale 0.3 where causal(top_left)", minus="minus %q2, %k2 by %l : tensor<2xf32> ",
                           more=f", %q2: tensor<1x2x5x8xf32>{LEARNED}, %k2: tensor<1x1x6x8xf32>{LEARNED}, %l: tensor<2xf32>{LEARNED}"), ()),
    "dropout": (attention("?", 4, 2, "?", "?", 8, 8, f"bias %bias : tensor<6xf32> scale 0.3 where causal(bottom_right) {DROPPED}",
                          more=f", %bias: tensor<6xf32>{LEARNED}, %seed: tensor<i64>"), (2, 5, 6)),
    "dropout_sigmoid": (attention(1, 2, 1, 5, 6, 8, 8, f"scale 0.3 {DROPPED}", "f16", more=", %seed: tensor<i64>", attributes=SIGMOID), ()),
    "layer": (LAYER, ()),
}
FORWARD = ["unknown", "dropout", "layer"]  # functions that keep residuals; the others' are attentions of other tests
# Of the largest element.
TOLERANCE = {"f32": 1e-5, "f16": 2e-3, "bf16": 1.6e-2}


def fill(port, rng):
    if port.element == "i1":
        return rng.random(port.shape) < 0.7
    if port.element == "i64":
        return np.array(2**40 + 17)
    if port.element == "i32":
        return np.array([0, 3, 3, 9] if port.name == "starts" else [6, 3], np.int32)
    size = port.shape[0] ** -0.5 if re.fullmatch("w.", port.name) else 1
    return elements.store(rng.standard_normal(port.shape) * size, port.element)


def known(ports, sizes):
    """Sizes of `?` by their place, where the number of places is that of attention: batch and length."""
    for port in ports:
        if -1 in port.shape:
            length = sizes[2] if port.name in ("k", "v", "d_k", "d_v") else sizes[1]
            port.shape = tuple(sizes[0] if i == 0 and n == -1 else length if n == -1 else n for i, n in enumerate(port.shape))
    return ports


class Known(Learned):
    def __init__(self, text, folder, sizes):
        super().__init__(text, folder)
        self.sizes = sizes

    def ports(self, which):
        arguments, results = super().ports(which)
        return (known(arguments, self.sizes), known(results, self.sizes)) if self.sizes else (arguments, results)


def error(name, rng, folder):
    """The largest error of a gradient or of a result, over what is allowed."""
    text, sizes = CASES[name]
    case = Known(text, folder, sizes)
    ports, _ = case.ports("forward")
    arrays = {p.name: fill(p, rng) for p in ports}
    arguments, _ = case.ports("gradient")
    cotangents = {p.name: fill(p, rng) for p in arguments if p.name.startswith("d_")}
    given = case.gradient_inputs(arrays, cotangents)
    worst = 0
    for which, inputs in (("forward", arrays), ("gradient", given)):
        if which == "forward" and name not in FORWARD:
            continue
        kernel = case.kernel(which, "sm_80")
        got, want = case.call(kernel, which, inputs), case.evaluate(which, inputs)
        for port in case.ports(which)[1]:
            found, expected = elements.numbers(got[port.name]), want[port.name]
            finite = np.isfinite(expected)
            assert np.array_equal(finite, np.isfinite(found)), f"{port.name}: NaN or infinity in other places"
            most = TOLERANCE[ports[0].element] * max(np.abs(expected[finite]).max(initial=0), 0.1)
            worst = max(worst, np.abs(found - expected)[finite].max(initial=0) / most)
    if name == "reads":  # its gradient has no attention of blocks
        library = pathlib.Path(folder, "f_gradient.so").read_bytes()
        assert b".target sm_80" in library and not re.search(rb"^\s*(atom|red)\.", library, re.MULTILINE), "a sum has no order"
    return worst


wrong = 0
for number, name in enumerate(CASES):
    if sys.argv[1:] and name not in sys.argv[1:]:
        continue
    with tempfile.TemporaryDirectory() as folder:
        of = error(name, np.random.default_rng(number), folder)
    print(f"{name}: {of:.2f} of what is allowed{'' if of <= 1 else ' WRONG'}")
    wrong += not of <= 1
sys.exit(wrong > 0)
