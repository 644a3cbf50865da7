# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sizes of 0, known and unknown: no features of query and key, none of the value, no batch entries, no queries, no keys;
with groups, masks, many queries and few, weights, states and projections, against the definition in f64 and the
Reference."""
import argparse
import itertools
import tempfile

import numpy as np

import elements
from kernels import Kernel, attention, compare, finish, reference

# Batch entries, heads, heads of a group, queries, keys, features of query and key, features of the value.
SIZES = [(1, 2, 1, 5, 7, 4, 0), (1, 2, 1, 5, 7, 0, 4), (2, 4, 2, 1, 9, 0, 8), (2, 4, 2, 1, 9, 4, 0), (1, 4, 2, 200, 300, 0, 8),
         (1, 4, 2, 200, 300, 8, 0), (1, 2, 1, 5, 7, 0, 0), (1, 2, 1, 0, 7, 4, 4), (1, 2, 1, 5, 0, 4, 4), (1, 2, 1, 0, 0, 4, 4),
         (0, 2, 1, 5, 7, 4, 4), (0, 4, 2, 1, 7, 4, 4), (1, 2, 1, 130, 0, 4, 4), (0, 2, 1, 5, 7, 0, 0)]
MASKS = ("", "causal(bottom_right)", "key_length(%len : tensor<{b}xi32>)", "window(left = 3, right = 2)")
RESULTS = ("lse", "weights", "state")


def tensor(sizes, element):
    return f"tensor<{''.join(f'{size}x' for size in sizes)}{element}>"


def seen_pairs(mask, shape, lengths):
    q, k = np.arange(shape[2])[:, None], np.arange(shape[3])[None]
    seen = np.ones(shape, bool)
    if mask.startswith("causal"):
        seen &= k <= q + shape[3] - shape[2]
    if mask.startswith("window"):
        seen &= (q - k <= 3) & (k - q <= 2)
    if mask.startswith("key"):
        seen &= k < lengths[:, None, None, None]
    return seen


class Attention:
    """attn.sdpa with sizes that are all known or all unknown, but for heads and features."""

    def __init__(self, sizes, mask, result, known, element):
        b, h, group, q, k, d, dv = self.sizes = sizes
        self.mask, self.result, self.element = mask, result, element
        tb, tq, tk = (b, q, k) if known else ("?", "?", "?")
        query, out = tensor((tb, h, tq, d), element), tensor((tb, h, tq, dv), element)
        key, value = tensor((tb, h // group, tk, d), element), tensor((tb, h // group, tk, dv), element)
        rows, acc = tensor((tb, h, tq), "f32"), tensor((tb, h, tq, dv), "f32")
        lengths = f", %len: tensor<{tb}xi32>" if "%len" in mask else ""
        where = f" where {mask.format(b=tb)}" if mask else ""
        given = {"lse": [rows], "weights": [tensor((tb, h, tq, tk), "f32")], "state": [rows, rows, acc]}[result]
        names = {"lse": "%lse", "weights": "%weights", "state": "%m, %l, %acc"}[result]
        body = (f"  %out, {names} = attn.sdpa %q, %k, %v scale 0.5{where} returning(out, {result}) : ({query}, {key}, {value})"
                f" -> ({', '.join([out, *given])})\n")
        self.returned = "%out, " + names, [out, *given]
        if result == "state":  # the same state twice has twice the sum
            body += (f"  %m2, %l2, %acc2 = attn.merge_states %m, %l, %acc with %m, %l, %acc : {rows}, {acc}\n"
                     f"  %merged, %lse = attn.finalize_state %m2, %l2, %acc2 : ({rows}, {rows}, {acc}) -> ({out}, {rows})\n")
            self.returned = "%merged, %lse", [out, rows]
        types = ", ".join(self.returned[1])
        self.text = (f"func.func @kernel(%q: {query}, %k: {key}, %v: {value}{lengths}) -> ({types}) {{\n{body}"
                     f"  return {self.returned[0]} : {types}\n}}\n")

    def inputs(self, rng):
        b, h, group, q, k, d, dv = self.sizes
        shapes = ((b, h, q, d), (b, h // group, k, d), (b, h // group, k, dv))
        arrays = [elements.store(rng.standard_normal(shape), self.element) for shape in shapes]
        lengths = ((3 + 5 * np.arange(b)) % (k + 1)).astype(np.int32)
        return [*arrays, *([lengths] if "%len" in self.mask else [])]

    def want(self, inputs):
        b, h, _, q, k, _, _ = self.sizes
        seen = seen_pairs(self.mask, (b, h, q, k), inputs[-1])
        out, lse, weights, _ = attention(*inputs[:3], 0.5, seen)
        return [out, {"lse": lse, "weights": weights, "state": lse + np.log(2)}[self.result]]


class Projection:
    def __init__(self, rows, depth, columns, bias, batch, known, matmul):
        self.shapes = [(*([2] if batch else []), rows, depth), (depth, columns), (columns,)][: 3 if bias else 2]
        size = rows if known else "?"
        tx, ty = (tensor((*([2] if batch else []), size, last), "f32") for last in (depth, columns))
        tw, tb = tensor((depth, columns), "f32"), tensor((columns,), "f32")
        extra, operands, types = (f", %b: {tb}", "%x, %w, %b", f"{tx}, {tw}, {tb}") if bias else ("", "%x, %w", f"{tx}, {tw}")
        step = f"attn.project {operands} : ({types}) -> {ty}"
        before = ""
        if matmul:
            before = (f"  %c0 = arith.constant 0 : index\n  %zero = arith.constant 0.0 : f32\n  %n = tensor.dim %x, %c0 : {tx}\n"
                      f"  %e = tensor.empty({'' if known else '%n'}) : {ty}\n"
                      f"  %s = linalg.fill ins(%zero : f32) outs(%e : {ty}) -> {ty}\n")
            step = f"linalg.matmul ins(%x, %w : {tx}, {tw}) outs(%s : {ty}) -> {ty}"
        self.text = f"func.func @kernel(%x: {tx}, %w: {tw}{extra}) -> {ty} {{\n{before}  %y = {step}\n  return %y : {ty}\n}}\n"
        self.element = "f32"

    def inputs(self, rng):
        return [rng.standard_normal(shape).astype(np.float32) for shape in self.shapes]

    def want(self, inputs):
        x, w, *b = (elements.numbers(array) for array in inputs)
        return [x @ w + (b[0] if b else 0)]


def cases():
    for number, sizes in enumerate(SIZES):
        for known, (mask, result) in itertools.product((True, False), zip(MASKS, (*RESULTS, "lse"))):
            yield f"{sizes} {mask} {result} known={known}", Attention(sizes, mask, result, known, "f32")
        element = ("f16", "bf16")[number % 2]
        yield f"{sizes} {element}", Attention(sizes, MASKS[number % 3], RESULTS[number % 3], number % 4 < 2, element)
    for rows, depth, columns in ((5, 0, 3), (0, 4, 3), (5, 4, 0), (0, 0, 0), (70, 0, 130)):
        for known, kind in itertools.product((True, False), ("plain", "bias", "batch", "matmul")):
            yield f"project {rows} {depth} {columns} {kind} known={known}", Projection(
                rows, depth, columns, kind in ("bias", "batch"), kind == "batch", known, kind == "matmul")


def run(name, case, target, number):
    inputs = case.inputs(np.random.default_rng(number))
    want = case.want(inputs)
    with tempfile.TemporaryDirectory() as folder:
        kernel = Kernel(case.text, folder, target=target)
        outs = [elements.empty(array.shape, "f32" if i else case.element) for i, array in enumerate(want)]
        got = kernel(inputs, outs, threads=1 + number % 3)
        for side, results in (("", got), (" (Reference)", reference(kernel.source, inputs, len(want), folder))):
            for i, (result, wanted) in enumerate(zip(results, want)):
                if wanted.size:
                    compare(f"{name} result {i}{side}", result, wanted,
                            **elements.near("f32" if i else case.element, wanted))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--target", default="native")
    parser.add_argument("--part", default="0/1", help="I/N: the Ith of N parts")
    options = parser.parse_args()
    part, parts = map(int, options.part.split("/"))
    count, failures = 0, []
    for number, (name, case) in enumerate(cases()):
        if number % parts != part:
            continue
        count += 1
        try:
            run(name, case, options.target, number)
        except (AssertionError, RuntimeError) as error:
            failures.append(str(error))
    finish(count, failures)


if __name__ == "__main__":
    main()
