# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Measures the error of every function that a score function may call, and holds it to what docs/SpecNumerics.md says.

The scores of queries x (head dimension 1) with one key of 1 are x, so that the modified scores are f(x)."""
import argparse
import math
import sys
import tempfile

import numpy as np

import elements
from kernels import Kernel

# For f64 each f32 is an f64, and errors are smaller by that factor.
F64 = 2.0**-28
SPEC = """func.func @kernel(%q: tensor<?x1xf32>, %k: tensor<1x1xf32>) -> (tensor<?x1xf32>, tensor<?x1xf32>) {
  %o, %s = attn.sdpa %q, %k, %k scale 1.0 score_mod (%x: f32, %b, %h, %i, %j) {
    BODY
    attn.yield %y : f32
  } returning(out, scores) {scores_stage = #attn<scores_stage modified>}
    : (tensor<?x1xf32>, tensor<1x1xf32>, tensor<1x1xf32>) -> (tensor<?x1xf32>, tensor<?x1xf32>)
  return %o, %s : tensor<?x1xf32>, tensor<?x1xf32>
}
"""
# Every value of a kernel passes through units of log2 and back, which costs up to this much.
UNITS = 4e-7
erf = np.vectorize(math.erf)
power = lambda c: f"%c = arith.constant {c!r} : f32\n    %y = math.powf %x, %c : f32"
# name -> (ops, f, lowest x, highest x, relative error, absolute error)
FUNCTIONS = {
    "tanh": ("", np.tanh, -20, 20, 1e-6, 0),
    "exp": ("", np.exp, -80, 80, 1e-5, 0),
    "exp2": ("", np.exp2, -120, 120, 1e-5, 0),
    "expm1": ("", np.expm1, -20, 20, 2e-6, 0),
    "log": ("", np.log, 1e-30, 1e30, 2e-6, UNITS),
    "log2": ("", np.log2, 1e-30, 1e30, 2e-6, UNITS),
    "log1p": ("", np.log1p, -0.9, 1e6, 1e-6, 0),
    "erf": ("", erf, -5, 5, 1e-6, 0),
    "sin": ("", np.sin, -100, 100, 0, 2e-5),
    "cos": ("", np.cos, -100, 100, 0, 2e-5),
    "sqrt": ("", np.sqrt, 0, 1e30, UNITS, 0),
    "rsqrt": ("", lambda x: 1 / np.sqrt(x), 1e-30, 1e30, UNITS, 0),
    "absf": ("", np.abs, -1e30, 1e30, UNITS, 0),
    "pow 2.5": (power(2.5), lambda x: x**2.5, 1e-3, 1e3, 4e-6, 0),
    "pow -3": (power(-3.0), lambda x: x**-3.0, -10, -0.1, 4e-6, 0),
}
# Steps: compared as they are, away from where rounding of the score to and from units of log2 decides.
EXACT = {"floor": np.floor, "ceil": np.ceil, "trunc": np.trunc, "round": lambda x: np.trunc(x + np.copysign(0.5, x)),
         "roundeven": np.rint}


def compiled(body, folder, options):
    text = SPEC.replace("BODY", body).replace("f32", options.element)
    return Kernel(text, folder, target=options.target)


def values(kernel, x):
    x = x.reshape(-1, 1)
    return kernel([x, np.ones((1, 1), x.dtype)], [np.empty_like(x), np.full_like(x, np.nan)])[1][:, 0]


def samples(low, high, kind, count=20001):
    x = np.linspace(low, high, count)
    if low > 0 and high / low > 1e3:
        x = np.geomspace(low, high, count)
    if low < 0 < high:
        small = np.geomspace(1e-6, high, count // 4)
        x = np.concatenate([x, small, -small[small < -low]])
    return x.astype(kind)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--target", default="native")
    parser.add_argument("--element", default="f32", choices=["f32", "f64"])
    options = parser.parse_args()
    kind, unit = elements.STORED[options.element], F64 if options.element == "f64" else 1.0
    failures = []
    for name, (body, f, low, high, relative, absolute) in FUNCTIONS.items():
        with tempfile.TemporaryDirectory() as folder:
            kernel = compiled(body or f"%y = math.{name} %x : f32", folder, options)
            x = samples(low, high, kind)
            want = f(x.astype(np.float64))
            error = np.abs(values(kernel, x) - want)
            with np.errstate(all="ignore"):
                largest = np.max(np.where(want == 0, 0, error / np.abs(want)))
            print(f"{name:8} relative {largest:.1e} absolute {np.max(error):.1e}")
            if not np.all(error <= unit * (absolute + relative * np.abs(want))):
                failures.append(name)
    for name, f in EXACT.items():
        with tempfile.TemporaryDirectory() as folder:
            kernel = compiled(f"%y = math.{name} %x : f32", folder, options)
            x = np.concatenate([np.arange(-40, 40) + 0.25, np.arange(-40, 40) + 0.75]).astype(kind)
            if not np.allclose(values(kernel, x), f(x.astype(np.float64)), rtol=unit * UNITS, atol=0):
                failures.append(name)
    with tempfile.TemporaryDirectory() as folder:  # 1 + tanh(x) is 0 from somewhere on, of which gelu by tanh consists
        kernel = compiled("%y = math.tanh %x : f32", folder, options)
        x = np.array([8, 9, 20, 1e4, 1e30, np.inf], kind) * (3 if options.element == "f64" else 1)
        if not np.array_equal(values(kernel, np.concatenate([x, -x])), np.repeat([1, -1], len(x)).astype(kind)):
            failures.append("tanh far out")
    for failure in failures:
        print("FAILED", failure)
    print(f"{len(FUNCTIONS) + len(EXACT) + 1 - len(failures)} passed, {len(failures)} failed")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
