# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Gradients where other libraries leak NaN or disagree: rows without a key, what is excluded and not finite, branches that were
not taken, ties, weights of 0. Each case is compiled, and evaluated by attn-reference."""
import argparse
import ctypes
import os
import subprocess
import tempfile

import numpy as np

import elements
from kernels import Kernel, attn_opt, effort, finish, reference
from learned import signature

NAN, INF = np.nan, np.inf
Q, K, V = 6, 9, 4  # queries, keys, features of the value; 8 of the key


def function(clauses="", more="", learned="qkv", results="out", attributes=""):
    """A function of one head in f64; `more` are further arguments."""
    types = {"q": f"tensor<{Q}x8xf64>", "k": f"tensor<{K}x8xf64>", "v": f"tensor<{K}x{V}xf64>"}
    listed = [f"%{n}: {t}{' {attn.gradient}' if n in learned else ''}" for n, t in types.items()] + ([more] if more else [])
    of = {"out": f"tensor<{Q}x{V}xf64>", "lse": f"tensor<{Q}xf64>"}
    names, wanted = results.split(), ", ".join(of[r] for r in results.split())
    returning = f" returning({', '.join(names)})" if len(names) > 1 else ""
    values = ", ".join("%" + n for n in names)
    return (f"func.func @f({', '.join(listed)}) -> ({wanted}) {{\n"
            f"  {values} = attn.sdpa %q, %k, %v{clauses}{returning} {attributes}: ({', '.join(types.values())}) -> ({wanted})\n"
            f"  return {values} : {wanted}\n}}\n")


def scored(body, more="", captures="", learned="qkv"):
    """With a score function of %s; it may not keep the scale apart, so there is none."""
    return function(f" scale 1.0 score_mod (%s: f64, %b, %h, %i, %j){captures} {{\n{body}    attn.yield %y : f64\n  }}", more, learned)


class Case:
    """`residuals` are given instead of what the compiled function returns."""

    def __init__(self, text, change=None, more=None, residuals=None):
        rng = np.random.default_rng(7)
        self.text, self.residuals = text, residuals or {}
        self.arrays = {"q": rng.standard_normal((Q, 8)), "k": rng.standard_normal((K, 8)), "v": rng.standard_normal((K, V)), **(more or {})}
        self.cotangents = {"d_out": rng.standard_normal((Q, V)), "d_lse": rng.standard_normal(Q)}
        if change:
            change(self.arrays, self.cotangents)


def softmax_rows(a, seen=True, scale=0.5, bias=0.0):
    """Weights and lse of all rows, in which no number but those of visible pairs counts."""
    with np.errstate(all="ignore"):
        s = np.where(seen, a["q"] @ a["k"].T * scale + bias, -INF)
        m = s.max(1, keepdims=True)
        p = np.exp(s - np.where(m == -INF, 0, m))
        total = p.sum(1, keepdims=True)
        return np.where(total == 0, 0, p / np.where(total == 0, 1, total))


def by_formula(a, d, seen=True, scale=0.5, slope=1.0, lse=False, **more):
    """d_q, d_k, d_v of attention whose scores have the derivative `slope` by the scaled products."""
    p = softmax_rows(a, seen, scale, **more)
    u = d["d_out"] @ a["v"].T
    ds = p * (u - (p * u).sum(1, keepdims=True) + (d["d_lse"][:, None] if lse else 0)) * slope
    return {"d_q": scale * ds @ a["k"], "d_k": scale * ds.T @ a["q"], "d_v": p.T @ d["d_out"]}


def near(got, want, names=("d_q", "d_k", "d_v")):
    return all(np.allclose(got[n], want[n], rtol=1e-11, atol=1e-12, equal_nan=True) for n in names)


BOTTOM = np.arange(K)[None, :] <= np.arange(Q)[:, None] - 2  # causal(offset = -2): the first two rows see no key
CAUSAL = np.arange(K)[None, :] <= np.arange(Q)[:, None]
EMPTY, LAST = " scale 0.5 where causal(offset = -2)", " scale 0.5 where causal(top_left)"  # LAST: nobody sees keys 6, 7, 8


def put(array, at, value, cotangent=False):
    def change(arrays, cotangents):
        (cotangents if cotangent else arrays)[array][at] = value
    return change


def zero_scores(arrays, _):
    arrays["q"][:] = 0


def clean(case, seen, **more):
    """By the formula without what poisons."""
    with_zeros = lambda of: {n: np.where(np.isfinite(a), a, 0) if a.dtype == float else a for n, a in of.items()}
    return by_formula(with_zeros(case.arrays), with_zeros(case.cotangents), seen, **more)


def visible_nan(case, got):
    """dq of the rows that see it, dk of the keys that these see; no dv."""
    rows = CAUSAL[:, 3]
    keys = CAUSAL[rows].any(0)
    return (np.isnan(got["d_q"]).all(1) == rows).all() and (np.isnan(got["d_k"]).all(1) == keys).all() and \
        np.isfinite(got["d_q"][~rows]).all() and near(got, clean(case, CAUSAL), ["d_v"])


def underflow(arrays, cotangents):
    """Key 4 has no weight, and an infinite u."""
    arrays["q"][:], arrays["k"][4] = 1, -1e4
    arrays["v"][4], cotangents["d_out"][:] = INF, 1


def without_underflow():
    """Out in the same case, in which a kernel may have NaN."""
    case = Case("", underflow)
    return softmax_rows(case.arrays) @ np.where(np.isfinite(case.arrays["v"]), case.arrays["v"], 0)


def saturated(arrays, _):
    arrays["q"] *= 1e6


SQRT = """    %c = arith.constant 0.0 : f64
    %p = arith.cmpf ogt, %s, %c : f64
    %r = math.sqrt %s : f64
    %y = arith.select %p, %r, %s : f64
