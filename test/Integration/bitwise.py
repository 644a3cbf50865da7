# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The same bits, whatever the number of threads, in every run, and for a batch entry alone or among others."""
import sys
import tempfile

import numpy as np

from decode import Modified
from differential import Differential
from kernels import load_kernel
from values import BOTTOM, CAUSAL, PADDED, Case

THREADS = (1, 2, 3, 7)
CASES = [
    Case("plain", 64), Case("causal", 64, heads=4, group=2, mask=CAUSAL),
    Case("bottom", 40, heads=6, group=3, mask=BOTTOM),
    Case("padding", 72, heads=4, group=4, mask=[*PADDED, *BOTTOM]), Case("bias", 17, heads=4, group=2, bias="hqk"),
    Case("bias_row", 64, heads=8, group=8, bias="b11k"), Case("allowed", 64, mask=[("allowed", "ok")], allowed="b1qk"),
    Case("offset", 64, heads=4, group=2, mask=[("causal", ("operand", "start"))]),
    Modified("sinks_function", 64, sinks=1, function=True, heads=4, group=2, mask=PADDED),
    Differential("two_maps", 40, heads=4, group=2, mask=BOTTOM),
    Case("f16", 128, heads=8, group=4, types=("f16", "f16")),
    Case("bf16", 64, heads=4, group=2, mask=BOTTOM, types=("bf16", "bf16")),
    Case("f64", 40, heads=2, group=2, mask=PADDED, types=("f64", "f64")),
]
# Decode: in one part, in two with a last one of few keys, in many; both kinds where they meet; prefill, also in parts.
LENGTHS = [(3, 1, 700), (3, 1, 1100), (2, 5, 4000), (3, 15, 1025), (3, 16, 130), (2, 17, 1025), (2, 300, 211), (2, 40, 8200)]


def bits(arrays):
    return [x.tobytes() for x in arrays]


def entry(arrays, batch, b):
    """One batch entry of arrays that have one, and all of those that broadcast."""
    return [x[b:b + 1].copy() if x.ndim in (1, 4) and x.shape[0] == batch else x for x in arrays]


def differences(case, kernel, sizes, seed):
    arrays = list(case.inputs(sizes, np.random.default_rng(seed)).values())
    run = lambda inputs, of, threads: bits(kernel(inputs, case.outputs(of), threads))
    first = run(arrays, sizes, 1)
    for threads in THREADS:
        for attempt in range(3):
            if run(arrays, sizes, threads) != first:
                yield f"{case.name} {sizes}: run {attempt} of {threads} threads"
    together = kernel(arrays, case.outputs(sizes), 2)
    for b in range(sizes[0]):
        alone = run(entry(arrays, sizes[0], b), (1, *sizes[1:]), 3)
        if alone != bits(x[b:b + 1] for x in together):
            yield f"{case.name} {sizes}: batch entry {b} alone"


def main():
    count, failures = 0, []
    for number, case in enumerate(CASES):
        with tempfile.TemporaryDirectory() as folder:
            kernel = load_kernel(case.text(), folder, *sys.argv[1:2])
            for sizes in LENGTHS:
                found = list(differences(case, kernel, sizes, number))
                count += 3 * len(THREADS) + sizes[0]
                failures += found
    for failure in failures:
        print("OTHER BITS", failure)
    print(f"{count - len(failures)} passed, {len(failures)} failed")
    sys.exit(1 if failures or not count else 0)


if __name__ == "__main__":
    main()
