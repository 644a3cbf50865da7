# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""vector_math.py FOLDER CPU: compiles each operation for the processor, without a feature of the pass, and bounds its
error over all exponents. Conversions must be exact: every pattern of the bits that stay meets those below that
round differently."""
import pathlib
import sys

import numpy as np

from vector_library import Library, loop

folder, cpu = pathlib.Path(sys.argv[1]), sys.argv[2]
rng = np.random.default_rng(1)


library = Library(folder, cpu, [
    loop("exp2_f32", "%y = math.exp2 %x : {x}", "f32", "f32"),
    loop("exp2_f64", "%y = math.exp2 %x : {x}", "f64", "f64"),
    loop("rough_f32", "%y = math.exp2 %x fastmath<afn> : {x}", "f32", "f32"),
    loop("widen_f16", "%y = arith.extf %x : {x} to {y}", "f16", "f32"),
    loop("widen_bf16", "%y = arith.extf %x : {x} to {y}", "bf16", "f32"),
    loop("narrow_f16", "%y = arith.truncf %x : {x} to {y}", "f32", "f16"),
    loop("narrow_bf16", "%y = arith.truncf %x : {x} to {y}", "f32", "bf16")], "--attn-lower-vector-math")


def transcendental():
    count = 1 << 21
    for name, kind, lowest, limit in (("f32", np.float32, -126, 2.1), ("f64", np.float64, -1022, 1.0)):
        x = np.concatenate([rng.uniform(lowest, -lowest, count), rng.uniform(-1, 1, count),
                            -(2.0 ** rng.uniform(-40, 6, count))]).astype(kind)
        library.bound(f"exp2_{name}", np.exp2(x.astype(np.longdouble)), limit if cpu == "x86-64-v3" else limit + 0.6, x)
        special = np.array([-np.inf, np.nan, 0, -0.0, lowest - 2, -1e30, -1, 1], kind)
        want = np.array([0, np.nan, 1, 1, 0, 0, 0.5, 2], kind)
        got = library.apply(f"exp2_{name}", kind, special)
        if not np.array_equal(got, want, equal_nan=True):
            sys.exit(f"exp2_{name}: {got}, expected {want}")


def rough():
    """exp2 with a relative error that rounding to bf16 (2e-3) hides; what is exact stays so."""
    x = rng.uniform(-126, 126, 1 << 21).astype(np.float32)
    error = float(np.max(np.abs(library.apply("rough_f32", np.float32, x) / np.exp2(x.astype(np.longdouble)) - 1)))
    print(f"rough_f32: {error:.3g}")
    special = np.array([-np.inf, np.nan, 0, -0.0, -128, -1e30, -1, 1], np.float32)
    got = library.apply("rough_f32", np.float32, special)
    if not error <= 3e-6 or not np.array_equal(got, np.array([0, np.nan, 1, 1, 0, 0, 0.5, 2], np.float32), equal_nan=True):
        sys.exit(f"rough_f32: an error of {error} is more than 3e-6, or {got} is wrong")


def widenings():
    every = np.arange(1 << 16, dtype=np.uint16)
    with np.errstate(invalid="ignore"):
        exact = {"f16": every.view(np.float16).astype(np.float32),
                 "bf16": (every.astype(np.uint32) << 16).view(np.float32)}
    for name, want in exact.items():
        got = library.apply(f"widen_{name}", np.float32, every)
        number = ~np.isnan(want)
        require(f"widen_{name}", every, number, got.view(np.uint32), want.view(np.uint32), np.isnan(got))


def narrowings():
    for name, rest, infinity in (("f16", 13, 0x7C00), ("bf16", 16, 0x7F80)):
        half = 1 << (rest - 1)
        upper = np.arange(1 << (32 - rest), dtype=np.uint32) << rest
        bits = (upper[:, None] | np.array([0, 1, half - 1, half, half + 1, 2 * half - 1], np.uint32)).reshape(-1)
        x = bits.view(np.float32)
        with np.errstate(over="ignore", invalid="ignore"):
            want = (x.astype(np.float16).view(np.uint16) if name == "f16" else
                    ((bits.astype(np.uint64) + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16))
        got = library.apply(f"narrow_{name}", np.uint16, x)
        require(f"narrow_{name}", bits, ~np.isnan(x), got, want, (got & 0x7FFF) > infinity)


def require(name, inputs, number, got, want, is_nan):
    """Numbers become `want`, to the bit, and a NaN becomes a NaN."""
    wrong = np.flatnonzero(np.where(number, got != want, ~is_nan))
    if wrong.size:
        i = wrong[0]
        sys.exit(f"{name}: {wrong.size} differ, first {inputs[i]:#x} became {got[i]:#x}, expected {want[i]:#x}")
    print(f"{name}: {inputs.size} exact")


transcendental()
rough()
widenings()
narrowings()
