# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A row of a product has the same bits in each kernel: of few rows, of few tiles, and, in NAME_many, with the tiles of many;\nfeatures are too few for parts.
usage: order.py FILE DRIVER"""
import os
import re
import subprocess
import sys

import numpy as np

SOURCE, DRIVER = sys.argv[1:]
NUMPY = {"f16": np.float16, "f32": np.float32}
rng = np.random.default_rng(2)
wrong = []


def run(name):
    subprocess.run([f"./{name}", "x.npy", "w.npy", "-oout.npy"], check=True, capture_output=True, env={**os.environ, "LD_LIBRARY_PATH": DRIVER})
    return np.load("out.npy")


for name, features, element, shape in re.findall(r"func @(\w+)\(%x: tensor<\?x(\d+)x(\w+)>, %w: tensor<([\dx]+)x\w+>", open(SOURCE).read()):
    subprocess.run(["attn-opt", SOURCE, f"--entry={name}", "--target=sm_80", "--emit=exe", "-o", name], check=True)
    if not name.endswith("_many"):
        inputs = rng.standard_normal((70, int(features))).astype(NUMPY[element])
        np.save("w.npy", rng.standard_normal([int(size) for size in shape.split("x")]).astype(NUMPY[element]))
        results = {}
        for rows in (1, 16, 17, 70):
            np.save("x.npy", inputs[:rows])
            results[f"{rows} rows"] = run(name)
        continue
    results["many tiles"] = whole = run(name)
    wrong += [f"@{name}: {what} have other bits than 70 rows of many tiles" for what, result in results.items() if not np.array_equal(whole[: len(result)], result)]
print("\n".join(wrong))
sys.exit(bool(wrong))
