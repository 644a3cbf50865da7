# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Plants mistakes in kernels and results and requires the harness to notice each of them."""
import sys
import tempfile

import numpy as np

from kernels import Kernel, compare
from values import Case

BOTTOM = [("causal", "bottom_right")]
SIZES = (2, 21, 37)
rng = np.random.default_rng(3)


def compiled(case, **mistake):
    """Whether the harness accepts a kernel compiled from the specification with a mistake in it."""
    with tempfile.TemporaryDirectory() as folder:
        kernel = Kernel(case.text(**mistake), folder)
        arrays = case.inputs(SIZES, np.random.default_rng(5))
        return accepted(case, arrays, kernel(list(arrays.values()), case.outputs(SIZES), 2))


def accepted(case, arrays, got):
    try:
        for name, g, w in zip(("out", "lse"), got, case.expected(arrays, SIZES)):
            compare(name, g, w)
        return True
    except AssertionError:
        return False


def changed(change):
    """Whether the harness accepts right results after `change`."""
    case = Case("planted", 40, heads=4, group=2, mask=[("key_length", "len"), *BOTTOM])
    arrays = case.inputs(SIZES, np.random.default_rng(5))
    arrays["len"][:] = [17, 30]  # the first batch entry has empty rows
    got = [x.astype(np.float32) for x in case.expected(arrays, SIZES)]
    assert accepted(case, arrays, got), "the harness refuses right results"
    return accepted(case, arrays, change(got))


def at(index, value):
    def change(got):
        got[0][index] = value(got[0][index])
        return got
    return change


def regrouped(got):
    got[0] = got[0][:, [0, 2, 1, 3]]
    return got


causal = Case("planted", 40, heads=4, group=2, mask=BOTTOM)
biased = Case("planted", 64, bias="bhqk", mask=[("key_length", "len")])
allowed = Case("planted", 64, mask=[("allowed", "ok")], allowed="qk")
PLANTED = {
    "scale left out": lambda: compiled(causal, scale=1.0),
    "scale off by 1 in 10 000": lambda: compiled(causal, scale=causal.scale * 1.0001),
    "top left instead of bottom right": lambda: compiled(causal, mask=[("causal", "top_left")]),
    "causal one key too many": lambda: compiled(causal, mask=[("causal", SIZES[2] - SIZES[1] + 1)]),
    "causal one key too few": lambda: compiled(causal, mask=[("causal", SIZES[2] - SIZES[1] - 1)]),
    "mask left out": lambda: compiled(causal, mask=[]),
    "bias left out": lambda: compiled(biased, use_bias=False),
    "inverted mask": lambda: compiled(causal, mask=[("not_causal", 0)]),
    "one wrong element": lambda: changed(at((1, 3, 20, 39), lambda x: x + 1e-4)),
    "NaN where there is none": lambda: changed(at((1, 0, 20, 0), lambda x: np.nan)),
    "NaN in an empty row": lambda: changed(at((0, 0, 0), lambda x: np.nan)),
    "mean instead of 0 in an empty row": lambda: changed(at((0, 0, 0), lambda x: x + 0.1)),
    "heads grouped in turn": lambda: changed(regrouped),
    "last query not written": lambda: changed(at((slice(None), slice(None), -1), lambda x: 0 * x)),
    "logarithm to base 2": lambda: changed(lambda got: [got[0], got[1] / np.float32(np.log(2))]),
    "finite lse of an empty row": lambda: changed(lambda got: [got[0], np.maximum(got[1], -1e30)]),
    "a head too few": lambda: changed(lambda got: [got[0][:, :3], got[1]]),
    "nothing compared": lambda: changed(lambda got: [got[0][:0], got[1]]),
}


def main():
    missed = [name for name, plant in PLANTED.items() if plant()]
    for name in missed:
        print("NOT NOTICED", name)
    print(f"{len(PLANTED) - len(missed)} passed, {len(missed)} failed")
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()
