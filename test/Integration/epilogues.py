# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Products with elementwise ops behind them, on tensors and in a linalg.generic, compared with f64: each chain for sizes
around a block and a panel, for every element type, of one row and of many, and with a second user."""
import argparse
import math
import sys
import tempfile

import numpy as np

import elements
from kernels import compare, load_kernel

SIZES = ((1, 7, 1), (7, 16, 47), (13, 33, 49), (100, 20, 97), (5, 1100, 130))


class Writer:
    """Lines of arith and math on tensors of one type."""

    def __init__(self, element, shape, rows):
        self.element, self.type, self.lines, self.count = element, f"tensor<{shape}x{element}>", [], 0
        self.lines += [f"  %dim = arith.constant {rows} : index", f"  %rows = tensor.dim %r, %dim : {self.type}"]

    def op(self, name, *operands, kind=None):
        self.count += 1
        self.lines.append(f"  %t{self.count} = {name} {', '.join(operands)} : {kind or self.type}")
        return f"%t{self.count}"

    def number(self, value):
        one = self.op("arith.constant", repr(value), kind=self.element)
        return self.op("tensor.splat", one + "[%rows]")


def erf(x):
    return np.vectorize(math.erf)(x)


def gelu(w, y, r):
    inner = w.op("math.erf", w.op("arith.mulf", y, w.number(math.sqrt(0.5))))
    return w.op("arith.mulf", w.op("arith.mulf", y, w.number(0.5)), w.op("arith.addf", inner, w.number(1.0)))


def gelu_tanh(w, y, r):
    cube = w.op("arith.mulf", y, w.op("arith.mulf", y, y))
    inner = w.op("arith.addf", y, w.op("arith.mulf", cube, w.number(0.044715)))
    tanh = w.op("math.tanh", w.op("arith.mulf", inner, w.number(math.sqrt(2 / math.pi))))
    return w.op("arith.mulf", w.op("arith.mulf", y, w.number(0.5)), w.op("arith.addf", tanh, w.number(1.0)))


def silu(w, y, r):
    e = w.op("math.exp", w.op("arith.negf", y))
    return w.op("arith.divf", y, w.op("arith.addf", e, w.number(1.0)))


def relu(w, y, r):
    return w.op("arith.maximumf", y, w.number(0.0))


def residual(w, y, r):
    return w.op("arith.addf", w.op("arith.mulf", y, w.number(0.25)), r)


def gated(w, y, r):
    return w.op("arith.mulf", silu(w, y, r), r)


def where(w, y, r):
    """The condition comes from in front: booleans are read with the product."""
    condition = w.op("arith.cmpf", "ogt, %r", w.number(0.0))
    return w.op("arith.select", condition, y, r, kind=w.type.replace(w.element, "i1") + ", " + w.type)


CHAINS = {
    "gelu": (gelu, lambda y, r: y * 0.5 * (1 + erf(y * math.sqrt(0.5)))),
    "gelu-tanh": (gelu_tanh, lambda y, r: y * 0.5 * (1 + np.tanh(math.sqrt(2 / math.pi) * (y + 0.044715 * y**3)))),
    "silu": (silu, lambda y, r: y / (1 + np.exp(-y))),
    "relu": (relu, lambda y, r: np.maximum(y, 0)),
    "residual": (residual, lambda y, r: 0.25 * y + r),
    "gated": (gated, lambda y, r: y / (1 + np.exp(-y)) * r),
    "where": (where, lambda y, r: np.where(r > 0, y, r)),
}


def specification(chain, element, size, rank, second, cast):
    m, k, n = size
    lead = "2x?x" if rank == 3 else "?x"
    w = Writer(element, f"{lead}{n}", "1" if rank == 3 else "0")
    tx = f"tensor<{lead}{k}x{element}>"
    arguments = [f"%x: {tx}", f"%w: tensor<{k}x{n}x{element}>", f"%b: tensor<{n}x{element}>", f"%r: {w.type}"]
    w.lines.append(f"  %y = attn.project %x, %w, %b : ({tx}, tensor<{k}x{n}x{element}>, tensor<{n}x{element}>) -> {w.type}")
    result, types = CHAINS[chain][0](w, "%y", "%r"), [w.type]
    if cast:
        types = [f"tensor<{lead}{n}x{cast}>"]
        result = w.op("arith.truncf", result, kind=f"{w.type} to {types[0]}")
    results = [result] + (["%y"] if second else [])
    types += [w.type] if second else []
    return (f"func.func @kernel({', '.join(arguments)}) -> ({', '.join(types)}) {{\n" + "\n".join(w.lines)
            + f"\n  return {', '.join(results)} : {', '.join(types)}\n}}\n")


def run(chain, element, size, rank, second, cast, target, rng):
    m, k, n = size
    text = specification(chain, element, size, rank, second, cast)
    lead = [2, m] if rank == 3 else [m]
    with tempfile.TemporaryDirectory() as folder:
        kernel = load_kernel(text, folder, target=target)
        inputs = [elements.store(scale * rng.standard_normal(shape), element)
                  for shape, scale in (([*lead, k], 1), ([k, n], 2 / math.sqrt(k)), ([n], 1), ([*lead, n], 1))]
        x, w, b, r = (elements.numbers(value) for value in inputs)
        y = x @ w + b
        out = cast or element
        outputs = [elements.empty([*lead, n], out)] + ([elements.empty([*lead, n], element)] if second else [])
        got = kernel(inputs, outputs, threads=2)
        rtol = {"f64": 1e-12, "f32": 2e-5, "f16": 4e-3, "bf16": 3e-2}[out if out != "f32" else element]
        compare(f"{chain} {element} {size} rank {rank}", got[0], CHAINS[chain][1](y, r), rtol=rtol, atol=rtol)
        if second:
            compare(f"{chain} {element} {size} rank {rank}: second", got[1], y, rtol=rtol, atol=rtol)


def cases():
    for i, chain in enumerate(CHAINS):
        for j, size in enumerate(SIZES):
            yield chain, "f32", size, 3 if (i + j) % 3 == 0 else 2, False, None
        for j, element in enumerate(("f16", "bf16", "f64")):
            yield chain, element, SIZES[(i + j) % len(SIZES)], 2, False, None
        yield chain, "f32", SIZES[i % len(SIZES)], 2, False, ("f16", "bf16")[i % 2]
        yield chain, "f32", SIZES[(i + 2) % len(SIZES)], 2, True, None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--target", default="native")
    parser.add_argument("--part", default="0/1", help="I/N: every Nth case from I on")
    arguments = parser.parse_args()
    first, step = map(int, arguments.part.split("/"))
    rng, count, failures = np.random.default_rng(3), 0, []
    for case in list(cases())[first::step]:
        try:
            run(*case, arguments.target, rng)
            count += 1
        except (AssertionError, RuntimeError) as error:
            failures.append(str(error))
            print("FAILED", error)
    print(f"{count} epilogues agree, {len(failures)} do not")
    sys.exit(bool(failures))


if __name__ == "__main__":
    main()
