# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""compare.py [--results N] EXPECTED FOLDER...

Compares every NAME.npy in each folder with expected_NAME.npy in EXPECTED, which
is f64: each element within 1e-5 relative, or 1e-6 for those near 0, and the rows
of weights sum to 1 within 1e-6. A folder must hold N results (at least one)."""
import argparse
import pathlib
import sys

import numpy as np

from kernels import compare


def check(got_file, expected):
    name, got = got_file.stem, np.load(got_file)
    want = np.load(expected / f"expected_{name}.npy")
    if want.dtype != np.float64:
        raise AssertionError(f"{name}: expected values are {want.dtype}, not float64")
    if got.dtype not in (np.float32, np.float64):
        raise AssertionError(f"{name}: type {got.dtype}")
    error = compare(name, got, want)
    if name == "weights":
        off = np.max(np.abs(got.sum(-1, dtype=np.float64) - 1))
        if not off <= 1e-6:
            raise AssertionError(f"weights: a row misses the sum 1 by {off:.1e}")
    return error / np.max(np.abs(want[np.isfinite(want)]), initial=1e-300)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--results", type=int)
    parser.add_argument("expected", type=pathlib.Path)
    parser.add_argument("folders", nargs="+", type=pathlib.Path)
    arguments = parser.parse_args()
    for folder in arguments.folders:
        files = sorted(folder.glob("*.npy"))
        if not files or len(files) != (arguments.results or len(files)):
            sys.exit(f"{folder}: {len(files)} results, expected {arguments.results or 'some'}")
        for file in files:
            try:
                print(f"{file}: largest error {check(file, arguments.expected):.1e} of the largest value")
            except (AssertionError, OSError) as error:
                sys.exit(f"{file}: {error}")


if __name__ == "__main__":
    main()
