# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs a program once, and then with every call of the driver failing, one at a
time: each run has a status with a text or the right result, and gives back all
that it took."""
import os
import pathlib
import re
import subprocess
import sys

import numpy as np

PROGRAM, DRIVER = sys.argv[1:]
# What fails to give back leaves something.
GIVES = {"cuEventDestroy_v2", "cuMemPoolDestroy", "cuMemFreeAsync", "cuMemFree_v2", "cuModuleUnload", "cuCtxPopCurrent_v2", "cuDevicePrimaryCtxRelease_v2"}
# Of other calls these may fail without a consequence: the first image is a cubin
# or the second is tried, memory without attributes is the host's, and a context
# without a number is told by its address, and a call without events has no time.
MAY_FAIL = {"cuPointerGetAttribute", "cuCtxGetId", "cuCtxGetCurrent", "cuDeviceGetAttribute", "cuModuleLoadDataEx", "cuCtxGetDevice",
            "cuEventCreate", "cuEventRecord", "cuEventSynchronize", "cuEventElapsedTime"}
TEXTS = {"cuInit": "finds no device", "cuDeviceGet": "finds no device", "cuDeviceGetCount": "finds no device", "cuDevicePrimaryCtxRetain": "finds no device",
         "cuCtxPushCurrent_v2": "are not all of one device", "cuModuleGetFunction": "does not load", "cuMemPoolCreate": "out of memory", "cuMemPoolSetAttribute": "out of memory", "cuMemAllocFromPoolAsync": "out of memory", "cuMemAlloc_v2": "out of memory",
         "cuMemcpyHtoDAsync_v2": "does not copy", "cuMemcpyDtoHAsync_v2": "does not copy", "cuLaunchKernel": "does not launch"}

np.save("x.npy", np.random.default_rng(0).standard_normal((9, 64)).astype(np.float32))


def run(*options, **variables):
    for path in ("log", "y.npy"):
        pathlib.Path(path).unlink(missing_ok=True)
    environment = {**os.environ, "LD_LIBRARY_PATH": DRIVER, "FAKE_CUDA_LOG": "log", **variables}
    result = subprocess.run([PROGRAM, "x.npy", "-o", "y.npy", *options], capture_output=True, text=True, env=environment)
    log = pathlib.Path("log").read_text().splitlines() if os.path.exists("log") else []
    output = np.load("y.npy") if os.path.exists("y.npy") else None
    return result, log, output


wrong = []
for pools, options in (("1", ["--repeat=1"]), ("0", [])):
    result, log, right = run(*options, FAKE_CUDA_POOLS=pools)
    if result.returncode or any("left" in line for line in log):
        sys.exit(result.stderr + "\n".join(log))
    calls = [line for line in log if re.fullmatch(r"cu\w+", line)]
    for name in sorted(set(calls)):
        for number in range(1, calls.count(name) + 1):
            result, log, output = run(*options, FAKE_CUDA_POOLS=pools, FAKE_CUDA_FAIL=f"{name}:{number}:999")
            left = [line for line in log if "left" in line and name not in GIVES]
            failed = result.returncode == 1 and re.fullmatch(r"\S+: gpu: .*\)\n", result.stderr) and output is None
            if name in TEXTS and not (failed and TEXTS[name] in result.stderr):
                # Constants are freed behind the results, contexts entered again.
                failed = name in ("cuCtxPushCurrent_v2",) and number > 1 and result.returncode == 0
                left = [] if failed else left
            elif not failed:
                failed = result.returncode == 0 and (name in MAY_FAIL or name in GIVES or name == "cuStreamSynchronize") and np.array_equal(output, right)
            if not failed or left or log[-1] != "end":
                wrong.append(f"call {number} of {name}, pools {pools}: status {result.returncode} {result.stderr}{left}")

for variables, text in [({"FAKE_CUDA_DEVICES": "0"}, "finds no device"), ({"FAKE_CUDA_CAPABILITY": "75"}, "capability is below 8.0"),
                        ({"LD_LIBRARY_PATH": "/none"}, "there is no NVIDIA driver"), ({"ATTN_DEVICE": "3"}, "not the one asked for"),
                        ({"ATTN_DEVICE": "tpu"}, "expected cpu, gpu or the number of a GPU"), ({"ATTN_DEVICE": "cpu"}, "of which there is no code here"),
                        ({"FAKE_CUDA_FAIL": "cuMemcpyDtoHAsync_v2:1:719"}, "a kernel failed while it ran"),
                        ({"FAKE_CUDA_FAIL": "cuMemAllocFromPoolAsync:1:700"}, "a kernel failed while it ran")]:
    result, log, output = run(**variables)
    if result.returncode != 1 or text not in result.stderr or any("left" in line for line in log):
        wrong.append(f"{variables}: status {result.returncode} {result.stderr}{log}")
# PTX that the driver refuses: its own words are told.
program = pathlib.Path(PROGRAM)
program.write_bytes(program.read_bytes().replace(b"mul.rn.f32", b"mul.xx.f32"))
result, log, output = run()
if result.returncode != 1 or "does not load the kernels" not in result.stderr or "xx" not in result.stderr:
    wrong.append(f"bad PTX: {result.stderr}")
print("\n".join(wrong))
sys.exit(bool(wrong))
