# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes a program of every function of a file, runs it by a driver that needs no
GPU (test/Runtime/GPU) at several sizes, and compares with attn-reference, with
so many times the tolerance of f32 as a third argument says. With ptxas, that has to
take the kernels without a spill."""
import os
import pathlib
import re
import shutil
import subprocess
import sys

import numpy as np

# Of the largest result: what rounding a result and the steps before it costs.
TOLERANCE = {"f64": 1e-14, "f32": 1e-6, "f16": 2e-3, "bf16": 1.6e-2}
SIZES = [(1, 1), (5, 3), (130, 9), (3, 0), (33, 2)]  # unknown ones, in their order

rng = np.random.default_rng(3)


def types(text):
    return [(m[1].split("x")[:-1], m[1].split("x")[-1]) for m in re.finditer(r"tensor<([^>]*)>", text)]


def functions(source):
    for m in re.finditer(r"func\.func @(\w+)\((.*?)\) -> (.*?) \{\n", source.read_text()):
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


def make_arguments(arguments, sizes):
    """The files. Unknown sizes of one place are one size."""
    unknown = iter(sizes)
    by_place = {}
    inputs = [f"in{i}.npy" for i in range(len(arguments))]
    for path, (dims, element) in zip(inputs, arguments):
        for place, dim in enumerate(dims):
            if dim == "?" and place not in by_place:
                by_place[place] = next(unknown)
        save(path, [by_place[place] if dim == "?" else int(dim) for place, dim in enumerate(dims)], element)
    return inputs


def all_sizes(arguments):
    return SIZES if any("?" in dims for dims, _ in arguments) else SIZES[:1]


def difference(path, reference, element, slack=1):
    """What is wrong with a result, beside float64, or nothing. `slack`: how many times the tolerance of f32 is right."""
    wanted, found = np.load(reference), load(path, element)
    limit = (slack if element == "f32" else 1) * TOLERANCE[element] * max(1, np.abs(wanted).max(initial=0))
    if not np.array_equal(np.isnan(wanted), np.isnan(found)) or not np.nanmax(np.abs(wanted - found), initial=0) <= limit:
        return f"{path}: {np.nanmax(np.abs(wanted - found))} is more than {limit}"
    return ""


def run(source, driver, name, arguments, results, sizes, slack):
    """What is wrong, or nothing."""
    inputs = make_arguments(arguments, sizes)
    outputs = [f"out{i}.npy" for i in range(len(results))]
    expected = [f"expected{i}.npy" for i in range(len(results))]
    subprocess.run(["attn-reference", source, f"--entry={name}", *inputs, *(f"-o={path}" for path in expected)], check=True)
    pathlib.Path("log").unlink(missing_ok=True)
    environment = {**os.environ, "LD_LIBRARY_PATH": driver, "FAKE_CUDA_LOG": "log"}
    result = subprocess.run([f"./{name}", *inputs, *(f"-o{path}" for path in outputs)], capture_output=True, text=True, env=environment)
    log = pathlib.Path("log").read_text()
    if result.returncode or "fault" in log or "left" in log:
        return result.stderr.strip() + "".join(line for line in log.splitlines() if "fault" in line or "left" in line)
    return next(filter(None, (difference(path, reference, element, slack) for path, reference, (_, element) in zip(outputs, expected, results))), "")


def compile_program(source, name):
    """What ptxas says of kernels that should not spill."""
    log = subprocess.run(["attn-opt", source, "--target=sm_80", f"--entry={name}", "--emit=exe", "-o", name],
                         check=True, capture_output=True, text=True).stderr
    return [log] if re.search("spills [0-9]+ bytes", log) else []


def main():
    source, driver, slack = pathlib.Path(sys.argv[1]), sys.argv[2], float(sys.argv[3]) if len(sys.argv) > 3 else 1
    wrong = []
    if not shutil.which("ptxas"):
        print("ptxas is not there: the PTX is not assembled")
    for name, arguments, results in functions(source):
        wrong += compile_program(source, name)
        for sizes in all_sizes(arguments):
            if problem := run(source, driver, name, arguments, results, sizes, slack):
                wrong.append(f"@{name} {sizes}: {problem}")
    # Kernels that subtract in place of adding are noticed. The program has their PTX.
    name, arguments, results = next(functions(source))
    program = pathlib.Path(name)
    program.write_bytes(program.read_bytes().replace(b"add.rn.f32", b"sub.rn.f32"))
    if not wrong and not run(source, driver, name, arguments, results, SIZES[1], slack):
        wrong.append("kernels that subtract in place of adding pass")
    print("\n".join(wrong))
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
