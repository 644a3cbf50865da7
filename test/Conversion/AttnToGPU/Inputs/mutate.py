# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Leaves out one synchronisation of a kernel after the other, and wants ptxsim, or the
comparison of results, to notice each.
usage: mutate.py FILE FUNCTION"""
import pathlib
import re
import subprocess
import sys

import numpy as np
from host import Host, Tensor, load, save

SOURCE, NAME = sys.argv[1:]
# Barriers that follow each other are one.
SYNCHRONISATION = re.compile(r"^[ \t]*(cp\.async\.(wait|commit)_group[^;]*;|bar\.sync[^;]*;(\s*bar\.sync[^;]*;)*)", re.MULTILINE)
LENGTHS = [(500, 600), (70, 0)]  # queries, keys

HOST = subprocess.run(["attn-opt", SOURCE, "--target=sm_80", "--compile-to=gpu-kernels"], check=True, capture_output=True, text=True).stdout
subprocess.run(["attn-opt", "-", "--compile-from=gpu-kernels", "--target=sm_80", "--emit=ptx", "-o", "whole.ptx"], input=HOST, check=True, text=True)
shape = re.search(rf"@{NAME}\(%q: tensor<1x1x\?x(\d+)x(\w+)>.*x(\w+)> {{", pathlib.Path(SOURCE).read_text())
features, element, returned = int(shape[1]), shape[2], shape[3]
rng = np.random.default_rng(5)


def place(name, lengths):
    length = lengths[name in "kv"]
    return Tensor(f"{name}-{length}.npy", element, (1, 1, length, features))


def run(text, lengths):
    """The result, or None where ptxsim has found a mistake."""
    pathlib.Path("kernel.ptx").write_text(text)
    pathlib.Path("out.npy").unlink(missing_ok=True)
    ports = [place(name, lengths) for name in "qkv"]
    problem = Host(HOST, "kernel.ptx", ["--order=late", "--seed=1"]).run(NAME, [*ports, Tensor("out.npy", returned, (1, 1, lengths[0], features), True)])
    return None if problem else load("out.npy", returned)


def is_noticed(text):
    for lengths, whole in zip(LENGTHS, WHOLE):
        result = run(text, lengths)
        if result is None or not np.array_equal(result, whole, equal_nan=True):
            return True
    return False


text = pathlib.Path("whole.ptx").read_text()
begin = text.index(f".entry {NAME}_attention(")
end = text.find(".entry", begin + 1)
kernel = text[begin:end if end > 0 else len(text)]
for lengths in LENGTHS:
    for name in "qkv":
        tensor = place(name, lengths)
        numbers = rng.standard_normal(tensor.shape)
        if name == "v":
            numbers[:, :, lengths[1] // 2 :, 1] = np.nan  # the block goes the long way
        save(tensor.path, numbers, element)
WHOLE = [run(text, lengths) for lengths in LENGTHS]
assert not any(whole is None for whole in WHOLE), "the kernel itself is wrong"
missed, count = [], 0
for match in SYNCHRONISATION.finditer(kernel):
    count += 1
    first, last = begin + match.start(), begin + match.end()
    if not is_noticed(text[:first] + text[last:]):
        missed.append(f"line {text[:first].count(chr(10)) + 1}: {' '.join(match[0].split())}")
print(f"{count - len(missed)} of {count} are noticed")
print("not noticed:" if missed else "", *missed, sep="\n")
sys.exit(count < 8 or bool(missed))
