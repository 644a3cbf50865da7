# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""math_f64.py FOLDER SPEC CPU...: compiles every function that a score function of f64 may call, and holds its error to
what docs/SpecNumerics.md says, against NumPy's long double; zeros, infinities, NaN and subnormal numbers must be those of C."""
import pathlib
import re
import sys

import numpy as np

from vector_library import LANES, Library, loop

folder, spec, cpus = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3:]
COUNT = 1 << 18
rng = np.random.default_rng(1)
if np.finfo(np.longdouble).eps > 2.0**-60:
    sys.exit("NumPy's long double is no wider than double")


def uniform(low, high):
    return rng.uniform(low, high, COUNT)


def powers(low, high):
    """Numbers of all sizes between powers of 10."""
    return 10.0 ** rng.uniform(low, high, COUNT)


def both(x):
    return np.concatenate([x, -x])


def erf(x):
    """Of a series whose terms are all positive; numbers that another would not change are done."""
    square, total = x * x, np.ones_like(x)
    at, term = np.flatnonzero(np.abs(x) < 6.5), np.ones_like(x)
    term = term[at]
    for n in range(1, 240):
        term = term * (2 * square[at] / (2 * n + 1))
        total[at] += term
        more = term > total[at] * np.finfo(x.dtype).eps / 8
        at, term = at[more], term[more]
    with np.errstate(all="ignore"):
        root = np.sqrt(np.arctan(np.longdouble(1)))
        return np.where(np.abs(x) < 6.5, x * np.exp(-square) * total / root, np.sign(x))


# name -> (f in long double, the numbers to try)
FUNCTIONS = {
    "exp": (np.exp, [uniform(-745, 709), both(powers(-20, 0))]),
    "exp2": (np.exp2, [uniform(-1022, 1023.9), both(powers(-20, 0))]),
    "expm1": (np.expm1, [uniform(-60, 709), uniform(-3, 3), both(powers(-300, 0))]),
    "log": (np.log, [powers(-323, 308), uniform(0.5, 2)]),
    "log2": (np.log2, [powers(-323, 308), uniform(0.5, 2), 1 + both(powers(-15, -2))]),
    "log1p": (np.log1p, [powers(-300, 308), both(powers(-16, -0.0001)), uniform(-0.99, 2)]),
    "tanh": (np.tanh, [both(powers(-300, 2)), uniform(-2, 2)]),
    "erf": (erf, [both(powers(-300, 1)), uniform(-6, 6)]),
    "sin": (np.sin, [both(powers(-300, 6)), np.arange(1, COUNT + 1) * (np.pi / 2)]),
    "cos": (np.cos, [both(powers(-300, 6)), np.arange(1, COUNT + 1) * (np.pi / 2)]),
    "sqrt": (np.sqrt, [powers(-323, 308)]),
    "rsqrt": (lambda x: 1 / np.sqrt(x), [powers(-323, 308)]),
}
STEPS = {"floor": np.floor, "ceil": np.ceil, "trunc": np.trunc, "roundeven": np.rint,
         "round": lambda x: np.trunc(x) + np.copysign(np.abs(x - np.trunc(x)) >= 0.5, x)}
# C's pow, for exponents that keep results finite.
BASES = [powers(-300, 300), powers(-3, 3), 1 + both(powers(-12, -1))]
SPECIAL = np.array([0, -0.0, 1, -1, 2, -2, 3, -3, 0.5, -0.5, 2.5, -2.5, np.inf, -np.inf, np.nan, 1e300, -1e300, 1e-300,
                    -1e-300, 5e-324, -5e-324, 1e-310, 800, -800, 2.0**52 + 1, 2.0**53, -(2.0**53), 1e5, -1e5, 40, -40, 6])


def limits():
    """function -> ulp, from the table of section 8."""
    section = spec.read_text().split("## 8. Errors of functions")[1]
    found = {}
    for row in re.findall(r"^\| (.*?) \|.*\| ([\d.]+) ulp \|$", section, re.MULTILINE):
        for name in re.findall(r"`(\w+)`", row[0]):
            found[name] = float(row[1])
    return found


def same(name, got, want, tolerance, *inputs):
    """Each `got` is `want`, a NaN for a NaN, with the sign of zeros and infinities."""
    with np.errstate(all="ignore"):
        near = (got == want) | (np.abs(got - want) <= tolerance * np.spacing(np.abs(want)))
        right = (np.isnan(got) & np.isnan(want)) | (near & (np.signbit(got) == np.signbit(want)))
    if not right.all():
        i = int(np.argmin(right))
        sys.exit(f"{name}({', '.join(repr(x[i]) for x in inputs)}) is {got[i]!r}, expected {want[i]!r}")


def main():
    functions = [loop(name, f"%y = math.{name} %x : {{x}}", "f64") for name in [*FUNCTIONS, *STEPS] if name != "exp2"]
    # As a score function has it.
    functions.append(loop("exp2", "%c = arith.constant dense<0.5> : {x} %h = arith.mulf %x, %c : {x} "
                          "%r = math.exp2 %h : {x} %y = arith.mulf %r, %r : {x}", "f64"))
    functions.append(loop("powf", "%y = math.powf %x, %z : {x}", "f64", inputs="xz"))
    libraries = [Library(folder / cpu, cpu, functions, "--attn-approximate-math", "--attn-lower-vector-math") for cpu in cpus]

    def bound(name, want, *inputs):
        for library in libraries:
            library.bound(name, want, allowed[name], *inputs)

    def special_values(name, want, tolerance, *inputs):
        for library in libraries:
            same(name, library.apply(name, np.float64, *inputs), want, tolerance, *inputs)

    allowed = limits()
    special = np.resize(SPECIAL, -(-SPECIAL.size // LANES) * LANES)
    for name, (f, samples) in FUNCTIONS.items():
        for x in samples:
            with np.errstate(all="ignore"):
                bound(name, f(x.astype(np.longdouble)), x)
        # From 2^50 on sin and cos are NaN; exp2 of a score function is held to its range.
        x = np.where(np.abs(special) < 2.0**50, special, 3) if name in ("sin", "cos") else special
        x = np.where(np.abs(x) < 1e4, x, 4) if name == "exp2" else x
        with np.errstate(all="ignore"):
            want = f(x.astype(np.longdouble)).astype(np.float64)
        special_values(name, want, 3, x)
    wide = np.resize([2.0**50, -(2.0**60), np.inf, np.nan], LANES)
    for name in ("sin", "cos"):
        special_values(name, np.full(LANES, np.nan), 0, wide)
    for name, f in STEPS.items():
        for x in (special, uniform(-9, 9), np.arange(-64, 64) / 4, both(powers(10, 18)), 0.5 - powers(-17, -16)):
            with np.errstate(all="ignore"):
                want = f(x)
            special_values(name, want, 0, x)
    for x in BASES:
        for largest in (1, 30, 700):
            y = rng.uniform(-largest, largest, x.size) / np.log(x)
            with np.errstate(all="ignore"):
                bound("powf", np.power(x.astype(np.longdouble), y.astype(np.longdouble)), x, y)
    x, y = (np.ascontiguousarray(a.reshape(-1)) for a in np.meshgrid(special, special))
    with np.errstate(all="ignore"):
        special_values("powf", np.power(x, y), 2, x, y)


main()
