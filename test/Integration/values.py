# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sweeps compiled kernels over shapes, masks and threads against two oracles.

Each kernel is compiled once with run-time batch and lengths and then run on several of them; some are compiled for
static shapes. Expected values are the definition in f64 (kernels.attention) and the project's Reference."""
import argparse
import tempfile

import numpy as np

import elements
from kernels import attention, compare, finish, load_kernel, reference, visible

TERMS = {"top_left": "causal(top_left)", "bottom_right": "causal(bottom_right)"}


def mask_text(mask, batch):
    words = []
    for term, value in mask:
        if term == "causal":
            if isinstance(value, tuple):
                words.append(f"causal(offset = %{value[1]} : tensor<{batch}xi32>)")
            else:
                words.append(TERMS.get(value, f"causal(offset = {value})"))
        elif term == "key_length":
            words.append(f"key_length(%{value} : tensor<{batch}xi32>)")
        elif term == "allowed":
            words.append(f"%{value} : tensor<{{allowed}}xi1>")
        elif term == "not_causal":
            words.append("not causal(top_left)")
    return " and ".join(words)


class Case:
    """One specification. `sizes` is (B, Sq, Skv) or None for run-time sizes; `types` are those of query and value."""

    def __init__(self, name, dk=64, dv=None, heads=2, group=1, mask=(), bias=None, allowed=None, sizes=None, scale=None,
                 types=("f32", "f32")):
        self.name, self.dk, self.dv, self.heads, self.group = name, dk, dv or dk, heads, group
        self.mask, self.bias, self.allowed, self.sizes = mask, bias, allowed, sizes
        self.scale = dk**-0.5 if scale is None else scale
        self.query_type, self.value_type = types
        self.wide_type = elements.statistics(self.query_type)
        self.error_scale = 0.0  # of the kernel, once there is one

    def of(self, element):
        """The same in another element type."""
        self.query_type = self.value_type = element
        self.wide_type = elements.statistics(element)
        return self

    def dims(self, which, sizes):
        b, sq, skv = sizes
        return {"b": b, "h": self.heads, "q": sq, "k": skv, "1": 1}[which]

    def text(self, mask=None, scale=None, use_bias=True):
        """The specification; the arguments plant mistakes."""
        b, sq, skv = self.sizes or ("?", "?", "?")
        hq, hkv = self.heads, self.heads // self.group
        of_query, of_value, wide = self.query_type, self.value_type, self.wide_type
        tq, tk = f"tensor<{b}x{hq}x{sq}x{self.dk}x{of_query}>", f"tensor<{b}x{hkv}x{skv}x{self.dk}x{of_query}>"
        tv, to = f"tensor<{b}x{hkv}x{skv}x{self.dv}x{of_value}>", f"tensor<{b}x{hq}x{sq}x{self.dv}x{of_value}>"
        tl = f"tensor<{b}x{hq}x{sq}x{wide}>"
        shape = lambda dims: "x".join(str(self.dims(d, (b, sq, skv))) for d in dims)
        arguments = [f"%q: {tq}", f"%k: {tk}", f"%v: {tv}"]
        bias = ""
        if self.bias:
            tb = f"tensor<{shape(self.bias)}x{wide}>"
            arguments.append(f"%bias: {tb}")
            bias = f" bias %bias : {tb}" if use_bias else ""
        for term, value in self.mask:
            if term == "allowed":
                arguments.append(f"%{value}: tensor<{shape(self.allowed)}xi1>")
            elif term == "key_length" or isinstance(value, tuple):
                name = value[1] if isinstance(value, tuple) else value
                arguments.append(f"%{name}: tensor<{b}xi32>")
        where = mask_text(self.mask if mask is None else mask, b)
        where = where.replace("{allowed}", shape(self.allowed) if self.allowed else "")
        return (f"func.func @kernel({', '.join(arguments)}) -> ({to}, {tl}) {{\n"
                f"  %out, %lse = attn.sdpa %q, %k, %v{bias} scale {float(self.scale if scale is None else scale)!r}"
                f"{' where ' + where if where else ''} returning(out, lse) : ({tq}, {tk}, {tv}) -> ({to}, {tl})\n"
                f"  return %out, %lse : {to}, {tl}\n}}\n")

    def inputs(self, sizes, rng, poison=False):
        b, sq, skv = sizes
        normal = lambda element, *s: elements.store(rng.standard_normal(s), element)
        hkv, of_query, of_value = self.heads // self.group, self.query_type, self.value_type
        arrays = {"q": normal(of_query, b, self.heads, sq, self.dk), "k": normal(of_query, b, hkv, skv, self.dk),
                  "v": normal(of_value, b, hkv, skv, self.dv)}
        if self.bias:
            bias = normal(self.wide_type, *(self.dims(d, sizes) for d in self.bias))
            bias[rng.random(bias.shape) < 0.1] = -np.inf
            arrays["bias"] = bias
        for term, value in self.mask:
            if term == "allowed":
                arrays[value] = rng.random([self.dims(d, sizes) for d in self.allowed]) < 0.7
            elif term == "key_length":
                arrays[value] = rng.integers(0, skv + 1, b).astype(np.int32)
            elif isinstance(value, tuple):
                arrays[value[1]] = rng.integers(-3, skv, b).astype(np.int32)
        if poison:
            seen = self.visible(arrays, sizes)
            hidden = ~seen.reshape(b, hkv, self.group, sq, skv).any(axis=(2, 3))
            arrays["k"][hidden] = elements.store(np.nan, of_query)
            arrays["v"][hidden] = elements.store(np.inf, of_value)
        return arrays

    def visible(self, arrays, sizes):
        b, sq, skv = sizes
        return visible(self.mask, (b, self.heads, sq, skv), arrays)

    def expected(self, arrays, sizes):
        out, lse, _, _ = attention(arrays["q"], arrays["k"], arrays["v"], self.scale, self.visible(arrays, sizes),
                                   arrays.get("bias"))
        return out, lse

    def outputs(self, sizes):
        b, sq, _ = sizes
        return [elements.empty((b, self.heads, sq, self.dv), self.value_type),
                elements.empty((b, self.heads, sq), self.wide_type)]

    def compare(self, what, got, want):
        """Raises unless out and lse are near enough; the errors of out, absolute and in ulp of numbers above 1/4."""
        for name, element, g, w in zip(("out", "lse"), (self.value_type, self.wide_type), got, want):
            w = elements.numbers(w)
            bounds = elements.tolerance(element, w, self.error_scale)
            compare(f"{self.name} {what} {name}", g, w, **bounds)
        out, expected = elements.numbers(got[0]), elements.numbers(want[0])
        expected = np.where(np.isfinite(expected), expected, 0)
        error = np.abs(out - expected)
        units = error / elements.ulp(expected, self.value_type)
        return (np.max(error, where=expected != 0, initial=0.0),
                np.max(units, where=np.abs(expected) > 0.25, initial=0.0))


