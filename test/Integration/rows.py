# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""attn.rope, attn.rms_norm and attn.scale by themselves, in every element type: results lie within half an ulp of their
type, and what f32 adds, of the definition in f64. Numbers are large, subnormal and zero; rows are none, one, and more
than a tile has; features are none, one and many, known and not."""
import argparse
import tempfile

import numpy as np

import elements
from kernels import Kernel, compare, finish, reference
from prologue import norm, rope

EPS = 1e-5
SHAPES = [(1, 64), (7, 1), (130, 24), (0, 8), (3, 0), (2, 1, 16), (2, 3, 65, 6), (2, 0, 5, 8), (1, 2, 1, 128)]
TABLE = 70


def numbers_of(kind, shape, element, rng):
    if kind == "zero":
        return elements.store(np.zeros(shape), element)
    x = rng.standard_normal(shape)
    if kind == "large":
        x = 300 * np.sign(x)
    if kind == "subnormal":
        x *= 2.0 ** (elements.FORMATS[element][1] - 2)
    return elements.store(x, element)


def types(shape, element, known):
    """The tensor type, and that of the last dimension alone."""
    sizes = ["?"] * (len(shape) - 1) + [shape[-1]] if known == "features" else shape if known else ["?"] * len(shape)
    return (f"tensor<{'x'.join(map(str, sizes))}x{element}>", f"tensor<{sizes[-1]}x{element}>")


def text(tx, step, arguments=""):
    return f"func.func @kernel(%x: {tx}{arguments}) -> {tx} {{\n  %y = {step}\n  return %y : {tx}\n}}\n"


def norms(shape, element, known, weighted, rng):
    tx, tw = types(shape, element, known)
    if not weighted:
        return text(tx, f"attn.rms_norm %x eps 1.0e-5 : {tx}"), [], lambda x: norm(x, None, EPS)
    w = elements.store(rng.standard_normal(shape[-1]), element)
    return (text(tx, f"attn.rms_norm %x, %w eps 1.0e-5 : {tx}, {tw}", f", %w: {tw}"), [w],
            lambda x: norm(x, elements.numbers(w), EPS))


def ropes(shape, element, known, interleaved, rng):
    tx, pairs = types(shape, element, known or "features")[0], shape[-1] // 2
    of_tables = element if known == "features" else elements.statistics(element)
    table = f"tensor<?x{pairs}x{of_tables}>"
    angles = rng.uniform(-3, 3, (TABLE, pairs))
    cos, sin = (elements.store(f(angles), of_tables) for f in (np.cos, np.sin))
    word = " interleaved" if interleaved else ""
    return (text(tx, f"attn.rope %x, %cos, %sin{word} : {tx}, {table}", f", %cos: {table}, %sin: {table}"), [cos, sin],
            lambda x: rope(x, elements.numbers(cos), elements.numbers(sin), np.arange(shape[-2]), interleaved))


def scales(shape, element, known, _, rng):
    tx = types(shape, element, known)[0]
    return text(tx, f"attn.scale %x by 0.3 : {tx}"), [], lambda x: 0.3 * x


def cases(element):
    for make in (norms, ropes, scales):
        for number, shape in enumerate(SHAPES):
            for known in (True, "features", False) if number < 3 else (number % 2 == 0,):
                yield make, shape, known, number % 2 == 1
        yield make, SHAPES[6], "features", True
        yield make, SHAPES[6], "features", False


def bound(element, x, want, rotated):
    """Half an ulp, and what a few operations in f32 (f64) add; the two terms of a rotation may cancel. Instructions
    that round to bf16 have no subnormal results."""
    tiny = 2.0**-45 if element == "f64" else 2.0**-19
    largest = np.max(np.abs(x), axis=-1, keepdims=True, initial=0) if rotated else 0
    smallest = 2.0 ** elements.FORMATS[element][1] if element == "bf16" else 0
    return smallest + 0.5 * elements.ulp(want, element) + tiny * (np.abs(want) + largest)


def run(case, element, target, folder, number):
    make, shape, known, flag = case
    rng = np.random.default_rng(number)
    source, extra, want_of = make(shape, element, known, flag, rng)
    kernel = Kernel(source, folder, target=target)
    for kind in ("normal", "large", "subnormal", "zero"):
        what = f"{make.__name__} {element} {shape} known={known} {flag} {kind}"
        x = numbers_of(kind, shape, element, rng)
        inputs = [x, *extra]
        got = kernel(inputs, [elements.empty(shape, element)], threads=1 + number % 3)[0]
        if got.size == 0:
            continue
        want = want_of(elements.numbers(x))
        atol = bound(element, elements.numbers(x), want, make is ropes)
        compare(what, got, want, rtol=0, atol=atol)
        compare(what + " (Reference)", reference(kernel.source, inputs, 1, folder)[0], want, rtol=0, atol=atol)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--element", choices=elements.STORED, action="append")
    parser.add_argument("--target", default="native")
    parser.add_argument("--part", default="0/1", help="I/N: the Ith of N parts")
    options = parser.parse_args()
    part, parts = map(int, options.part.split("/"))
    count, failures = 0, []
    for element in options.element or elements.STORED:
        for number, case in enumerate(cases(element)):
            if number % parts != part:
                continue
            count += 1
            with tempfile.TemporaryDirectory() as folder:
                try:
                    run(case, element, options.target, folder, number)
                except (AssertionError, RuntimeError) as error:
                    failures.append(str(error))
    finish(count, failures)


if __name__ == "__main__":
    main()
