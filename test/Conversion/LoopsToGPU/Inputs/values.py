# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles every function of a file to PTX, runs its kernels in ptxsim at several
sizes and launches, as the host's function would, and compares with
attn-reference. With ptxas, that has to take the file without a spill."""
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


class Host:
    """What the host's function in the phase gpu-kernels does with tensors that lie
    without gaps, for functions without buffers of their own."""

    NUMBERS = {"muli": lambda a, b: a * b, "addi": lambda a, b: a + b, "subi": lambda a, b: a - b, "minui": min, "maxui": max,
               "divui": lambda a, b: a // b, "ceildivui": lambda a, b: -(-a // b)}

    def __init__(self, name, ports):
        """`ports`: the file, element type and shape of each argument and result."""
        text = HOST[HOST.index(f"@{name}.kernel("):]
        self.lines = text[:text.index("\n    return")].splitlines()[1:]
        self.values = {f"%arg{i}": port for i, port in enumerate(ports)}

    def argument(self, text):
        name, type_ = (part.strip() for part in text.split(" : "))
        if type_ == "index":
            return [f"i64:{self.values[name]}"]
        path, _, shape = self.values[name]
        strides = [int(np.prod(shape[i + 1:])) for i in range(len(shape))]
        dims = re.match(r"memref<((?:[?\d]+x)*)", type_)[1].split("x")[:-1]
        given = re.search(r"strided<\[(.*)\]", type_)
        opened = given[1].split(", ") if given else ["1"] * len(dims)
        numbers = [size for size, dim in zip(shape, dims) if dim == "?"] + [stride for stride, text in zip(strides, opened) if text == "?"]
        return [path, *(f"i64:{number}" for number in numbers)]

    def kernels(self):
        """Each launch: the kernel and its arguments for ptxsim."""
        skips = False  # a copy of a tensor with other strides
        for line in self.lines:
            skips = (skips or "scf.if" in line) and line != "    }"
            if skips or "arith.cmpi" in line or "arith.ori" in line:
                continue
            if m := re.search(r"(%\w+) = arith.constant (-?\d+) : index", line):
                self.values[m[1]] = int(m[2])
            elif m := re.search(r"(%\w+) = memref.dim (%\w+), (%\w+) ", line):
                self.values[m[1]] = self.values[m[2]][2][self.values[m[3]]]
            elif m := re.search(r"(%\w+) = (?:memref.cast|arith.select %\w+, %\w+,) (%\w+)", line):
                self.values[m[1]] = self.values.get(m[2])
            elif m := re.search(r"(%\w+) = arith.(\w+) (%\w+), (%\w+) : index", line):
                self.values[m[1]] = self.NUMBERS[m[2]](self.values[m[3]], self.values[m[4]])
            elif m := re.search(r"launch_func  @kernels::@(\w+) .* args\((.*)\)", line):
                yield m[1], [part for text in re.split(r", (?=%)", m[2]) for part in self.argument(text)]
            elif m := re.search(r"(%\w+) = memref.get_global @(\w+) : memref<([\dx]+)xf32>", line):
                shape = [int(size) for size in m[3].split("x")]
                numbers = re.search(rf"memref.global .*@{m[2]} : .* = dense<(.*)> ", HOST)[1]
                np.save("constant.npy", np.array(eval(numbers), np.float32).reshape(shape))
                self.values[m[1]] = ("constant.npy", "f32", shape)


def run(name, arguments, results, sizes, grid, block):
    """What is wrong, or nothing. Unknown sizes of one place are one size."""
    unknown = iter(sizes)
    by_place = {}

    def shape_of(dims):
        shape = []
        for place, dim in enumerate(dims):
            if dim == "?" and place not in by_place:
                by_place[place] = next(unknown)
            shape.append(by_place[place] if dim == "?" else int(dim))
        return shape

    ports = []
    for i, (dims, element) in enumerate(arguments):
        ports.append((f"in{i}.npy", element, shape_of(dims)))
        save(ports[-1][0], ports[-1][2], element)
    outputs = [(f"out{i}.npy", element, shape_of(dims)) for i, (dims, element) in enumerate(results)]
    expected = [f"expected{i}.npy" for i in range(len(results))]
    subprocess.run(["attn-reference", SOURCE, f"--entry={name}", *(path for path, _, _ in ports), *(f"-o={path}" for path in expected)], check=True)
    ports += outputs
    written = set()
    for kernel, taken in Host(name, ports).kernels():
        made = []
        for text in taken:
            if port := next((port for port in outputs if port[0] == text), None):
                text = f"inout={text}:{text}" if text in written else f"out={text}:{port[1]}:{'x'.join(map(str, port[2]))}"
                written.add(port[0])
            made.append(text)
        result = subprocess.run(["ptxsim", "rows.ptx", f"--entry={kernel}", f"--grid={grid}", f"--block={block}", *made], capture_output=True, text=True)
        if result.returncode:
            return result.stderr.strip()
    for (path, element, _), reference in zip(outputs, expected):
        wanted, found = np.load(reference), load(path, element)
        limit = TOLERANCE[element] * max(1, np.abs(wanted).max(initial=0))
        if not np.array_equal(np.isnan(wanted), np.isnan(found)) or not np.nanmax(np.abs(wanted - found), initial=0) <= limit:
            return f"{path}: {np.nanmax(np.abs(wanted - found))} is more than {limit}"
    return ""


HOST = subprocess.run(["attn-opt", SOURCE, "--target=sm_80", "--compile-to=gpu-kernels"], check=True, capture_output=True, text=True).stdout
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
