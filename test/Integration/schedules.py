# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Schedules written by hand, drawn at random: each is refused in one line with exit status 1, or gives right values.

No compilation may take long: what a schedule may ask for is limited (docs/SpecTiles.md, C11 and C12)."""
import argparse
import ctypes
import os
import random
import resource
import subprocess
import tempfile

import numpy as np

import elements
from kernels import Kernel, attention, attn_opt, compare, effort, finish

GUARD_SECONDS = 60  # ten times what the largest legal schedule takes
HUGE = [0, -1, 3, 4096, 65536, 2**31 - 1, 2**31, 4286578688, 2**40, 2**62, 2**63 - 1, -2**63]
HEADS = 2
SIZES = [(1, 1), (1, 70), (3, 65), (5, 7), (33, 41), (130, 257)]


def draw(rng, kind, element):
    """Fields of a schedule that is mostly legal."""
    lanes = rng.choice([1, 2, 4, 4, 8, 8, 8, 16, 16, 16, 16, 32])
    vectors = rng.choice([1, 1, 1, 2, 2, 3, 4, 5, 8, 32])
    rows = rng.choice([1, 2, 2, 3, 4, 4, 6, 6, 8, 8, 16, 32, 128])
    unroll = rng.choice([1, 1, 1, 2, 2, 3, 4, 8, 64])
    fields = {"lanes": lanes, "rows": rows, "vectors": vectors, "unroll": unroll, "prefetch": rng.randrange(4)}
    products = rng.choice(["fma", "dot", "amx"] if element == "bf16" else ["fma"] * 9 + ["dot"])
    if kind == "decode":
        fields["query_tile"] = rng.choice([1, 3, 4, 8, 15, 64, 300])
        fields["key_tile"] = rng.choice([1, 2, 16, 40, 48, 96, 512])
        fields["split_keys"] = fields["key_tile"] * rng.choice([1, 1, 3, 8])
        fields["block"] = rng.choice([4, 4, 8])
        fields["interleave"] = rng.choice([1, 1, 2, 4])
    else:
        if products == "amx":
            fields["lanes"], fields["rows"] = 16, rng.choice([32, 32, 64, 96])
        fields["query_tile"] = fields["lanes"] * vectors * rng.choice([1, 1, 2, 3, 8])
        fields["key_tile"] = fields["rows"] * rng.choice([1, 1, 2, 5, 16])
        if rng.random() < 0.3:
            fields["split_keys"] = fields["key_tile"] * rng.choice([1, 2, 7])
            fields["split_queries"] = rng.choice([1, 16, 1024])
    if rng.random() < 0.15:
        fields[rng.choice(list(fields))] = rng.choice(HUGE)
    text = ", ".join(f"{name} = {value}" for name, value in fields.items())
    return f"#attn.cpu_schedule<{text}, kind = {kind}, products = {products}>"


def program(schedules, element, dim, value_dim, queries, mask):
    wide = elements.statistics(element)
    q, k = (f"tensor<{HEADS}x{size}x{dim}x{element}>" for size in (queries, "?"))
    v, out = (f"tensor<{HEADS}x{size}x{value_dim}x{element}>" for size in ("?", queries))
    lse = f"tensor<{HEADS}x{queries}x{wide}>"
    pinned = ", ".join(f"{name} = {schedule}" for name, schedule in schedules.items())
    return (f"func.func @kernel(%q: {q}, %k: {k}, %v: {v}) -> ({out}, {lse}) {{\n"
            f"  %o, %l = attn.sdpa %q, %k, %v scale 0.25{mask} returning(out, lse) {{{pinned}}}\n"
            f"    : ({q}, {k}, {v}) -> ({out}, {lse})\n"
            f"  return %o, %l : {out}, {lse}\n}}\n")


class Compiled(Kernel):
    """A library that is there already."""

    def __init__(self, library):
        self.dll = ctypes.CDLL(library)
        self.run, self.strerror = self.dll.kernel, self.dll.kernel_strerror
        self.run.restype, self.strerror.restype = ctypes.c_int32, ctypes.c_char_p


def check_values(kernel, element, dim, value_dim, causal, few):
    rng = np.random.default_rng(1)
    for queries, keys in SIZES:
        if few and queries > 1:
            continue
        q, k, v = (elements.store(rng.standard_normal((HEADS, n, d)), element)
                   for n, d in ((queries, dim), (keys, dim), (keys, value_dim)))
        seen = np.ones((1, HEADS, queries, keys), bool)
        if causal:
            seen &= np.arange(keys)[None, :] <= np.arange(queries)[:, None]
        results = [elements.empty((HEADS, queries, value_dim), element),
                   elements.empty((HEADS, queries), elements.statistics(element))]
        got = kernel([q, k, v], results, threads=2)
        want = attention(q[None], k[None], v[None], 0.25, seen)
        bound = {"f64": 1e-12, "f32": 1e-5, "bf16": 2e-2}[element]
        compare(f"{queries} queries, {keys} keys", got[0], want[0][0], rtol=bound, atol=bound)
        compare(f"lse of {queries} queries, {keys} keys", got[1], want[1][0], rtol=bound, atol=bound)


def limit():
    resource.setrlimit(resource.RLIMIT_CPU, (GUARD_SECONDS, GUARD_SECONDS))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def check(seed, target):
    """'right' or 'refused'; raises otherwise."""
    rng = random.Random(seed)
    element = rng.choice(["f32", "f32", "f64", "bf16"])
    dim, value_dim = rng.choice([(16, 16), (8, 24), (32, 32), (5, 7), (1, 64), (80, 33)])
    chosen = rng.choice([["schedule"], ["schedule"], ["decode_schedule"], ["schedule", "decode_schedule"]])
    few = chosen == ["decode_schedule"]  # needs a row for every query
    causal = rng.random() < 0.4
    schedules = {name: draw(rng, "decode" if name == "decode_schedule" else "prefill", element) for name in chosen}
    text = program(schedules, element, dim, value_dim, 1 if few else "?", " where causal(top_left)" if causal else "")
    with tempfile.TemporaryDirectory() as folder:
        source, library = os.path.join(folder, "schedule.mlir"), os.path.join(folder, "kernel.so")
        with open(source, "w") as f:
            f.write(text)
        result = subprocess.run([attn_opt(), source, "--emit=lib", "-o", library, "--target=" + target, *effort(text)],
                                capture_output=True, text=True, preexec_fn=limit)
        if result.returncode == 1:
            if result.stderr.count("\n") != 1 or ": error: " not in result.stderr:
                raise AssertionError(f"not one line: {result.stderr!r}\n{text}")
            return "refused"
        if result.returncode:
            raise AssertionError(f"exit {result.returncode}: {result.stderr!r}\n{text}")
        try:
            check_values(Compiled(library), element, dim, value_dim, causal, few)
        except (AssertionError, RuntimeError) as error:
            raise AssertionError(f"{error}\n{text}") from None
    return "right"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--target", default="native")
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    failures, counts = [], {"right": 0, "refused": 0}
    for seed in range(options.seed, options.seed + options.count):
        try:
            counts[check(seed, options.target)] += 1
        except AssertionError as error:
            failures.append(f"seed {seed}: {error}")
    print(counts)
    if not failures and min(counts.values()) == 0:
        failures.append("one kind never came")
    finish(options.count, failures)


if __name__ == "__main__":
    main()
