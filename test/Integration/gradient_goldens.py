# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Gradients with answers made elsewhere, in f64, by explicit formulas and a second way (data/gradients).

Every case is evaluated by attn-reference and, compiled, by one thread and by three, whose bits must be the same. What has no gradient
stands in UNKNOWN with what attn-opt says; a case that begins to compile fails until its line goes."""
import argparse
import concurrent.futures
import io
import json
import os
import pathlib
import subprocess
import tempfile
import zipfile

import numpy as np

import elements
from kernels import finish
from learned import Learned, Refused, learning

DATA = pathlib.Path(__file__).parent / "data" / "gradients" / "cases.zip"


class Case:
    """One golden; `arrays` and `cotangents` are stored as their types are, `want` holds the answers."""

    def __init__(self, archive, index):
        self.name, self.tolerance, self.learned = index["name"], index["tolerance"], index["learned"]
        self.text = learning(archive.read(f"{self.name}/forward.mlir").decode(), self.learned)
        files = [n for n in archive.namelist() if n.startswith(self.name + "/") and n.endswith(".npy")]
        load = lambda prefix: {n.split(prefix)[1][:-4]: elements.load(io.BytesIO(archive.read(n))) for n in files if f"/{prefix}" in n}
        self.arrays, self.want = load("in_"), load("want_")
        self.cotangents = {f"d_{n}": a for n, a in load("cotangent_").items()}
        for name, zeros in index["zeros"].items():
            assert (self.want[name] == 0).sum() == zeros, f"{self.name}: {name} is not as packed"

    def problems(self, got):
        """What is wrong with gradients, by the names of the results d_<argument>."""
        return [f"{n}: {wrong}" for n, t in self.tolerance.items()
                if (wrong := difference(elements.numbers(got["d_" + n[1:]]), self.want[n].astype(np.float64), t["atol"], t["rtol"]))]


def cases():
    with zipfile.ZipFile(DATA) as archive:
        return [Case(archive, index) for index in json.loads(archive.read("index.json"))]


def difference(got, want, atol, rtol):
    """Nothing, or what is wrong: NaN meets NaN, infinities meet, and a stored 0 is met by a 0."""
    if got.shape != want.shape:
        return f"shape {got.shape}, expected {want.shape}"
    if want.size == 0:
        return "nothing to compare"
    first = lambda bad: f"{got[tuple(np.argwhere(bad)[0])]:.7g} at {tuple(map(int, np.argwhere(bad)[0]))}, expected {want[tuple(np.argwhere(bad)[0])]:.7g}"
    finite = np.isfinite(want)
    with np.errstate(invalid="ignore"):
        unlike = (np.isnan(got) != np.isnan(want)) | (~finite & ~np.isnan(want) & (got != want))
        far = finite & ~(np.abs(got - want) <= atol + rtol * np.abs(want))
    if unlike.any():
        return first(unlike)
    if far.any():
        return f"{first(far)} (atol {atol:g}, rtol {rtol:g}), {far.sum()} of {far.size} are off"
    if (got[want == 0] != 0).any():
        return f"{(got[want == 0] != 0).sum()} elements that must be exactly 0 are not"
    return None


def check(case, target="native", flags=()):
    """What is wrong with the case."""
    with tempfile.TemporaryDirectory() as folder:
        learned = Learned(case.text, folder)
        learned.differentiate()
        given = learned.gradient_inputs(case.arrays, case.cotangents)
        problems = [f"{p} (reference)" for p in case.problems(learned.evaluate("gradient", given))]
        kernel = learned.kernel("gradient", target, flags)
        one, three = (learned.call(kernel, "gradient", given, threads) for threads in (1, 3))
        if any(one[n].tobytes() != three[n].tobytes() for n in one):
            problems.append("the bits depend on the number of threads")
        return problems + case.problems(one)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--case", action="append", help="of this name only; several may be given")
    parser.add_argument("--target", default="native")
    parser.add_argument("flags", nargs="*", help="of attn-opt, behind --")
    options = parser.parse_args()
    chosen = [c for c in cases() if not options.case or c.name in options.case]

    def guarded(case):
        try:
            return check(case, options.target, options.flags)
        except (Refused, OSError, RuntimeError, subprocess.CalledProcessError) as error:
            return [str(error)]

    with concurrent.futures.ThreadPoolExecutor(min(2, os.cpu_count())) as pool:
        problems = list(pool.map(guarded, chosen))
    finish(len(chosen), [f"{c.name}: {'; '.join(p)}" for c, p in zip(chosen, problems) if p])


if __name__ == "__main__":
    main()