CAUSAL = [("causal", "top_left")]
BOTTOM = [("causal", "bottom_right")]
PADDED = [("key_length", "len")]
CASES = [
    *(Case(f"dim{d}", d) for d in (1, 8, 17, 40, 64, 72, 96, 128)),
    *(Case(f"causal{d}", d, mask=CAUSAL) for d in (1, 8, 17, 40, 64, 72, 96, 128)),
    Case("bottom", 64, mask=BOTTOM), Case("bottom40", 40, mask=BOTTOM, heads=3),
    Case("offset", 64, mask=[("causal", 5)]), Case("offset_back", 32, mask=[("causal", -7)]),
    Case("offset_operand", 64, mask=[("causal", ("operand", "start"))]),
    Case("gqa2", 64, heads=4, group=2, mask=CAUSAL), Case("gqa3", 40, heads=6, group=3),
    Case("gqa8", 64, heads=8, group=8, mask=BOTTOM), Case("mqa_wide", 128, heads=4, group=4),
    Case("value_wider", 40, dv=72, mask=CAUSAL), Case("value_narrow", 72, dv=17), Case("value_one", 64, dv=1),
    Case("bias", 64, bias="bhqk"), Case("bias_head", 40, bias="hqk", mask=CAUSAL), Case("bias_row", 64, bias="1k"),
    Case("bias_column", 17, bias="q1"), Case("bias_batch", 64, bias="b11k", mask=CAUSAL),
    Case("padding", 64, mask=PADDED), Case("padding_causal", 64, mask=[*PADDED, *BOTTOM]),
    Case("allowed", 64, mask=[("allowed", "ok")], allowed="qk"),
    Case("allowed_full", 40, mask=[("allowed", "ok")], allowed="bhqk"),
    Case("allowed_keys", 64, mask=[("allowed", "ok")], allowed="b11k"),
    Case("allowed_queries", 17, mask=[("allowed", "ok")], allowed="q1"),
    Case("allowed_causal", 64, mask=[("allowed", "ok"), *CAUSAL], allowed="hqk"),
    Case("not_causal", 64, mask=[("not_causal", 0)]),
    Case("negative_scale", 40, mask=CAUSAL, scale=-0.3), Case("one_head", 64, heads=1, mask=CAUSAL),
]
STATIC = [Case(f"static_{b}_{sq}_{skv}", d, mask=m, heads=h, group=g, sizes=(b, sq, skv))
          for (b, sq, skv), d, m, h, g in [((1, 1, 1), 8, (), 1, 1), ((2, 17, 33), 64, CAUSAL, 2, 2),
                                           ((1, 130, 7), 40, BOTTOM, 2, 1), ((3, 5, 96), 17, PADDED, 3, 3)]]