"""
TIE = "    %c = arith.constant 0.0 : f64\n    %y = arith.{op} %s, %c : f64\n"
ABS = "    %y = math.absf %s : f64\n"
COPYSIGN = "    %c = arith.constant -1.0 : f64\n    %y = math.copysign %s, %c : f64\n"
SOFTCAP = """    %c = arith.constant 2.0 : f64
    %x = arith.divf %s, %c : f64
    %t = math.tanh %x : f64
    %y = arith.mulf %t, %c : f64
"""
OUTSIDE = """    %c = arith.constant 7 : index
    %at = arith.subi %j, %c : index
    %x = tensor.extract %t[%at] : tensor<3xf64>
    %y = arith.addf %s, %x : f64
"""


def slope_of_sqrt(case):
    s = case.arrays["q"] @ case.arrays["k"].T
    slope = np.where(s > 0, 0.5 / np.sqrt(np.abs(s)), 1)
    p = softmax_rows(case.arrays, scale=1.0, bias=np.where(s > 0, np.sqrt(np.abs(s)) - s, 0))
    u = case.cotangents["d_out"] @ case.arrays["v"].T
    ds = p * (u - (p * u).sum(1, keepdims=True)) * slope
    return {"d_q": ds @ case.arrays["k"], "d_k": ds.T @ case.arrays["q"], "d_v": p.T @ case.cotangents["d_out"]}


def table_sums(case):
    """Keys before 7 read element 0, keys 7 and 8 elements 0 and 1."""
    t = case.arrays["table"]
    read = np.clip(np.arange(K) - 7, 0, 2)
    p = softmax_rows(case.arrays, scale=1.0, bias=t[read])
    u = case.cotangents["d_out"] @ case.arrays["v"].T
    ds = (p * (u - (p * u).sum(1, keepdims=True))).sum(0)
    return {"d_table": np.array([ds[read == i].sum() for i in range(3)])}


def one_bias(case):
    bias = case.arrays["bias"]
    p = softmax_rows(case.arrays, bias=bias)
    u = case.cotangents["d_out"] @ case.arrays["v"].T
    return {"d_bias": p * (u - (p * u).sum(1, keepdims=True))}


def with_bias():
    bias = np.random.default_rng(3).standard_normal((Q, K))
    bias[:, 2], bias[4] = -INF, -INF
    return {"bias": bias}


# name: (case, what must hold of the gradients)
CASES = {
    "a row that sees no key is constant": (Case(function(EMPTY)), lambda c, g: (g["d_q"][:2] == 0).all() and near(g, clean(c, BOTTOM))),
    "NaN cotangents of a row without a key": (Case(function(EMPTY, results="out lse"), lambda a, d: (put("d_out", slice(2), NAN, True)(a, d), put("d_lse", slice(2), NAN, True)(a, d))),
                                              lambda c, g: near(g, clean(c, BOTTOM, lse=True))),
    "a bias of -inf": (Case(function(" bias %bias : tensor<6x9xf64> scale 0.5", "%bias: tensor<6x9xf64> {attn.gradient}"), more=with_bias()),
                       lambda c, g: (g["d_bias"][c.arrays["bias"] == -INF] == 0).all() and near(g, one_bias(c), ["d_bias"])),
    "NaN in a key that nobody sees": (Case(function(LAST), put("k", slice(6, None), NAN)), lambda c, g: (g["d_k"][6:] == 0).all() and near(g, clean(c, CAUSAL))),
    "infinity in a value that nobody sees": (Case(function(LAST), put("v", slice(6, None), INF)),
                                             lambda c, g: (g["d_v"][6:] == 0).all() and near(g, clean(c, CAUSAL))),
    "NaN in a visible value": (Case(function(LAST), put("v", 3, NAN)), visible_nan),
    "the cotangent of lse": (Case(function(LAST, results="out lse")), lambda c, g: near(g, by_formula(c.arrays, c.cotangents, CAUSAL, lse=True))),
    "a branch that was not taken": (Case(scored(SQRT)), lambda c, g: near(g, slope_of_sqrt(c))),
    "a tie of maximumf": (Case(scored(TIE.format(op="maximumf")), zero_scores), lambda c, g: near(g, by_formula(c.arrays, c.cotangents, scale=1.0, slope=0.5))),
    "a tie of minnumf": (Case(scored(TIE.format(op="minnumf")), zero_scores), lambda c, g: near(g, by_formula(c.arrays, c.cotangents, scale=1.0, slope=0.5))),
    "abs at 0": (Case(scored(ABS), zero_scores), lambda c, g: (g["d_q"] == 0).all() and near(g, by_formula(c.arrays, c.cotangents, scale=1.0, slope=0))),
    "copysign at 0": (Case(scored(COPYSIGN), zero_scores), lambda c, g: (g["d_q"] == 0).all() and (g["d_k"] == 0).all()),
    "an index outside": (Case(scored(OUTSIDE, "%table: tensor<3xf64> {attn.gradient}", " with (%t = %table : tensor<3xf64>)"), more={"table": np.array([0.3, -1.2, 0.7])}),
                         lambda c, g: near(g, table_sums(c), ["d_table"])),
    "a weight that underflows": (Case(function(" scale 0.5"), underflow, residuals={"out": without_underflow()}), lambda c, g: all(np.isfinite(a).all() for a in g.values()) and (g["d_k"][4] == 0).all()),
    "a softcap in saturation": (Case(scored(SOFTCAP), saturated), lambda c, g: (g["d_q"] == 0).all() and (g["d_k"] == 0).all() and np.isfinite(g["d_v"]).all()),
    "one key": (Case(function(" scale 0.5 where window(left = 0, right = 0)")),
                lambda c, g: np.abs(g["d_q"]).max() < 1e-14 and np.abs(g["d_k"]).max() < 1e-14 and near(g, {"d_v": np.vstack([c.cotangents["d_out"], np.zeros((K - Q, V))])}, ["d_v"])),
}


class Functions:
    """All cases in one module, compiled and for attn-reference."""

    def __init__(self, texts, folder, target):
        self.folder, self.fused = folder, os.path.join(folder, "fused.mlir")
        source, library = os.path.join(folder, "all.mlir"), os.path.join(folder, "all.so")
        text = "".join(texts)
        with open(source, "w") as f:
            f.write(text)
        subprocess.run([attn_opt(), source, "--compile-to=fused", "-o", self.fused], check=True)
        subprocess.run([attn_opt(), source, "--emit=lib", "-o", library, "--target=" + target, *effort(text)], check=True)
        self.dll = ctypes.CDLL(library)
        with open(self.fused) as f:
            self.module = f.read()

    def call(self, name, given):
        """Results of a compiled function by name."""
        arguments, results = signature(self.module, name)
        room = [elements.empty(p.shape, p.element) for p in results]
        Kernel.of_library(self.dll, name)([given[p.name] for p in arguments], room)
        return dict(zip([p.name for p in results], room))

    def gradients(self, name, case):
        """By who computes them, from the residuals of the compiled function."""
        given = {**case.arrays, **case.cotangents, **self.call(name + "_forward", case.arrays), **case.residuals}
        yield "compiled", self.call(name + "_gradient", given)
        arguments, results = signature(self.module, name + "_gradient")
        got = reference(self.fused, [given[p.name] for p in arguments], len(results), self.folder, name + "_gradient")
        yield "reference", dict(zip([p.name for p in results], got))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="")
    parser.add_argument("--target", default="native")
    options = parser.parse_args()
    chosen = {f"f{number}": name for number, name in enumerate(CASES) if options.only in name}
    tried, failures = 0, []
    with tempfile.TemporaryDirectory() as folder:
        functions = Functions([CASES[name][0].text.replace("@f(", f"@{f}(") for f, name in chosen.items()], folder, options.target)
        for f, name in chosen.items():
            case, holds = CASES[name]
            for who, gradients in functions.gradients(f, case):
                tried += 1
                if not holds(case, gradients):
                    failures.append(f"{name} ({who})")
    finish(tried, failures)


if __name__ == "__main__":
    main()
