# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes a program of every function of places.mlir, and runs it by a driver that needs
no GPU (test/Runtime/GPU): places inside against attn-reference, others have a status and
write nothing."""
import os
import pathlib
import subprocess
import sys

import numpy as np

SOURCE, DRIVER = pathlib.Path(sys.argv[1]), sys.argv[2]
rng = np.random.default_rng(5)
OUTSIDE = "arguments: a slice lies outside of its tensor: "
# Names of arguments with their shapes, places inside, places outside, how many results.
f32, f16, bf16 = "f32", "f16", "bf16"
CASES = {
    "row": ([("at", (1,), "i64"), ("new", (1, 8), f32), ("cache", (5, 8), f32)], [0, 4], [5, -1, 2**62], 1),
    "number": ([("at", (), "i32"), ("x", (5, 3, 4), bf16)], [2, 4], [1, 5], 2),
    "part": ([("at", (1,), "i64"), ("q", (1, 16), f16), ("keys", (39, 16), f16), ("values", (39, 16), f16)], [0, 4], [5, -1], 1),
    "step": ([("at", (3,), "i64"), ("q", (2, 4, 3, 16), bf16), ("k", (2, 2, 3, 16), bf16), ("v", (2, 2, 3, 16), bf16),
              ("keys", (2, 2, 7, 16), bf16), ("values", (2, 2, 7, 16), bf16)], [0, 4], [5, -(2**62)], 3),
    "chained": ([("at", (1,), "i64"), ("x", (2, 8), f32), ("cache", (6, 8), f32)], [0, 4], [5, -1], 2),
}
TOLERANCE = {f32: 1e-6, f16: 2e-3, bf16: 1.6e-2}  # of the largest result


def save(name, shape, element, place):
    if name == "at":
        return np.save("at.npy", np.full(shape, place, {"i32": np.int32, "i64": np.int64}[element]))
    values = rng.standard_normal(shape).astype(np.float16 if element == f16 else np.float32)
    np.save(f"{name}.npy", (values.view(np.uint32) >> 16).astype(np.uint16).view("V2") if element == bf16 else values)


def load(path):
    array = np.load(path)
    return (array.view(np.uint16).astype(np.uint32) << 16).view(np.float32) if array.dtype == "V2" else array


def run(function, place):
    """The status' text, and what is wrong with the results."""
    arguments, _, _, results = CASES[function]
    for name, shape, element in arguments:
        save(name, shape, element, place)
    inputs, outputs = [f"{name}.npy" for name, *_ in arguments], [f"out{i}.npy" for i in range(results)]
    for path in ["log", *outputs]:
        pathlib.Path(path).unlink(missing_ok=True)
    environment = {**os.environ, "LD_LIBRARY_PATH": DRIVER, "FAKE_CUDA_LOG": "log"}
    result = subprocess.run([f"./{function}", *inputs, *(f"-o{path}" for path in outputs)], capture_output=True, text=True, env=environment)
    log = pathlib.Path("log").read_text()
    if result.returncode or "fault" in log or "left" in log:
        return result.stderr.strip(), "".join(line for line in log.splitlines() if "fault" in line or "left" in line or "Launch" in line)
    subprocess.run(["attn-reference", SOURCE, f"--entry={function}", *inputs, *(f"-o=expected{i}.npy" for i in range(results))], check=True)
    error = max(np.abs(load(f"out{i}.npy") - np.load(f"expected{i}.npy")).max() / max(1, np.abs(np.load(f"expected{i}.npy")).max()) for i in range(results))
    return "", "" if error <= TOLERANCE[arguments[-1][2]] else f"{error} of the largest result"


wrong = []
for function, (_, inside, outside, _) in CASES.items():
    subprocess.run(["attn-opt", SOURCE, "--target=sm_80", f"--entry={function}", "--emit=exe", "-o", function], check=True, env={**os.environ, "CUDA_HOME": "/none"},
                   capture_output=True)
    for place in inside:
        if any(found := run(function, place)):
            wrong.append(f"@{function} at {place}: {found}")
    for place in outside:
        text, problem = run(function, place)
        if OUTSIDE not in text or problem:
            wrong.append(f"@{function} at {place}: {text} {problem}")
print("\n".join(wrong))
sys.exit(bool(wrong))