NARROW = [("f16", "f16"), ("bf16", "bf16"), ("f64", "f64"), ("f16", "bf16"), ("bf16", "f32"), ("f32", "f16")]
TYPED = [Case(f"{q}_{v}_{name}", dk, types=(q, v), **options) for q, v in NARROW for name, dk, options in [
    ("wide", 128, {}), ("causal", 64, dict(mask=CAUSAL, heads=4, group=2)), ("odd", 17, dict(dv=5, mask=BOTTOM)),
    ("one", 1, dict(dv=1)), ("padding", 40, dict(dv=24, mask=PADDED, bias="bhqk"))]]
# Query blocks of a tile may have two widths: all numbers of queries in a few of them, and around whole tiles.
QUERY_BLOCKS = [Case("blocks", 8), Case("blocks_bias", 8, bias="bhqk"), Case("blocks_column", 3, bias="q1"),
                Case("blocks_padded", 8, mask=PADDED),
                Case("blocks_gqa_f16", 9, dv=3, group=2, types=("f16", "f16")), Case("blocks_f64", 8, types=("f64", "f64"))]
BLOCK_LENGTHS = [*((1, sq, 9) for sq in range(16, 52)), *((1, sq, 97) for sq in range(125, 170, 3)), (2, 300, 7)]
LENGTHS = [(1, 1, 1), (1, 1, 130), (2, 7, 3), (1, 16, 16), (3, 17, 31), (1, 33, 97), (2, 65, 64), (1, 130, 129)]


TYPED_LENGTHS = [(1, 1, 1), (2, 7, 3), (3, 17, 131), (1, 130, 65)]


def lengths(case):
    if case.sizes:
        return [case.sizes]
    return TYPED_LENGTHS if case in TYPED else BLOCK_LENGTHS if case in QUERY_BLOCKS else LENGTHS


def check(kernel, case, sizes, seed, threads, with_reference, folder, poison=False):
    rng = np.random.default_rng(seed)
    arrays = case.inputs(sizes, rng, poison)
    got = kernel(list(arrays.values()), case.outputs(sizes), threads)
    errors = case.compare(f"{sizes}", got, case.expected(arrays, sizes))
    if with_reference and seed % 2:  # the Reference is slow
        case.compare(f"{sizes} (Reference)", got, reference(kernel.source, list(arrays.values()), 2, folder))
    return errors


def sweep(case, number, kernel, with_reference, folder, worst):
    """The number of comparisons, and the failures."""
    count, failures = 0, []
    for i, sizes in enumerate(lengths(case)):
        try:
            errors = check(kernel, case, sizes, 1000 * number + i, 1 + (number + i) % 3, with_reference, folder)
            worst[case.value_type] = np.maximum(worst.get(case.value_type, 0), errors)
            if case.mask and case.mask[0][0] != "allowed":
                check(kernel, case, sizes, 7000 * number + i, 1, False, folder, poison=True)
                count += 1
        except (AssertionError, RuntimeError) as error:
            failures.append(str(error))
        count += 1
    return count, failures


def main():
    parser = argparse.ArgumentParser(description=__doc__, epilog="Other options go to attn-opt.")
    parser.add_argument("--target", default="native")
    parser.add_argument("--part", default="0/1", help="I/N: every N-th kernel, from the I-th on")
    parser.add_argument("--no-reference", action="store_true", help="compare with the definition alone")
    parser.add_argument("--query-blocks", action="store_true", help="many numbers of queries instead of many shapes")
    parser.add_argument("--element", help="all kernels in this type, for targets that round weights to it")
    options, flags = parser.parse_known_args()
    part, parts = (int(x) for x in options.part.split("/"))
    count, failures, worst = 0, [], {}
    cases = [case.of(options.element) for case in CASES + STATIC] if options.element else CASES + STATIC + TYPED
    for number, case in enumerate(QUERY_BLOCKS if options.query_blocks else cases):
        if number % parts != part:
            continue
        with tempfile.TemporaryDirectory() as folder:
            kernel = load_kernel(case.text(), folder, options.target, flags)
            case.error_scale = kernel.error_scale
            tried, failed = sweep(case, number, kernel, not options.no_reference, folder, worst)
            count, failures = count + tried, failures + failed
    largest = "; ".join(f"{t} {e:.2g} ({u:.2f} ulp)" for t, (e, u) in sorted(worst.items()))
    finish(count, failures, f"; largest errors of out: {largest}")


if __name__ == "__main__":
    main()
