# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Everything that a machine with a GPU needs but Python and NumPy, in one folder: kernels as a library, arguments,
results in float64, instructions and what ptxsim makes of them."""
import json
import os
import subprocess
import zlib

import calibration
import numpy as np
from cells import CORRECT, SCHEDULES, TIMED


def save(path, values, dtype):
    """Rounded to the type, of which bf16 is V2."""
    if dtype == "bf16":
        bits = np.ascontiguousarray(values, np.float32).view(np.uint32)
        return np.save(path, ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16).view("V2"))
    np.save(path, values.astype(np.float16))


def chosen(pattern):
    return {name: kernel for name, kernel in CORRECT.items() if pattern.search(name)}


def compile_kernels(tools, folder, target, correct, timed, scheduled):
    with open(f"{folder}/kernels.mlir", "w") as file:
        file.write("\n".join([*(kernel.text(name) for name, kernel in correct.items()), *(TIMED[name][0].text(name) for name in timed), *(
            TIMED[name][0]._replace(schedule=schedule).text(f"{name}_s{number}") for name in scheduled for number, schedule in enumerate(SCHEDULES[name]))]))
    command = [f"{tools}/attn-opt", f"{folder}/kernels.mlir"]
    subprocess.run([*command, f"--target={target}", "--emit=lib", "-o", f"{folder}/libkernels.so"], check=True)
    # What a multiprocessor does in a clock is known of sm_80.
    explained = subprocess.run([*command, "--target=sm_80", "--explain=json"], check=True, capture_output=True, text=True).stdout
    with open(f"{folder}/explained.json", "w") as file:
        file.write(explained)


def compute_expected(tools, folder, correct, lengths):
    batch = 2
    for name, kernel in correct.items():
        for queries, keys in kernel.lengths[:lengths]:
            rng = np.random.default_rng(zlib.crc32(f"{name}{queries},{keys}".encode()))
            base = f"{folder}/{name}-{queries}-{keys}"
            inputs, outputs = kernel.shapes(batch, queries, keys)
            for port, shape in zip("qkv", inputs):
                save(f"{base}-{port}.npy", rng.standard_normal(shape), kernel.dtype)
            subprocess.run([f"{tools}/attn-reference", f"{folder}/kernels.mlir", f"--entry={name}", *(f"{base}-{port}.npy" for port in "qkv"),
                            *(f"-o={base}-out{i}.npy" for i in range(len(outputs)))], check=True)


def pack(tools, folder, target, pattern, lengths, timed, scheduled):
    """`tools`: the folder of attn-opt; `target`: the chip whose cubin the libraries have; `pattern`: of names of kernels; `lengths`: how many of
    each; `timed`, `scheduled`: names of those that are timed, and with which schedules."""
    os.makedirs(folder, exist_ok=True)
    correct = chosen(pattern)
    compile_kernels(tools, folder, target, correct, timed, scheduled)
    compute_expected(tools, folder, correct, lengths)
    with open(f"{folder}/calibration.ptx", "w") as file:
        file.write(calibration.text())
    np.savez(f"{folder}/calibration.npz", **calibration.simulate(f"{tools}/ptxsim", f"{folder}/calibration.ptx", folder))
    with open(f"{folder}/pack.json", "w") as file:
        json.dump({"kernels": list(correct), "lengths": lengths, "timed": timed, "scheduled": scheduled}, file)
