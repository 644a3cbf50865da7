# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every f16 and every bf16 through a compiled kernel, and what lies between two of them.

Attention over equal keys gives the mean of the values: over one key the value itself, to the bit; over four, of which
some hold a number and the others its successor, the quarters between the two. The middle is a tie and goes to even."""
import argparse
import subprocess
import sys
import tempfile

import numpy as np

import elements
from kernels import attn_opt, load_kernel

DIM = 64


def specification(element):
    key, value = f"tensor<?x1x?x8x{element}>", f"tensor<?x1x?x{DIM}x{element}>"
    return (f"func.func @kernel(%q: {key}, %k: {key}, %v: {value}) -> {value} {{\n"
            f"  %out = attn.sdpa %q, %k, %v scale 1.0 : ({key}, {key}, {value}) -> {value}\n"
            f"  return %out : {value}\n}}\n")


def means(kernel, values, element):
    """The kernel's mean of values[i] over i."""
    keys, batch = len(values), values[0].size // DIM
    value = np.stack([v.reshape(batch, DIM) for v in values], axis=1).reshape(batch, 1, keys, DIM)
    query = elements.store(np.zeros((batch, 1, 1, 8)), element)
    key = elements.store(np.zeros((batch, 1, keys, 8)), element)
    out, = kernel([query, key, np.ascontiguousarray(value)], [elements.empty((batch, 1, 1, DIM), element)])
    return out.reshape(-1)


def check(what, got, want, flushed):
    """A zero may lose its sign, since it is added to one; a NaN may be any NaN; what comes of subnormal numbers may be 0
    where the processor's instructions take them so."""
    got_bits, want_bits = got.view(np.uint16), want.view(np.uint16)
    x, y = elements.numbers(got), elements.numbers(want)
    same = (got_bits == want_bits) | ((x == 0) & (y == 0)) | (np.isnan(x) & np.isnan(y))
    if flushed:
        same |= (x == 0) & (np.abs(y) <= 2.0**-126)
    if same.all():
        return []
    i = int(np.argmin(same))
    return [f"{what}: {np.sum(~same)} of {same.size} differ, first {want_bits[i]:#06x} came as {got_bits[i]:#06x}"]


def compare_all(kernel, element, flushed=False):
    every = np.arange(1 << 16, dtype=np.uint16).view(elements.STORED[element])
    yield from check(f"{element} itself", means(kernel, [every], element), every, flushed)
    following = (every.view(np.uint16) + np.uint16(1)).view(every.dtype)
    exact = elements.numbers(every), elements.numbers(following)
    # The sum of four must be a number of f32, in which kernels add.
    pairs = (np.abs(exact[0]) < 2.0**125) & (np.abs(exact[1]) < 2.0**125)
    exact = [np.where(pairs, x, 0) for x in exact]
    for successors in (1, 2, 3):
        got = means(kernel, [every] * (4 - successors) + [following] * successors, element)
        mean = (exact[0] * (4 - successors) + exact[1] * successors) / 4
        yield from check(f"{element} {successors}/4", got[pairs], elements.store(mean[pairs], element), flushed)


def flushes(element, target, flags=()):
    """Whether subnormal results may be 0: those of bf16, which are subnormal in f32, too, where instructions round to bf16, or
    multiply it, and on x86, where kernels that weigh flush them."""
    facts = subprocess.run([attn_opt(), "--print-target", "--target=" + target, *flags], check=True, capture_output=True, text=True).stdout
    return element == "bf16" and ("bf16 = true" in facts or "x86_64" in facts)


def main():
    parser = argparse.ArgumentParser(description=__doc__, epilog="Other options go to attn-opt.")
    parser.add_argument("--target", default="native")
    options, flags = parser.parse_known_args()
    failures = []
    for element in ("f16", "bf16"):
        with tempfile.TemporaryDirectory() as folder:
            kernel = load_kernel(specification(element), folder, options.target, flags)
            failures += compare_all(kernel, element, flushes(element, options.target, flags))
    for failure in failures:
        print("FAILED", failure)
    print(f"{8 - len(failures)} passed, {len(failures)} failed")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
