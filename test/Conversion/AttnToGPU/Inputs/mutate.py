# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Leaves out one synchronisation of a kernel after the other, and wants ptxsim, or the
comparison of results, to notice three of four at least. What it cannot notice: a commit
that the next one covers, and waits in branches for a tile that nobody guessed, where in
this run nothing was on its way.
usage: mutate.py FILE FUNCTION"""
import pathlib
import re
import subprocess
import sys

import numpy as np
from host import Host, Tensor, save

SOURCE, NAME = sys.argv[1:]
# Barriers that follow each other are one.
SYNCHRONISATION = re.compile(r"^[ \t]*(cp\.async\.(wait|commit)_group[^;]*;|bar\.sync[^;]*;(\s*bar\.sync[^;]*;)*)", re.MULTILINE)
QUERIES, KEYS = 500, 600

subprocess.run(["attn-opt", SOURCE, "--target=sm_80", "--emit=ptx", "-o", "whole.ptx"], check=True)
HOST = subprocess.run(["attn-opt", SOURCE, "--target=sm_80", "--compile-to=gpu-kernels"], check=True, capture_output=True, text=True).stdout
shape = re.search(rf"@{NAME}\(%q: tensor<1x1x\?x(\d+)x(\w+)>", pathlib.Path(SOURCE).read_text())
features, element = int(shape[1]), shape[2]
rng = np.random.default_rng(5)
for name, length in (("q", QUERIES), ("k", KEYS), ("v", KEYS)):
    save(f"{name}.npy", rng.standard_normal((1, 1, length, features)), element)


def run(text):
    """The result, or None where ptxsim has found a mistake."""
    pathlib.Path("kernel.ptx").write_text(text)
    pathlib.Path("out.npy").unlink(missing_ok=True)
    ports = [Tensor(f"{name}.npy", element, (1, 1, length, features)) for name, length in (("q", QUERIES), ("k", KEYS), ("v", KEYS))]
    problem = Host(HOST, "kernel.ptx", ["--order=late", "--seed=1"]).run(NAME, [*ports, Tensor("out.npy", "f32", (1, 1, QUERIES, features), True)])
    return None if problem else np.load("out.npy")


text = pathlib.Path("whole.ptx").read_text()
begin = text.index(f".entry {NAME}_attention(")
end = text.find(".entry", begin + 1)
kernel = text[begin:end if end > 0 else len(text)]
whole = run(text)
assert whole is not None, "the kernel itself is wrong"
missed, count = [], 0
for match in SYNCHRONISATION.finditer(kernel):
    count += 1
    result = run(text[:begin + match.start()] + text[begin + match.end():])
    if result is not None and np.array_equal(result, whole, equal_nan=True):
        missed.append(f"line {text[:begin + match.start()].count(chr(10)) + 1}: {match[0].strip()}")
print(f"{count - len(missed)} of {count} are noticed")
print("\n".join(missed))
sys.exit(count < 8 or 4 * len(missed) > count)
