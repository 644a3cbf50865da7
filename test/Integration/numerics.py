# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The lines of docs/SpecNumerics.md, one case each: empty rows, infinities and NaN, huge scores, sinks.

Every line runs for every element type, with many queries and with few (kinds prefill and decode where the kernel has
both), and with one key tile and several. A case changes usual inputs; its results must agree with the definition in
f64 (kernels.attention), and the line itself is asserted on them."""
import argparse
import re
import sys
import tempfile

import numpy as np

import elements
from kernels import attention, compare, load_kernel

BATCH, HEADS, DIM, VALUE_DIM, SCALE = 2, 2, 16, 8, 0.25
TYPES = ["f32", "f16", "bf16", "f64"]
SIZES = [(37, 67), (37, 300), (3, 67), (3, 2100)]
LINES = {}


def line(number, sinks=False):
    """The decorated function changes `a`, the arrays, and returns a check of (out, lse, results of unchanged inputs)."""
    def add(function):
        assert number not in LINES
        LINES[number] = (function, sinks)
        return function
    return add


def specification(element, with_sinks):
    wide = elements.statistics(element)
    q, k, v = (f"tensor<{BATCH}x{h}x?x{d}x{element}>" for h, d in ((HEADS, DIM), (1, DIM), (1, VALUE_DIM)))
    out, lse = f"tensor<{BATCH}x{HEADS}x?x{VALUE_DIM}x{element}>", f"tensor<{BATCH}x{HEADS}x?x{wide}>"
    sinks = f"tensor<{HEADS}x{wide}>"
    return f"""func.func @kernel(%q: {q}, %k: {k}, %v: {v}, %bias: tensor<?x?x{wide}>, %n: tensor<{BATCH}xi32>, %ok: tensor<?x?xi1>
    {f', %sinks: {sinks}' if with_sinks else ''}) -> ({out}, {lse}) {{
  %out, %lse = attn.sdpa %q, %k, %v bias %bias : tensor<?x?x{wide}> scale {SCALE}
      where key_length(%n : tensor<{BATCH}xi32>) and %ok : tensor<?x?xi1>
      {f'sinks %sinks : {sinks}' if with_sinks else ''} returning(out, lse) : ({q}, {k}, {v}) -> ({out}, {lse})
  return %out, %lse : {out}, {lse}
}}
"""


class Arrays:
    def __init__(self, queries, keys):
        rng = np.random.default_rng(queries + keys)
        self.q = rng.standard_normal((BATCH, HEADS, queries, DIM))
        self.k = rng.standard_normal((BATCH, 1, keys, DIM))
        self.v = rng.standard_normal((BATCH, 1, keys, VALUE_DIM))
        self.bias = np.zeros((queries, keys))
        self.length = np.full(BATCH, keys, np.int32)
        self.ok = np.ones((queries, keys), bool)
        self.sinks = np.full(HEADS, -np.inf)
        self.last = keys - 1
        self.defined = True  # by the definition in f64

    def no_keys(self):
        self.k, self.v, self.bias, self.ok = self.k[:, :, :0], self.v[:, :, :0], self.bias[:, :0], self.ok[:, :0]
        self.length[:] = 0

    def exact_scores(self, key_scores):
        """All queries alike; key j has the score key_scores(j), exactly."""
        self.q[:] = self.k[:] = 0
        self.q[..., 0] = 400
        self.k[..., 0] = key_scores(np.arange(self.k.shape[2])) / (400 * SCALE)

    def stored(self, element, with_sinks):
        wide = elements.statistics(element)
        arrays = [elements.store(x, element) for x in (self.q, self.k, self.v)]
        arrays += [elements.store(self.bias, wide), self.length, self.ok]
        return arrays + ([elements.store(self.sinks, wide)] if with_sinks else [])


def all_empty(out, lse, usual):
    return (out == 0).all() and (lse == -np.inf).all()


# --- rows that see no key ---

@line("N1")
def masked_row(a):
    a.ok[1] = False
    return lambda out, lse, usual: (out[:, :, 1] == 0).all() and (lse[:, :, 1] == -np.inf).all() and \
        np.isfinite(lse[:, :, 0]).all()


@line("N2")
def row_of_infinite_biases(a):
    a.bias[1] = -np.inf
    return lambda out, lse, usual: (out[:, :, 1] == 0).all() and (lse[:, :, 1] == -np.inf).all()


@line("N3")
def no_keys(a):
    a.no_keys()
    return all_empty


@line("N4")
def length_of_nothing(a):
    a.length[:] = [0, -3]
    return all_empty


@line("N5")
def undefined_query_that_sees_nothing(a):
    a.q[:, :, 1] = np.nan
    a.ok[1] = False
    return lambda out, lse, usual: (out[:, :, 1] == 0).all() and (lse[:, :, 1] == -np.inf).all()


# --- what is excluded ---

NOT_FINITE = np.array([np.nan, np.inf, -np.inf])


def unchanged(out, lse, usual):
    return np.array_equal(out, usual[0]) and np.array_equal(lse, usual[1])


def excluded_pairs(a):
    a.ok[:, 5:8] = False
    a.bias[:, a.last - 2:] = -np.inf
    a.length[0] = a.last - 10


@line("N6")
def excluded_keys(a):
    excluded_pairs(a)
    a.k[:, :, 5:8] = a.k[:, :, a.last - 2:] = a.k[0, :, a.last - 9:a.last - 6] = NOT_FINITE[:, None]
    return unchanged


@line("N7")
def excluded_values(a):
    excluded_pairs(a)
    a.v[:, :, 5:8] = a.v[:, :, a.last - 2:] = a.v[0, :, a.last - 9:a.last - 6] = NOT_FINITE[:, None]
    return unchanged


@line("N8")
def excluded_for_some_rows(a):
    a.k[:, :, 5] = np.nan
    a.v[:, :, 6] = np.inf
    a.ok[:2, 5:7] = False
    return lambda out, lse, usual: np.isfinite(out[:, :, :2]).all() and np.isfinite(lse[:, :, :2]).all() and \
        np.isnan(out[:, :, 2:]).all()


# --- what is visible ---

@line("N9")
def undefined_key(a):
    a.k[0, 0, 5, 3] = np.nan
    return lambda out, lse, usual: np.isnan(out[0]).all() and np.isnan(lse[0]).all() and \
        np.array_equal(out[1], usual[0][1])


@line("N10")
def undefined_query(a):
    a.q[0, 1, 2, 3] = np.nan
    def check(out, lse, usual):
        others = np.ones(lse.shape, bool)
        others[0, 1, 2] = False
        return np.isnan(out[0, 1, 2]).all() and np.isnan(lse[0, 1, 2]) and \
            np.array_equal(out[others], usual[0][others]) and np.array_equal(lse[others], usual[1][others])
    return check


@line("N11")
def infinite_score(a):
    a.q[:] = np.abs(a.q) + 0.1
    a.k[0, 0, 5] = np.inf
    return lambda out, lse, usual: np.isnan(out[0]).all() and np.isnan(lse[0]).all() and np.isfinite(out[1]).all()


@line("N12")
def negative_infinite_score(a):
    a.q[:] = np.abs(a.q) + 0.1
    a.k[:, :, 5] = -np.inf
    a.v[:, :, 5] = np.nan  # with a weight of 0
    return lambda out, lse, usual: np.isfinite(out).all() and np.isfinite(lse).all()


@line("N13")
def negative_infinite_scores_only(a):
    a.q[:] = np.abs(a.q) + 0.1
    a.k[:] = -np.inf
    return all_empty


@line("N14")
def undefined_value(a):
    a.v[0, 0, 5, 3] = np.nan
    a.v[1, 0, 6, 2] = np.inf
    def check(out, lse, usual):
        same = np.isfinite(out)
        return np.isnan(out[0, ..., 3]).all() and (out[1, ..., 2] == np.inf).all() and \
            same.sum() == out.size - 2 * lse[0].size and np.array_equal(lse, usual[1]) and \
            np.array_equal(out[same], usual[0][same])
    return check


@line("N15")
def value_of_weight_zero(a):
    """Its weight is 0 before the largest score is known, or after; both are right."""
    a.exact_scores(lambda j: np.where(j == a.last - 1, 1e4, np.where(j == a.last, -1e4, 0)))
    a.v[:, :, 0], a.v[:, :, a.last] = np.inf, np.nan
    a.defined = False
    return lambda out, lse, usual: (np.isnan(out) | (out == usual[2][:, :, None, a.last - 1])).all()


# --- huge scores ---

@line("N16")
def huge_scores(a):
    a.exact_scores(lambda j: np.choose(j % 3, [0, 1e4, -1e4]))
    return lambda out, lse, usual: np.isfinite(out).all() and (np.abs(lse - 1e4 - np.log(len(range(1, a.last + 1, 3)))) < 0.01).all()


@line("N17")
def all_scores_hugely_negative(a):
    a.exact_scores(lambda j: np.full(j.shape, -1e4))
    return lambda out, lse, usual: (out != 0).any() and (np.abs(lse + 1e4 - np.log(a.last + 1)) < 0.01).all()


@line("N18")
def lowest_bias(a):
    a.bias[1] = a.lowest
    return lambda out, lse, usual: np.isfinite(lse[:, :, 1]).all() and (out[:, :, 1] != 0).any()


# --- sinks ---

@line("N19", sinks=True)
def infinite_sink(a):
    a.sinks[0] = np.inf
    return lambda out, lse, usual: (out[:, 0] == 0).all() and (lse[:, 0] == np.inf).all() and \
        np.array_equal(out[:, 1], usual[0][:, 1])


@line("N20", sinks=True)
def no_sink(a):
    a.ok[1] = False
    a.sinks[:] = -np.inf
    return lambda out, lse, usual: (out[:, :, 1] == 0).all() and (lse[:, :, 1] == -np.inf).all()


@line("N21", sinks=True)
def undefined_sink(a):
    a.sinks[1] = np.nan
    return lambda out, lse, usual: np.isnan(out[:, 1]).all() and np.isnan(lse[:, 1]).all() and \
        np.array_equal(out[:, 0], usual[0][:, 0])


@line("N22", sinks=True)
def huge_sinks(a):
    a.sinks[:] = [1e4, -1e4]
    return lambda out, lse, usual: (out[:, 0] == 0).all() and (np.abs(lse[:, 0] - 1e4) < 0.01).all() and \
        np.array_equal(out[:, 1], usual[0][:, 1])


@line("N23", sinks=True)
def sink_of_an_empty_row(a):
    a.ok[1] = False
    a.sinks[:] = 2.5
    return lambda out, lse, usual: (out[:, :, 1] == 0).all() and (np.abs(lse[:, :, 1] - 2.5) < 1e-5).all()


# --- running them ---

def prepared(element, sizes, change):
    a = Arrays(*sizes)
    wide = elements.statistics(element)
    # Kernels work in units of log2, in which a lower bias has no finite value (docs/Spec.md, attn.bias).
    a.lowest = float(np.finfo(elements.STORED[wide]).min) * np.log(2)
    return a, change(a)


def run(kernel, a, element, with_sinks):
    outputs = [elements.empty((BATCH, HEADS, a.q.shape[2], VALUE_DIM), element),
               elements.empty((BATCH, HEADS, a.q.shape[2]), elements.statistics(element))]
    return [elements.numbers(x) for x in kernel(a.stored(element, with_sinks), outputs, threads=2)]


def usual_inputs(change, element, sizes):
    """The same inputs without what is not finite: excluded pairs stay excluded."""
    a, _ = prepared(element, sizes, change)
    a.sinks = np.full(HEADS, -np.inf)
    clean = Arrays(*sizes)
    for name in ("q", "k", "v"):
        changed, usual = getattr(a, name), getattr(clean, name)
        if changed.shape == usual.shape:
            setattr(a, name, np.where(np.isfinite(changed), changed, usual))
    return a


def check(kernel, number, element, sizes):
    change, with_sinks = LINES[number]
    a, says = prepared(element, sizes, change)
    out, lse = run(kernel, a, element, with_sinks)
    seen = a.ok[None, None] & (np.arange(a.ok.shape[1]) < a.length[:, None, None, None])
    seen = np.broadcast_to(seen, (BATCH, HEADS, *a.ok.shape))
    arrays = a.stored(element, with_sinks)
    want = () if not a.defined else attention(*arrays[:3], SCALE, seen, elements.numbers(arrays[3]),
                     sinks=elements.numbers(arrays[6]) if with_sinks else None)[:2]
    for name, got, expected, of in zip(("out", "lse"), (out, lse), want, (element, elements.statistics(element))):
        compare(name, got, expected, **elements.tolerance(of, expected, kernel.error_scale))
    clean = usual_inputs(change, element, sizes)
    usual = [*run(kernel, clean, element, with_sinks), elements.numbers(elements.store(a.v, element))]
    if not says(out, lse, usual):
        raise AssertionError("the line does not hold")


def numbers_of(path):
    with open(path) as f:
        return re.findall(r"^\| (N\d+) \|", f.read(), re.MULTILINE)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("specification", help="docs/SpecNumerics.md")
    parser.add_argument("--target", default="native")
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    listed = numbers_of(options.specification)
    failures, count = [], 0
    if sorted(listed) != sorted(LINES):
        failures.append(f"lines without a test or tests without a line: {sorted(set(listed) ^ set(LINES))}")
    for element in TYPES:
        for with_sinks in (False, True):
            with tempfile.TemporaryDirectory() as folder:
                kernel = load_kernel(specification(element, with_sinks), folder, options.target)
                for number in (n for n, (_, s) in LINES.items() if s == with_sinks):
                    for sizes in SIZES if not options.only or options.only == number else ():
                        count += 1
                        try:
                            check(kernel, number, element, sizes)
                        except (AssertionError, RuntimeError) as error:
                            failures.append(f"{number} {element} {sizes[0]} x {sizes[1]}: {error}")
    for failure in failures:
        print("FAILED", failure)
    print(f"{count} cases, {len(failures)} failed")
    sys.exit(1 if failures or not count else 0)


if __name__ == "__main__":
    main()
