# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Loops and calls that a specification has of its own, around attentions too, against the Reference, which evaluates
them as they stand; sizes known and unknown."""
import tempfile

import numpy as np

from kernels import Kernel, compare, finish, reference

HELPERS = """
func.func private @norm(%x: {A}) -> {A} {{
  %y = attn.rms_norm %x eps 1.0e-5 : {A}
  return %y : {A}
}}
func.func private @attend(%q: {A}, %k: {A}) -> {A} {{
  %n = call @norm(%q) : ({A}) -> {A}
  %o = attn.sdpa %n, %k, %k scale 0.3 where causal(bottom_right) : ({A}, {A}, {A}) -> {A}
  return %o : {A}
}}
"""
LOOP = """
  %r = scf.forall (%i) = ({lower}) to ({upper}) step ({step}) shared_outs(%o = %x) -> {A} {{
    %s = tensor.extract_slice %y[%i, 0] [1, 8] [1, 1] : {A} to tensor<1x8xf32>
    scf.forall.in_parallel {{
      tensor.parallel_insert_slice %s into %o[%i, 0] [1, 8] [1, 1] : tensor<1x8xf32> into {A}
    }}
  }}
"""
DIM = "  %c0 = arith.constant 0 : index\n  %c1 = arith.constant 1 : index\n  %n = tensor.dim %x, %c0 : {A}\n"
NESTED = """
  %e = tensor.empty({dynamic}) : {A}
  %r = scf.forall (%i) in ({n}) shared_outs(%o = %e) -> {A} {{
    %row = tensor.extract_slice %o[%i, 0] [1, 8] [1, 1] : {A} to tensor<1x8xf32>
    %inner = scf.forall (%j) = (0) to (8) step (2) shared_outs(%p = %row) -> tensor<1x8xf32> {{
      %a = tensor.extract_slice %x[%i, %j] [1, 2] [1, 1] : {A} to tensor<1x2xf32>
      %b = arith.addf %a, %a : tensor<1x2xf32>
      scf.forall.in_parallel {{
        tensor.parallel_insert_slice %b into %p[0, %j] [1, 2] [1, 1] : tensor<1x2xf32> into tensor<1x8xf32>
      }}
    }}
    scf.forall.in_parallel {{
      tensor.parallel_insert_slice %inner into %o[%i, 0] [1, 8] [1, 1] : tensor<1x8xf32> into {A}
    }}
  }}
"""
AROUND = """
  %e = tensor.empty({dynamic}) : {B}
  %r = scf.forall (%i) = (0) to ({batch}) step (1) shared_outs(%o = %e) -> {B} {{
    %q = tensor.extract_slice %x[%i, 0, 0] [1, 7, 8] [1, 1, 1] : {B} to tensor<7x8xf32>
    %k = tensor.extract_slice %y[%i, 0, 0] [1, 7, 8] [1, 1, 1] : {B} to tensor<7x8xf32>
    %a = attn.sdpa %q, %k, %k scale 0.5 where causal(top_left) : (tensor<7x8xf32>, tensor<7x8xf32>, tensor<7x8xf32>) -> tensor<7x8xf32>
    scf.forall.in_parallel {{
      tensor.parallel_insert_slice %a into %o[%i, 0, 0] [1, 7, 8] [1, 1, 1] : tensor<7x8xf32> into {B}
    }}
  }}
"""
SUM = """
  %zero = arith.constant 0.0 : f32
  %total = scf.parallel (%i) = (%c1) to (%n) step (%c1) init (%zero) -> f32 {{
    %v = tensor.extract %y[%i, %c1] : {A}
    scf.reduce(%v : f32) {{
    ^bb0(%a: f32, %b: f32):
      %s = arith.addf %a, %b : f32
      scf.reduce.return %s : f32
    }}
  }}
  %r = tensor.from_elements %total : tensor<f32>
"""


def function(body, argument="{A}", result="{A}", name="kernel"):
    return (f"func.func @{name}(%x: {argument}, %y: {argument}) -> {result} {{{{\n{body}"
            f"  return %r : {result}\n}}}}\n")


CALLS = "  %a = call @attend(%x, %y) : ({A}, {A}) -> {A}\n  %r = call @attend(%a, %a) : ({A}, {A}) -> {A}\n"
PUBLIC = (function("  %r = call @attend(%x, %y) : ({A}, {A}) -> {A}\n", name="inner")
          + function("  %a = call @inner(%x, %y) : ({A}, {A}) -> {A}\n  %r = arith.addf %a, %x : {A}\n"))
# name -> (text, how many rows x and y have, or None for a batch of 7 rows)
CASES = {
    "calls": HELPERS + function(CALLS), "a call of an entry": HELPERS + PUBLIC,
    "a loop from 2": function(LOOP.replace("{lower}", "2").replace("{upper}", "8").replace("{step}", "3")),
    "a loop to the end": function(DIM + LOOP.replace("{lower}", "%c1").replace("{upper}", "%n").replace("{step}", "2")),
    "a loop of nothing": function(DIM + LOOP.replace("{lower}", "%n").replace("{upper}", "%c1").replace("{step}", "%c1")),
    "nested loops": function(DIM + NESTED), "a loop around attention": function(DIM.replace("{A}", "{B}") + AROUND, "{B}", "{B}"),
    "a sum": function(DIM + SUM, result="tensor<f32>"),
}

# What the Reference does not know.
DIRECT = {"a sum": lambda x, y: np.float32(y[1:, 1].sum(dtype=np.float64))}


def run(name, text, known, number):
    rng = np.random.default_rng(number)
    batched = "{B}" in text
    shape = (3, 7, 8) if batched else (9, 8)
    n = str(shape[0]) if known else "%n"
    text = text.format(A=f"tensor<{9 if known else '?'}x8xf32>", B=f"tensor<{3 if known else '?'}x7x8xf32>", n=n, batch=n,
                       dynamic="" if known else "%n")
    inputs = [rng.standard_normal(shape).astype(np.float32) for _ in range(2)]
    with tempfile.TemporaryDirectory() as folder:
        kernel = Kernel(text, folder)
        if name in DIRECT:
            want = DIRECT[name](*inputs)
        else:
            want = reference(kernel.source, inputs, 1, folder, entry="kernel")[0]
        got = kernel(inputs, [np.full(want.shape, np.nan, np.float32)], threads=1 + number % 3)[0]
        compare(f"{name} known={known}", got, want)
        if "@inner" in text:  # is a function of the library as well
            kernel.dll["inner"]


def main():
    count, failures = 0, []
    for number, (name, text) in enumerate(CASES.items()):
        for known in (True, False):
            count += 1
            try:
                run(name, text, known, number)
            except (AssertionError, RuntimeError) as error:
                failures.append(f"{name} known={known}: {error}")
    finish(count, failures)


if __name__ == "__main__":
    main()
