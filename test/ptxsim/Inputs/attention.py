# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A kernel of attention against f64 NumPy in each order of its copies, ragged
and with rows that see no key; then without each of its barriers, commits and
waits, which must show."""
import re
import subprocess
import sys

import numpy as np

KERNEL, DIM, ROWS, SHARED = sys.argv[1], 32, 64, 10240
TOLERANCE = 0.01  # of bf16 weights and results
rng = np.random.default_rng(1)


def to_bf16(x):
    words = x.astype(np.float32).view(np.uint32)
    return ((words + 0x7FFF + ((words >> 16) & 1)) >> 16).astype(np.uint16)


def from_bf16(x):
    return (x.view(np.uint16).astype(np.uint32) << 16).view(np.float32).astype(np.float64)


def reference(q, k, v):
    scores = np.einsum("bid,bjd->bij", from_bf16(q), from_bf16(k)) / np.sqrt(DIM)
    queries, keys = scores.shape[1:]
    seen = np.arange(keys)[None, :] <= np.arange(queries)[:, None] + keys - queries
    weights = np.where(seen, np.exp(scores), 0)
    total = weights.sum(-1, keepdims=True)
    with np.errstate(divide="ignore"):
        return weights @ from_bf16(v) / np.where(total > 0, total, 1), np.log(total[..., 0])


def inputs(queries, keys, heads):
    arrays = [to_bf16(rng.standard_normal((heads, n, DIM))) for n in (queries, keys, keys)]
    for name, array in zip("qkv", arrays):
        np.save(f"{name}.npy", array.view("V2"))
    return reference(*arrays), queries, keys, heads


def run(kernel, case, *options):
    """What is wrong, or nothing."""
    (context, lse), queries, keys, heads = case
    result = subprocess.run(
        ["ptxsim", kernel, f"--grid={-(-queries // ROWS)},{heads}", f"--dynamic-shared={SHARED}", *options, "q.npy", "k.npy", "v.npy", f"out=o.npy:bf16:{heads}x{queries}x{DIM}",
         f"out=l.npy:f32:{heads}x{queries}", f"i32:{queries}", f"i32:{keys}", f"f32:{np.log2(np.e) / np.sqrt(DIM)}"], capture_output=True, text=True)
    if result.returncode:
        return result.stderr.strip()
    found = from_bf16(np.load("o.npy"))
    if not np.all(np.abs(found - context) < TOLERANCE * (1 + np.abs(context))):
        return "wrong context"
    if not np.allclose(np.load("l.npy"), lse, atol=1e-5):
        return "wrong LSE"
    return ""


def mutants(text):
    """The kernel without one of its synchronizations, and its line."""
    lines = text.split("\n")
    for i, line in enumerate(lines):
        if re.search(r"bar\.sync|cp\.async\.(wait|commit)", line):
            yield i + 1, "\n".join(lines[:i] + [""] + lines[i + 1:])


wrong = []
case = inputs(70, 45, 2)
for options in (["--order=late"], ["--order=eager"], ["--order=random", "--seed=4"]):
    if problem := run(KERNEL, case, *options):
        wrong.append(f"{options}: {problem}")
case = inputs(20, 150, 1)
if problem := run(KERNEL, case):
    wrong.append(problem)

text = open(KERNEL).read()
unseen, count = [], 0
for line, mutant in mutants(text):
    with open("mutant.ptx", "w") as file:
        file.write(mutant)
    count += 1
    if not run("mutant.ptx", case):
        unseen.append(line)
# In front of the last phase every warp rewrites rows that only it has read, and
# no copy is under way.
redundant = [i + 1 for i, line in enumerate(text.split("\n")) if re.search(r"cp\.async\.wait_group|bar\.sync", line)][-3:-1]
if count < 16 or unseen != redundant:
    wrong.append(f"of {count} mutants these pass: lines {unseen}, expected {redundant}")
print("\n".join(wrong))
sys.exit(bool(wrong))
