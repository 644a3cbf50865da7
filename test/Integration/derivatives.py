# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every rule of a derivative against differences, at 10 000 points in f64: of arithmetic on tensors, compiled, and of score
functions, compiled and by attn-reference.

Of attention to one key lse is its score, so that the gradient by a query of one feature is the derivative of the score
function there."""
import math
import os
import subprocess
import tempfile

import numpy as np

import elements
from kernels import Kernel, attn_opt, finish, reference

POINTS = 10000
# op: (text with %x, %a, %b and the type T, range of x, function); %a = 0.7 and %b = x + 0.1 depend on what is learned, too.
OPS = {
    "addf": ("arith.addf %x, %b : T", (-3, 3), lambda x: x + (x + 0.1)),
    "subf": ("arith.subf %a, %x : T", (-3, 3), lambda x: 0.7 - x),
    "mulf": ("arith.mulf %x, %b : T", (-3, 3), lambda x: x * (x + 0.1)),
    "divf": ("arith.divf %x, %b : T", (0.5, 3), lambda x: x / (x + 0.1)),
    "divisor": ("arith.divf %a, %x : T", (0.5, 3), lambda x: 0.7 / x),
    "negf": ("arith.negf %x : T", (-3, 3), lambda x: -x),
    "maximumf": ("arith.maximumf %x, %a : T", (-3, 3), lambda x: np.maximum(x, 0.7)),
    "minimumf": ("arith.minimumf %a, %x : T", (-3, 3), lambda x: np.minimum(x, 0.7)),
    "maxnumf": ("arith.maxnumf %a, %x : T", (-3, 3), lambda x: np.maximum(x, 0.7)),
    "minnumf": ("arith.minnumf %x, %a : T", (-3, 3), lambda x: np.minimum(x, 0.7)),
    "fma": ("math.fma %x, %b, %x : T", (-3, 3), lambda x: x * (x + 0.1) + x),
    "absf": ("math.absf %x : T", (-3, 3), np.abs),
    "copysign": ("math.copysign %x, %a : T", (-3, 3), np.abs),
    "sign": ("math.copysign %a, %x : T", (-3, 3), lambda x: np.copysign(0.7, x)),
    "exp": ("math.exp %x : T", (-3, 3), np.exp),
    "exp2": ("math.exp2 %x : T", (-3, 3), np.exp2),
    "expm1": ("math.expm1 %x : T", (-3, 3), np.expm1),
    "log": ("math.log %x : T", (0.5, 5), np.log),
    "log2": ("math.log2 %x : T", (0.5, 5), np.log2),
    "log1p": ("math.log1p %x : T", (-0.5, 5), np.log1p),
    "sqrt": ("math.sqrt %x : T", (0.5, 5), np.sqrt),
    "rsqrt": ("math.rsqrt %x : T", (0.5, 5), lambda x: 1 / np.sqrt(x)),
    "tanh": ("math.tanh %x : T", (-4, 4), np.tanh),
    "sin": ("math.sin %x : T", (-4, 4), np.sin),
    "cos": ("math.cos %x : T", (-4, 4), np.cos),
    "base": ("math.powf %x, %a : T", (0.5, 4), lambda x: x**0.7),
    "exponent": ("math.powf %a, %x : T", (-3, 3), lambda x: 0.7**x),
    "powf": ("math.powf %x, %b : T", (0.5, 3), lambda x: x ** (x + 0.1)),
    "floor": ("math.floor %x : T", (-3, 3), np.floor),
    "ceil": ("math.ceil %x : T", (-3, 3), np.ceil),
    "trunc": ("math.trunc %x : T", (-3, 3), np.trunc),
    "round": ("math.round %x : T", (-3, 3), np.round),
    "roundeven": ("math.roundeven %x : T", (-3, 3), np.rint),
    "erf": ("math.erf %x : T", (-3, 3), np.vectorize(math.erf)),
}
NAMES = list(OPS)


def derivative(name, x):
    """By differences of the fourth order; NaN where a kink or a jump is near."""
    f, h = OPS[name][2], 1e-3
    wide, narrow = (f(x + 2 * h) - f(x - 2 * h)) / (4 * h), (f(x + h) - f(x - h)) / (2 * h)
    return np.where(np.abs(wide - narrow) > 1e-3 * np.maximum(1, np.abs(narrow)), np.nan, (4 * narrow - wide) / 3)


def points():
    rng = np.random.default_rng(5)
    return np.stack([np.sort(rng.uniform(*OPS[n][1], POINTS)) for n in NAMES])


def judge(name, x, got):
    """Nothing, or what is wrong; kinks take few points away."""
    want = derivative(name, x)
    known = np.isfinite(want)
    if known.sum() < 0.98 * POINTS:
        return f"{name}: {POINTS - known.sum()} points without a difference"
    error = np.abs(got - want)[known] / np.maximum(1, np.abs(want[known]))
    return None if error.max() < 1e-8 else f"{name}: {error.max():.1e} at {x[known][error.argmax()]}"


def lines(name, x, type, indent):
    """%y of an op; %a and %b are there."""
    return f"{indent}%y_{name} = {OPS[name][0].replace('%x', x).replace('%b', '%b_' + name).replace(': T', ': ' + type)}\n"


# --- on tensors ---

def tensors():
    """A function of one row per op, with a result each."""
    row, all_rows = f"tensor<{POINTS}xf64>", f"tensor<{len(NAMES)}x{POINTS}xf64>"
    text = f"func.func @f(%p: {all_rows} {{attn.gradient}}) -> ({', '.join([row] * len(NAMES))}) {{\n"
    text += f"  %a = arith.constant dense<0.7> : {row}\n  %tenth = arith.constant dense<0.1> : {row}\n"
    for i, name in enumerate(NAMES):
        text += f"  %r_{name} = tensor.extract_slice %p[{i}, 0] [1, {POINTS}] [1, 1] : {all_rows} to {row}\n"
        text += f"  %b_{name} = arith.addf %r_{name}, %tenth : {row}\n" + lines(name, f"%r_{name}", row, "  ")
    return text + f"  return {', '.join('%y_' + n for n in NAMES)} : {', '.join([row] * len(NAMES))}\n}}\n"


def check_tensors(folder):
    x = points()
    kernel = Kernel(tensors(), folder, name="f_gradient", flags=["--entry=f_gradient"])
    ones = [np.ones(POINTS)] * len(NAMES)
    (got,) = kernel([x, *ones], [elements.empty(x.shape, "f64")])
    return [f"tensors, {p}" for p in map(judge, NAMES, x, got) if p]


# --- score functions ---

def scores():
    q, lse = f"tensor<{POINTS}x1xf64>", f"tensor<{POINTS}xf64>"
    text = ""
    for name in NAMES:
        text += (f"func.func @of_{name}(%q: {q} {{attn.gradient}}, %k: tensor<1x1xf64>) -> {lse} {{\n"
                 f"  %o, %l = attn.sdpa %q, %k, %k scale 1.0 score_mod (%s: f64, %b, %h, %i, %j) {{\n"
                 f"    %a = arith.constant 0.7 : f64\n    %tenth = arith.constant 0.1 : f64\n"
                 f"    %b_{name} = arith.addf %s, %tenth : f64\n{lines(name, '%s', 'f64', '    ')}    attn.yield %y_{name} : f64\n"
                 f"  }} returning(out, lse) : ({q}, tensor<1x1xf64>, tensor<1x1xf64>) -> ({q}, {lse})\n  return %l : {lse}\n}}\n")
    return text


def check_scores(folder):
    source, fused = os.path.join(folder, "scores.mlir"), os.path.join(folder, "fused.mlir")
    with open(source, "w") as f:
        f.write(scores())
    subprocess.run([attn_opt(), source, "--compile-to=fused", "-o", fused], check=True)
    problems = []
    for name, x in zip(NAMES, points()):
        q, k = x[:, None], np.ones((1, 1))
        out, lse = np.ones((POINTS, 1)), OPS[name][2](x)
        (got,) = reference(fused, [q, k, out, lse, np.ones(POINTS)], 1, folder, f"of_{name}_gradient")
        problems.append(judge(name, x, got[:, 0]))
    return [f"score functions, {p}" for p in problems if p]


def scores_by_head():
    """All of them in one function, which head h takes number h of: what is not taken reaches nothing."""
    q, lse = f"tensor<{len(NAMES)}x{POINTS}x1xf64>", f"tensor<{len(NAMES)}x{POINTS}xf64>"
    k = f"tensor<{len(NAMES)}x1x1xf64>"
    body = "    %a = arith.constant 0.7 : f64\n    %tenth = arith.constant 0.1 : f64\n"
    chosen = "%s"
    for i, name in enumerate(NAMES):
        body += f"    %b_{name} = arith.addf %s, %tenth : f64\n" + lines(name, "%s", "f64", "    ")
        body += f"    %n_{name} = arith.constant {i} : index\n    %is_{name} = arith.cmpi eq, %h, %n_{name} : index\n"
        body += f"    %c_{name} = arith.select %is_{name}, %y_{name}, {chosen} : f64\n"
        chosen = f"%c_{name}"
    return (f"func.func @g(%q: {q} {{attn.gradient}}, %k: {k}) -> {lse} {{\n"
            f"  %o, %l = attn.sdpa %q, %k, %k scale 1.0 score_mod (%s: f64, %b, %h, %i, %j) {{\n{body}    attn.yield {chosen} : f64\n"
            f"  }} returning(out, lse) : ({q}, {k}, {k}) -> ({q}, {lse})\n  return %l : {lse}\n}}\n")


def check_kernel(folder):
    x = points()
    kernel = Kernel(scores_by_head(), folder, name="g_gradient", flags=["--entry=g_gradient"])
    lse = np.stack([OPS[name][2](row) for name, row in zip(NAMES, x)])
    out, ones = np.ones((*x.shape, 1)), np.ones(x.shape)
    (got,) = kernel([x[..., None], np.ones((len(NAMES), 1, 1)), out, lse, ones], [elements.empty((*x.shape, 1), "f64")], threads=2)
    return [f"compiled score functions, {p}" for p in map(judge, NAMES, x, got[..., 0]) if p]


def main():
    with tempfile.TemporaryDirectory() as folder:
        failures = check_tensors(folder) + check_scores(folder) + check_kernel(folder)
    finish(3 * len(NAMES), failures, f", at {POINTS} points each")


if __name__ == "__main__":
    main()
