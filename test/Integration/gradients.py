# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Gradients against differences of the function itself, in f64 and along random directions: a property without any formula.
Every case is a function that learns; `attn-reference` evaluates it and its two others. Then compiled gradients against those
of the reference, by one thread and by three."""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np

from kernels import effort

ATTN_OPT = os.environ.get("ATTN_OPT", "attn-opt")
REFERENCE = os.environ.get("ATTN_REFERENCE", "attn-reference")

TABLE = """score_mod (%s: f64, %b, %h, %i, %j) with (%t = %table : tensor<4x5xf64>) {
    %c = arith.constant 2 : index
    %d = arith.subi %i, %j : index
    %at = arith.addi %d, %c : index
    %x = tensor.extract %t[%h, %at] : tensor<4x5xf64>
    %g = math.tanh %s : f64
    %m = arith.mulf %g, %x : f64
    %y = arith.addf %m, %s : f64
    attn.yield %y : f64
  } """
EVERY = """score_mod (%s: f64, %b, %h, %i, %j) {
    %one = arith.constant 1.0 : f64
    %half = arith.constant 0.5 : f64
    %q = math.fma %s, %s, %one : f64
    %e = math.exp %s : f64
    %e2 = math.exp2 %s : f64
    %em = math.expm1 %s : f64
    %l = math.log %q : f64
    %l2 = math.log2 %q : f64
    %lp = math.log1p %q : f64
    %sq = math.sqrt %q : f64
    %rs = math.rsqrt %q : f64
    %er = math.erf %s : f64
    %si = math.sin %s : f64
    %co = math.cos %s : f64
    %pw = math.powf %q, %half : f64
    %ab = math.absf %s : f64
    %cs = math.copysign %half, %s : f64
    %n = arith.negf %s : f64
    %dv = arith.divf %n, %q : f64
    %mx = arith.maximumf %s, %dv : f64
    %mn = arith.minnumf %s, %half : f64
    %big = arith.cmpf ogt, %s, %half : f64
    %se = arith.select %big, %si, %co : f64
    %a0 = arith.addf %e, %e2 : f64
    %a1 = arith.subf %a0, %em : f64
    %a2 = arith.addf %l, %l2 : f64
    %a3 = arith.addf %lp, %sq : f64
    %a4 = arith.mulf %rs, %er : f64
    %a5 = arith.addf %pw, %ab : f64
    %a6 = arith.mulf %cs, %s : f64
    %a7 = arith.addf %mx, %mn : f64
    %b0 = arith.addf %a1, %a2 : f64
    %b1 = arith.addf %a3, %a4 : f64
    %b2 = arith.addf %a5, %a6 : f64
    %b3 = arith.addf %a7, %se : f64
    %c0 = arith.addf %b0, %b1 : f64
    %c1 = arith.addf %b2, %b3 : f64
    %y = arith.addf %c0, %c1 : f64
    attn.yield %y : f64
  } """
QKV = "%q: tensor<2x4x5x8xf64> {attn.gradient}, %k: tensor<2x2x7x8xf64> {attn.gradient}, %v: tensor<2x2x7x6xf64> {attn.gradient}"
TYPES = "(tensor<2x4x5x8xf64>, tensor<2x2x7x8xf64>, tensor<2x2x7x6xf64>)"
OUT, LSE = "tensor<2x4x5x6xf64>", "tensor<2x4x5xf64>"


def sdpa(clauses, more="", attributes="", minus=""):
    """One attention of grouped heads."""
    return (f"func.func @f({QKV}{', ' + more if more else ''}) -> {OUT} {{\n"
            f"  %out = attn.sdpa %q, %k, %v {minus}{clauses}{attributes} : {TYPES} -> {OUT}\n  return %out : {OUT}\n}}")


def lse():
    return (f"func.func @f({QKV}, %sinks: tensor<4xf64> {{attn.gradient}}) -> ({OUT}, {LSE}) {{\n"
            f"  %out, %lse = attn.sdpa %q, %k, %v scale 0.4 where causal(bottom_right) sinks %sinks : tensor<4xf64> returning(out, lse)"
            f" : {TYPES} -> ({OUT}, {LSE})\n  return %out, %lse : {OUT}, {LSE}\n}}")


def weights():
    pairs = "tensor<2x4x5x7xf64>"
    return (f"func.func @f({QKV}) -> ({OUT}, {pairs}) {{\n"
            f"  %out, %w = attn.sdpa %q, %k, %v scale 0.4 where causal(bottom_right) returning(out, weights)"
            f" : {TYPES} -> ({OUT}, {pairs})\n  return %out, %w : {OUT}, {pairs}\n}}")


LAYER = """func.func @f(%x: tensor<2x5x12xf64> {attn.gradient}, %wq: tensor<12x16xf64> {attn.gradient}, %wk: tensor<8x12xf64> {attn.gradient},
    %bq: tensor<16xf64> {attn.gradient}, %norm: tensor<8xf64> {attn.gradient}, %lw: tensor<8xf64> {attn.gradient},
    %lb: tensor<8xf64> {attn.gradient}, %cos: tensor<9x4xf64>, %sin: tensor<9x4xf64>) -> tensor<2x5x16xf64> {
  %two = attn.scale %x by 2.0 : tensor<2x5x12xf64>
  %act = math.tanh %two : tensor<2x5x12xf64>
  %gate = arith.mulf %act, %x : tensor<2x5x12xf64>
  %pq = attn.project %gate, %wq, %bq : (tensor<2x5x12xf64>, tensor<12x16xf64>, tensor<16xf64>) -> tensor<2x5x16xf64>
  %pk = attn.project %gate, %wk transposed : (tensor<2x5x12xf64>, tensor<8x12xf64>) -> tensor<2x5x8xf64>
  %hq = attn.split_heads %pq into 2 : tensor<2x5x16xf64> -> tensor<2x2x5x8xf64>
  %hk = attn.split_heads %pk into 1 : tensor<2x5x8xf64> -> tensor<2x1x5x8xf64>
  %nq = attn.rms_norm %hq, %norm eps 1.0e-6 : tensor<2x2x5x8xf64>, tensor<8xf64>
  %rq = attn.rope %nq, %cos, %sin : tensor<2x2x5x8xf64>, tensor<9x4xf64>
  %nk = attn.layer_norm %hk, %lw, %lb eps 1.0e-5 : tensor<2x1x5x8xf64>, tensor<8xf64>, tensor<8xf64>
  %rk = attn.rope %nk, %cos, %sin : tensor<2x1x5x8xf64>, tensor<9x4xf64>
  %v = tensor.extract_slice %hk[0, 0, 0, 0] [2, 1, 5, 8] [1, 1, 1, 1] : tensor<2x1x5x8xf64> to tensor<2x1x5x8xf64>
  %o = attn.sdpa %rq, %rk, %v scale 0.3 where causal(top_left) : (tensor<2x2x5x8xf64>, tensor<2x1x5x8xf64>, tensor<2x1x5x8xf64>) -> tensor<2x2x5x8xf64>
  %y = attn.merge_heads %o : tensor<2x2x5x8xf64> -> tensor<2x5x16xf64>
  return %y : tensor<2x5x16xf64>
}"""
STATES = """func.func @f(%q: tensor<4x5x8xf64> {attn.gradient}, %k: tensor<4x9x8xf64> {attn.gradient}) -> (tensor<4x5x8xf64>, tensor<4x5xf64>) {
  %k1 = tensor.extract_slice %k[0, 0, 0] [4, 6, 8] [1, 1, 1] : tensor<4x9x8xf64> to tensor<4x6x8xf64>
  %k2 = tensor.extract_slice %k[0, 6, 0] [4, 3, 8] [1, 1, 1] : tensor<4x9x8xf64> to tensor<4x3x8xf64>
  %o1, %m1, %l1, %a1 = attn.sdpa %q, %k1, %k1 scale 0.5 returning(out, state) : (tensor<4x5x8xf64>, tensor<4x6x8xf64>, tensor<4x6x8xf64>) -> (tensor<4x5x8xf64>, tensor<4x5xf64>, tensor<4x5xf64>, tensor<4x5x8xf64>)
  %o2, %m2, %l2, %a2 = attn.sdpa %q, %k2, %k2 scale 0.5 where causal(top_left) returning(out, state) : (tensor<4x5x8xf64>, tensor<4x3x8xf64>, tensor<4x3x8xf64>) -> (tensor<4x5x8xf64>, tensor<4x5xf64>, tensor<4x5xf64>, tensor<4x5x8xf64>)
  %m, %l, %a = attn.merge_states %m1, %l1, %a1 with %m2, %l2, %a2 : tensor<4x5xf64>, tensor<4x5x8xf64>
  %o, %lse = attn.finalize_state %m, %l, %a : (tensor<4x5xf64>, tensor<4x5xf64>, tensor<4x5x8xf64>) -> (tensor<4x5x8xf64>, tensor<4x5xf64>)
  return %o, %lse : tensor<4x5x8xf64>, tensor<4x5xf64>
}"""

TERNARY = "{normalization = #attn<normalization sigmoid>}"
CASES = {
    "causal": sdpa("scale 0.4 where causal(bottom_right)"),
    "empty_rows": sdpa("scale -0.4 where window(left = 1, top_left) and causal(offset = %o : tensor<i32>)", "%o: tensor<i32>"),
    "bias": sdpa("bias %bias : tensor<4x1x7xf64> scale 0.4", "%bias: tensor<4x1x7xf64> {attn.gradient}"),
    "table": sdpa("scale 0.4 " + TABLE, "%table: tensor<4x5xf64> {attn.gradient}"),
    "every_op": sdpa("scale 0.4 " + EVERY),
    "lse": lse(),
    "weights": weights(),
    "sigmoid": sdpa("bias %bias : tensor<7xf64> scale 0.4", "%bias: tensor<7xf64> {attn.gradient}", " " + TERNARY),
    "differential": sdpa("scale 0.4 where causal(bottom_right)",
                         "%q2: tensor<2x4x5x8xf64> {attn.gradient}, %k2: tensor<2x2x7x8xf64> {attn.gradient}, %l: tensor<4xf64> {attn.gradient}",
                         minus="minus %q2, %k2 by %l : tensor<4xf64> "),
    "layer": LAYER,
    "states": STATES,
}


def signature(text, function):
    """[(name, shape, element)] of arguments and of results."""
    line = re.search(rf"func\.func @{function}\((.*)", text).group(1)
    line = line.split(" attributes ")[0]
    ports = re.findall(r"tensor<([^>]*)> \{attn\.name = \"(\w+)\"", line)
    arguments = line.split(") -> ")[0].count("attn.name = ")
    out = []
    for of, name in ports:
        *shape, element = of.split("x")
        out.append((name, tuple(map(int, shape)), element))
    return out[:arguments], out[arguments:]


class Function:
    """A case, its two others, and a folder for arrays."""

    def __init__(self, name, text, folder):
        self.name, self.folder = name, folder
        (folder / "spec.mlir").write_text(text)
        self.fused = folder / "fused.mlir"
        subprocess.run([ATTN_OPT, folder / "spec.mlir", "--compile-to=fused", "-o", self.fused], check=True)
        self.text = self.fused.read_text()

    def call(self, function, arrays):
        """Results by name."""
        arguments, results = signature(self.text, function)
        command = [REFERENCE, self.fused, f"--entry={function}"]
        for name, _, _ in arguments:
            np.save(self.folder / f"{name}.npy", arrays[name])
            command.append(self.folder / f"{name}.npy")
        for name, _, _ in results:
            command += ["-o", self.folder / f"out_{name}.npy"]
        subprocess.run(command, check=True)
        return {name: np.load(self.folder / f"out_{name}.npy") for name, _, _ in results}


def directional(function, rng):
    """The relative difference of <gradient, v> and of differences along v."""
    arguments, results = signature(function.text, "f")
    arrays = {name: rng.standard_normal(shape) if element == "f64" else np.full(shape, 3, np.int32) for name, shape, element in arguments}
    cotangents = {name: rng.standard_normal(shape) for name, shape, _ in results}

    def loss(values):
        got = function.call("f", values)
        return sum((np.where(np.isfinite(got[n]), got[n], 0) * c).sum() for n, c in cotangents.items())

    forward = function.call("f_forward", arrays)
    given = {**arrays, **forward, **{f"d_{n}": c for n, c in cotangents.items()}}
    gradients = function.call("f_gradient", given)
    directions = {n[2:]: rng.standard_normal(g.shape) for n, g in gradients.items()}
    slope = sum((g * directions[n[2:]]).sum() for n, g in gradients.items())
    h = 1e-4
    moved = [loss({n: a + s * h * directions[n] if n in directions else a for n, a in arrays.items()}) for s in (2, 1, -1, -2)]
    differences = (-moved[0] + 8 * moved[1] - 8 * moved[2] + moved[3]) / (12 * h)
    return abs(slope - differences) / max(abs(slope), 1)


def attention(b, heads, keys, sq, skv, d, dv, clauses, bias=None, sequence_major=False, more="", learned="", attributes=""):
    """A function of one attention, in f32: sizes of batch, query and key heads, lengths, features. `learned`: of the bias."""
    def of(h, s, f):
        return f"tensor<{b}x{s}x{h}x{f}xf32>" if sequence_major else f"tensor<{b}x{h}x{s}x{f}xf32>"

    q, k, v, o = of(heads, sq, d), of(keys, skv, d), of(keys, skv, dv), of(heads, sq, dv)
    layouts = ", ".join(f"{n}_layout = #attn<layout bshd>" for n in ("query", "key", "value", "out")) if sequence_major else ""
    extra = (f", %bias: tensor<{bias}xf32>{learned}" if bias else "") + more
    of_bias = f"bias %bias : tensor<{bias}xf32> " if bias else ""
    return (f"func.func @f(%q: {q} {{attn.gradient}}, %k: {k} {{attn.gradient}}, %v: {v} {{attn.gradient}}{extra}) -> {o} {{\n"
            f"  %out = attn.sdpa %q, %k, %v {of_bias}scale 0.3 {clauses} {{{layouts}{attributes}}} : ({q}, {k}, {v}) -> {o}\n  return %out : {o}\n}}")


LEARNED = " {attn.gradient}"
# Each read falls differently to the lanes, which are queries: neighbours upwards and, in a table with room for half of the distances,
# downwards; one per key; one per query; anywhere; the same for all; and where the score says.
READS = """score_mod (%s: f32, %b, %h, %i, %j) with (%near = %table : tensor<4x150xf32>, %of_key = %keys : tensor<150xf32>, %of_query = %queries : tensor<1x133xf32>,
      %any = %buckets : tensor<7xf32>, %one = %number : tensor<f32>, %of_score = %steps : tensor<3xf32>) {
    %half = arith.constant 75 : index
    %seven = arith.constant 7 : index
    %zero = arith.constant 0 : index
    %up = arith.subi %i, %j : index
    %a = arith.addi %up, %half : index
    %down = arith.subi %half, %up : index
    %x0 = tensor.extract %near[%h, %a] : tensor<4x150xf32>
    %x1 = tensor.extract %near[%h, %down] : tensor<4x150xf32>
    %x2 = tensor.extract %of_key[%j] : tensor<150xf32>
    %x3 = tensor.extract %of_query[%zero, %i] : tensor<1x133xf32>
    %product = arith.muli %i, %j : index
    %bucket = arith.remui %product, %seven : index
    %x4 = tensor.extract %any[%bucket] : tensor<7xf32>
    %x5 = tensor.extract %one[] : tensor<f32>
    %rare = arith.constant 3.0 : f32
    %high = arith.cmpf ogt, %s, %rare : f32
    %at = arith.select %high, %seven, %zero : index
    %x6 = tensor.extract %of_score[%at] : tensor<3xf32>
    %y0 = math.tanh %s : f32
    %y1 = math.fma %y0, %x5, %x0 : f32
    %y2 = math.fma %x1, %x2, %y1 : f32
    %y3 = math.fma %x3, %x4, %y2 : f32
    %y4 = math.fma %x6, %s, %y3 : f32
    attn.yield %y4 : f32
  } """
READ = "".join(f", %{name}: tensor<{shape}f32>{LEARNED}" for name, shape in (("table", "4x150x"), ("keys", "150x"), ("queries", "1x133x"), ("buckets", "7x"), ("number", ""), ("steps", "3x")))
DISTANCE = """score_mod (%s: f32, %b, %h, %i, %j) with (%t = %table : tensor<9xf32>) {
    %four = arith.constant 4 : index
    %d = arith.subi %i, %j : index
    %a = arith.addi %d, %four : index
    %x = tensor.extract %t[%a] : tensor<9xf32>
    %y = arith.addf %s, %x : f32
    attn.yield %y : f32
  } """
SIGMOID = "normalization = #attn<normalization sigmoid>"

# Odd sizes: less than a tile, a tile and one more, several tiles; remainders of vectors; rows that see no key.
KERNELS = {
    "plain": attention(2, 2, 2, 9, 13, 16, 16, ""),
    "causal": attention(1, 4, 2, 133, 150, 20, 12, "where causal(bottom_right)"),
    "empty_rows": attention(1, 2, 1, 70, 40, 64, 64, "where causal(bottom_right) and window(left = 20, bottom_right)"),
    "layout": attention(1, 4, 2, 65, 131, 8, 24, "where causal(top_left)", sequence_major=True),
    "bias": attention(1, 2, 2, 33, 70, 8, 8, "where causal(top_left)", bias="2x33x70"),
    "one": attention(1, 1, 1, 1, 1, 2, 3, ""),
    "one_feature": attention(1, 2, 1, 35, 21, 1, 1, "where causal(top_left)"),
    "one_value_feature": attention(2, 1, 1, 35, 21, 17, 1, ""),
    "parts": attention(2, 2, 1, 40, 3100, 8, 4, "where causal(bottom_right)"),  # of one key head: 3 items
    "f64": attention(1, 2, 1, 40, 50, 12, 8, "where causal(bottom_right)").replace("f32", "f64"),
    "reads_f64": attention(2, 4, 2, 133, 150, 20, 12, READS, more=READ).replace("f32", "f64"),
    "matrix": attention(2, 4, 2, 133, 150, 8, 8, "where causal(bottom_right)", bias="4x133x150", learned=LEARNED),
    "bias_of_parts": attention(2, 2, 1, 40, 3100, 8, 4, "where causal(bottom_right)", bias="2x1x1x3100", learned=LEARNED),
    "column": attention(1, 2, 1, 70, 40, 8, 8, "where causal(bottom_right) and window(left = 20, bottom_right)", bias="70x1", learned=LEARNED,
                        attributes=SIGMOID),  # by softmax it is 0
    "sigmoid": attention(1, 2, 1, 70, 40, 12, 8, "where causal(bottom_right)", bias="2x70x40", learned=LEARNED, attributes=SIGMOID),
    "documents": attention(1, 4, 2, 300, 300, 8, 8, DISTANCE + "where document(cumulative %starts : tensor<5xi32>, %starts : tensor<5xi32>) and causal(top_left)",
                           more=f", %table: tensor<9xf32>{LEARNED}, %starts: tensor<5xi32>"),
}


def run(program, names, arrays, folder, threads):
    """The bytes of the results of a compiled function, by name."""
    command = [program, f"--threads={threads}"]
    for name, array in arrays.items():
        np.save(folder / f"{name}.npy", array)
        command += [f"--{name}", folder / f"{name}.npy"]
    for name in names:
        command += ["-o", f"{name}={folder / f'got_{name}.npy'}"]
    subprocess.run(command, check=True)
    return {name: np.load(folder / f"got_{name}.npy") for name in names}


def compiled(function, rng, target, poison):
    """The largest error of a compiled gradient, over the largest element. With `poison`, excluded keys, values and cotangents of
    rows without a key hold NaN, which reaches nothing."""
    arguments, _ = signature(function.text, "f_gradient")
    types = {name: np.dtype({"f32": "f4", "f64": "f8", "i32": "i4"}[element]) for name, _, element in arguments}
    arrays = {name: rng.standard_normal(shape).astype(types[name]) for name, shape, _ in signature(function.text, "f")[0]}
    if "starts" in arrays:  # of 4 documents, one of them empty
        arrays["starts"] = np.array([0, 3, 140, 140, 300], "i4")
    forward = function.call("f_forward", arrays)
    given = {**arrays, **{n: a.astype(types[n]) for n, a in forward.items() if n in types}}
    (of_out,) = [name for name, _, _ in arguments if name.startswith("d_")]
    given[of_out] = rng.standard_normal(forward[of_out[2:]].shape).astype(types[of_out])
    if poison:  # the first queries see no key, the last keys no query
        given[of_out][:, :, :30] = np.nan
    want = function.call("f_gradient", given)
    program = function.folder / "gradient"
    subprocess.run([ATTN_OPT, function.folder / "spec.mlir", "--emit=exe", f"--target={target}", "--entry=f_gradient", "-o", program,
                    *effort((function.folder / "spec.mlir").read_bytes())], check=True)
    names = list(want)
    got = run(program, names, given, function.folder, threads=1)
    for threads in (1, 2, 3, 7):
        again = run(program, names, given, function.folder, threads)
        assert all(got[n].tobytes() == again[n].tobytes() for n in names), "the bits depend on the number of threads"
    return max(np.abs(got[n] - want[n]).max(initial=0) / max(np.abs(want[n]).max(initial=0), 0.1) for n in names)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default=",".join(CASES))
    parser.add_argument("--kernels", default=",".join(KERNELS))
    parser.add_argument("--target", default="native")
    options = parser.parse_args()
    wrong = 0

    def judge(what, error, most):
        nonlocal wrong
        good = error < most
        wrong += not good
        print(f"{what}: {error:.1e}{'' if good else ' WRONG'}")

    for number, name in enumerate(filter(None, options.only.split(","))):
        with tempfile.TemporaryDirectory() as folder:
            judge(name, directional(Function(name, CASES[name], pathlib.Path(folder)), np.random.default_rng(number)), 1e-8)
    for number, name in enumerate(filter(None, options.kernels.split(","))):
        with tempfile.TemporaryDirectory() as folder:
            error = compiled(Function(name, KERNELS[name], pathlib.Path(folder)), np.random.default_rng(number), options.target,
                             poison=name in ("empty_rows", "column"))
            judge(f"kernel {name}", error, 1e-12 if "f64" in name else 1e-5)
    sys.exit(wrong > 0)


main()
