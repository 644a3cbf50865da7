# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attentions of one file, compiled to kernels of a GPU: each function runs in ptxsim at
several lengths and is compared with attn-reference. The main loops must have no
bank conflict and, where ptxas is there, no kernel spills.
usage: attention.py FILE [--only=NAME] [--all-orders] [--split-keys=N]
--all-orders: in all orders of copies and warps, else in one after the other.
--split-keys: keys of a block of few queries; 0, without it: no kernels of their own.
A comment `// sizes: 128,64 1,1` in front of a function gives the numbers of
queries and of keys; `// batch: 2` the batch; `// poison: %v 3 0 nan, ..` elements of
arguments, by row and column; `// spills` says that registers do not
suffice yet."""
import pathlib
import re
import shutil
import subprocess
import sys

import numpy as np
from host import Host, Tensor, load, save

SOURCE = pathlib.Path(sys.argv[1])
SPLIT = next((argument for argument in sys.argv if argument.startswith("--split-keys=")), "--split-keys=0")
ONLY = next((argument.split("=")[1] for argument in sys.argv if argument.startswith("--only=")), None)
# Of the largest result: weights are rounded to the values' type, and so is out.
TOLERANCE = {"f32": 2e-5, "f16": 2e-3, "bf16": 1.6e-2}
ORDERS = ("late", "eager", "random")

POISON = {}  # of each function: argument, row and column of all heads, number

rng = np.random.default_rng(7)


def types(text):
    return [(m[1].split("x")[:-1], m[1].split("x")[-1]) for m in re.finditer(r"tensor<([^>]*)>", text)]


def functions():
    for m in re.finditer(r"((?://[^\n]*\n)*)func\.func @(\w+)\((.*?)\)\s*->\s*(.*?) \{\n", SOURCE.read_text(), re.DOTALL):
        sizes = re.search(r"// sizes: (.*)", m[1])
        batch = re.search(r"// batch: (\d+)", m[1])
        lengths = [tuple(map(int, pair.split(","))) for pair in sizes[1].split()] if sizes else [(0, 0)]
        names = re.findall(r"(%\w+): ", m[3])
        POISON[m[2]] = re.findall(r"(%\w+) (\d+) (\d+) ([-\w]+)(?:,|$)", found[1] if (found := re.search(r"// poison: (.*)", m[1])) else "")
        yield m[2], names, types(m[3]), types(m[4]), lengths, int(batch[1]) if batch else 2


def numbers(name, shape, element, lengths):
    if element == "i1":
        return rng.random(shape) < 0.7
    if element in ("i32", "i64"):
        return rng.integers(0, max(1, max(lengths)), shape)
    return rng.standard_normal(shape)


def shape_of(dims, name, place, lengths, batch):
    """`?` is the batch in front, else a length: of the queries for %q and results; both
    for a matrix of pairs."""
    shape = []
    for i, dim in enumerate(dims):
        pairs = len(dims) > 1 and dims[-2:] == ["?", "?"]
        of_query = i == len(dims) - 2 if pairs else place == "query"
        length = lengths[0] if of_query else lengths[1]
        shape.append(int(dim) if dim != "?" else batch if i == 0 and len(dims) > 2 else length)
    return shape


def check(name, names, arguments, results, lengths, batch, orders):
    queries = names[0]
    ports = []
    for argument, (dims, element) in zip(names, arguments):
        place = "query" if argument == queries else "key"
        tensor = Tensor(f"{argument[1:]}.npy", element, shape_of(dims, argument, place, lengths, batch))
        values = numbers(argument, tensor.shape, element, lengths)
        for _, row, column, number in (poison for poison in POISON[name] if poison[0] == argument):
            values[..., int(row), int(column)] = float(number)
        save(tensor.path, values, element)
        ports.append(tensor)
    outputs = [Tensor(f"out{i}.npy", element, shape_of(dims, "", "query", lengths, batch), True) for i, (dims, element) in enumerate(results)]
    expected = [f"expected{i}.npy" for i in range(len(outputs))]
    for path in [output.path for output in outputs] + expected:
        pathlib.Path(path).unlink(missing_ok=True)
    subprocess.run(["attn-reference", SOURCE, f"--entry={name}", *(port.path for port in ports), *(f"-o={path}" for path in expected)], check=True)
    for order in orders:
        if problem := run(name, ports, outputs, expected, order):
            return f"{order}: {problem}"
    return ""


def run(name, ports, outputs, expected, order):
    host = Host(TEXT, "kernels.ptx", ["--report", f"--order={order}", "--seed=3"])
    problem = host.run(name, ports + outputs)
    if problem:
        return problem
    for output, path in zip(outputs, expected):
        if 0 in output.shape:
            continue
        wanted, found = np.load(path).astype(np.float64), load(output.path, output.element).astype(np.float64)
        element = ports[0].element if output.element == "f32" and len(output.shape) > 3 else output.element
        limit = TOLERANCE[element] * max(1, np.abs(wanted[np.isfinite(wanted)]).max(initial=0))
        same = np.array_equal(np.isnan(wanted), np.isnan(found)) and np.array_equal(np.isinf(wanted), np.isinf(found))
        finite = np.isfinite(wanted) & np.isfinite(found)
        error = np.abs(wanted[finite] - found[finite]).max(initial=0)
        if not same or error > limit:
            return f"{output.path}: {error} is more than {limit}" if same else f"{output.path}: NaN or infinity in other places"
    if m := re.search(r".* bank conflicts in .*(ldmatrix|cp\.async).*", host.report):
        return m[0]
    return ""


TEXT = subprocess.run(["attn-opt", SOURCE, "--target=sm_80", SPLIT, "--compile-to=gpu-kernels"], check=True, capture_output=True, text=True).stdout
subprocess.run(["attn-opt", "-", "--compile-from=gpu-kernels", "--target=sm_80", "--emit=ptx", "-o", "kernels.ptx"], input=TEXT, check=True, text=True)
wrong = []
if shutil.which("ptxas"):
    log = subprocess.run(["ptxas", "-v", "-arch=sm_80", "kernels.ptx", "-o", "kernels.cubin"], capture_output=True, text=True)
    spilling = set(re.findall(r"properties for (\w+)_(?:attention|decode|merge)\n.*[1-9][0-9]* bytes spill", log.stderr))
    known = set(re.findall(r"// spills\n(?://.*\n)*func\.func @(\w+)", SOURCE.read_text()))
    if log.returncode or spilling != known or "C75" in log.stderr:
        wrong.append(f"{spilling} spill, not {known}\n{log.stderr}")
else:
    print("ptxas is not there: the PTX is not assembled")
count = 0
for name, names, arguments, results, sizes, batch in functions():
    if ONLY and name != ONLY:
        continue
    for lengths in sizes:
        orders = ORDERS if "--all-orders" in sys.argv else [ORDERS[count % len(ORDERS)]]
        count += 1
        if problem := check(name, names, arguments, results, lengths, batch, orders):
            wrong.append(f"@{name} {lengths}: {problem}")
print("\n".join(wrong))
print(f"{count} runs")
sys.exit(bool(wrong) or not count)
