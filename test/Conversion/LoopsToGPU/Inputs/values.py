# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles every function of a file to PTX, runs it in ptxsim at several sizes
and launches, and compares with attn-reference. With ptxas, that has to take the
file without a spill."""
import pathlib
import re
import shutil
import subprocess
import sys

import numpy as np

SOURCE = pathlib.Path(sys.argv[1])
# Of the largest result: what rounding a result and the steps before it costs.
TOLERANCE = {"f64": 1e-14, "f32": 1e-6, "f16": 2e-3, "bf16": 1.6e-2}
# Unknown sizes, in their order, and the launch.
CASES = [((1, 1), "1", "32"), ((5, 3), "2", "32"), ((130, 9), "3", "128"), ((3, 0), "1", "64"), ((33, 2), "40", "96")]

rng = np.random.default_rng(3)


def types(text):
    return [(m[1].split("x")[:-1], m[1].split("x")[-1]) for m in re.finditer(r"tensor<([^>]*)>", text)]


def functions():
    for m in re.finditer(r"func\.func @(\w+)\((.*?)\) -> (.*?) \{\n", SOURCE.read_text()):
        yield m[1], types(m[2]), types(m[3])


def save(path, shape, element):
    if element == "i32":
        return np.save(path, rng.integers(-100, 100, shape).astype(np.int32))
    values = rng.standard_normal(shape)
    if element == "bf16":
        return np.save(path, (values.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16).view("V2"))
    np.save(path, values.astype({"f16": np.float16, "f32": np.float32, "f64": np.float64}[element]))


def load(path, element):
    array = np.load(path)
    if element == "bf16":
        array = (array.view(np.uint16).astype(np.uint32) << 16).view(np.float32)
    return array.astype(np.float64)


def run(name, arguments, results, sizes, grid, block):
    """What is wrong, or nothing. Unknown sizes of one place are one size."""
    unknown = iter(sizes)
    by_place, order = {}, []

    def shape_of(dims, first):
        shape = []
        for place, dim in enumerate(dims):
            if dim == "?" and place not in by_place:
                by_place[place] = next(unknown)
                order.append(by_place[place])
            shape.append(by_place[place] if dim == "?" else int(dim))
        return shape

    inputs = []
    for i, (dims, element) in enumerate(arguments):
        inputs.append(f"in{i}.npy")
        save(inputs[-1], shape_of(dims, i == 0), element)
    outputs = [f"out{i}.npy" for i in range(len(results))]
    expected = [f"expected{i}.npy" for i in range(len(results))]
    subprocess.run(["attn-reference", SOURCE, f"--entry={name}", *inputs, *(f"-o={path}" for path in expected)], check=True)
    made = [f"out={path}:{element}:{'x'.join(map(str, shape_of(dims, False)))}" for path, (dims, element) in zip(outputs, results)]
    result = subprocess.run(["ptxsim", "rows.ptx", f"--entry={name}", f"--grid={grid}", f"--block={block}", *inputs, *made, *(f"i64:{size}" for size in order)], capture_output=True, text=True)
    if result.returncode:
        return result.stderr.strip()
    for path, reference, (_, element) in zip(outputs, expected, results):
        wanted, found = np.load(reference), load(path, element)
        limit = TOLERANCE[element] * max(1, np.abs(wanted).max(initial=0))
        if not np.array_equal(np.isnan(wanted), np.isnan(found)) or not np.nanmax(np.abs(wanted - found), initial=0) <= limit:
            return f"{path}: {np.nanmax(np.abs(wanted - found))} is more than {limit}"
    return ""


subprocess.run(["attn-opt", SOURCE, "--target=sm_80", "--emit=ptx", "-o", "rows.ptx"], check=True)
wrong = []
if shutil.which("ptxas"):
    log = subprocess.run(["ptxas", "-v", "-arch=sm_80", "rows.ptx", "-o", "rows.cubin"], capture_output=True, text=True)
    if log.returncode or re.search("[1-9][0-9]* bytes spill", log.stderr):
        wrong.append(log.stderr)
else:
    print("ptxas is not there: the PTX is not assembled")
for name, arguments, results in functions():
    dynamic = any("?" in dims for dims, _ in arguments)
    for sizes, grid, block in CASES if dynamic else CASES[:1]:
        if problem := run(name, arguments, results, sizes, grid, block):
            wrong.append(f"@{name} {sizes}: {problem}")
# A kernel that is wrong in one instruction is noticed.
text = pathlib.Path("rows.ptx").read_text()
pathlib.Path("rows.ptx").write_text(text.replace("add.rn.f32", "sub.rn.f32", 1))
if not wrong and not run("rms", *next((a, r) for n, a, r in functions() if n == "rms"), *CASES[1]):
    wrong.append("a kernel that subtracts in place of adding passes")
print("\n".join(wrong))
sys.exit(bool(wrong))
