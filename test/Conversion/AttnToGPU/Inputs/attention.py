# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attentions of one file, compiled to kernels of a GPU: each function runs in ptxsim at
several lengths and is compared with attn-reference. The main loops must have no
bank conflict and, where ptxas is there, no kernel spills.
usage: attention.py FILE [--only=NAME] [--all-orders] [--split-keys=N] [--target=CHIP]
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
from typing import NamedTuple

import numpy as np
from host import Host, Tensor, load, save

# Of the largest result: weights are rounded to the values' type, and so is out.
TOLERANCE = {"f32": 2e-5, "f16": 2e-3, "bf16": 1.6e-2}
ORDERS = ("late", "eager", "random")
CHIP = next((argument.split("=")[1] for argument in sys.argv if argument.startswith("--target=")), "sm_80")

rng = np.random.default_rng(7)


def types(text):
    return [(m[1].split("x")[:-1], m[1].split("x")[-1]) for m in re.finditer(r"tensor<([^>]*)>", text)]


class Function(NamedTuple):
    name: str
    names: list  # of the arguments
    arguments: list  # dimensions and element type of each
    results: list
    lengths: list  # numbers of queries and keys
    batch: int
    poison: list  # argument, row and column of all heads, number


def functions(source):
    for m in re.finditer(r"((?://[^\n]*\n)*)func\.func @(\w+)\((.*?)\)\s*->\s*(.*?) \{\n", source.read_text(), re.DOTALL):
        sizes = re.search(r"// sizes: (.*)", m[1])
        batch = re.search(r"// batch: (\d+)", m[1])
        lengths = [tuple(map(int, pair.split(","))) for pair in sizes[1].split()] if sizes else [(0, 0)]
        names = re.findall(r"(%\w+): ", m[3])
        poison = re.findall(r"(%\w+) (\d+) (\d+) ([-\w]+)(?:,|$)", found[1] if (found := re.search(r"// poison: (.*)", m[1])) else "")
        yield Function(m[2], names, types(m[3]), types(m[4]), lengths, int(batch[1]) if batch else 2, poison)


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


def make_ports(function, lengths):
    """Arguments, in files of their names, and results."""
    ports = []
    for argument, (dims, element) in zip(function.names, function.arguments):
        place = "query" if argument == function.names[0] else "key"
        tensor = Tensor(f"{argument[1:]}.npy", element, shape_of(dims, argument, place, lengths, function.batch))
        values = numbers(argument, tensor.shape, element, lengths)
        for _, row, column, number in (poison for poison in function.poison if poison[0] == argument):
            values[..., int(row), int(column)] = float(number)
        save(tensor.path, values, element)
        ports.append(tensor)
    return ports, [Tensor(f"out{i}.npy", element, shape_of(dims, "", "query", lengths, function.batch), True) for i, (dims, element) in enumerate(function.results)]


def difference(output, path, queries):
    """What is wrong with a result, beside float64, or nothing. `queries`: element type of the queries."""
    wanted, found = np.load(path).astype(np.float64), load(output.path, output.element).astype(np.float64)
    if not wanted.size:
        return ""
    element = queries if output.element == "f32" and len(output.shape) > 3 else output.element
    limit = TOLERANCE[element] * max(1, np.abs(wanted[np.isfinite(wanted)]).max(initial=0))
    same = np.array_equal(np.isnan(wanted), np.isnan(found)) and np.array_equal(np.isinf(wanted), np.isinf(found))
    finite = np.isfinite(wanted) & np.isfinite(found)
    error = np.abs(wanted[finite] - found[finite]).max(initial=0)
    if not same or error > limit:
        return f"{output.path}: {error} is more than {limit}" if same else f"{output.path}: NaN or infinity in other places"
    return ""


def check(source, text, function, lengths, orders):
    ports, outputs = make_ports(function, lengths)
    expected = [f"expected{i}.npy" for i in range(len(outputs))]
    for path in [output.path for output in outputs] + expected:
        pathlib.Path(path).unlink(missing_ok=True)
    subprocess.run(["attn-reference", source, f"--entry={function.name}", *(port.path for port in ports), *(f"-o={path}" for path in expected)], check=True)
    for order in orders:
        if problem := run(text, function.name, ports, outputs, expected, order):
            return f"{order}: {problem}"
    return ""


def run(text, name, ports, outputs, expected, order):
    host = Host(text, "kernels.ptx", ["--report", f"--order={order}", "--seed=3"])
    problem = host.run(name, ports + outputs)
    if problem:
        return problem
    for output, path in zip(outputs, expected):
        if 0 not in output.shape and (problem := difference(output, path, ports[0].element)):
            return problem
    if m := re.search(r".* bank conflicts in .*(ldmatrix|cp\.async).*", host.report):
        return m[0]
    return ""


def assemble(source):
    """What ptxas says of kernels that should not spill, or should."""
    log = subprocess.run(["ptxas", "-v", f"-arch={CHIP}", "kernels.ptx", "-o", "kernels.cubin"], capture_output=True, text=True)
    spilling = set(re.findall(r"properties for (\w+)_(?:attention|decode|merge)\n.*[1-9][0-9]* bytes spill", log.stderr))
    known = set(re.findall(r"// spills\n(?://.*\n)*func\.func @(\w+)", source.read_text()))
    return [f"{spilling} spill, not {known}\n{log.stderr}"] if log.returncode or spilling != known or "C75" in log.stderr else []


def main():
    source = pathlib.Path(sys.argv[1])
    split = next((argument for argument in sys.argv if argument.startswith("--split-keys=")), "--split-keys=0")
    only = next((argument.split("=")[1] for argument in sys.argv if argument.startswith("--only=")), None)
    text = subprocess.run(["attn-opt", source, f"--target={CHIP}", split, "--compile-to=gpu-kernels"], check=True, capture_output=True, text=True).stdout
    subprocess.run(["attn-opt", "-", "--compile-from=gpu-kernels", f"--target={CHIP}", "--emit=ptx", "-o", "kernels.ptx"], input=text, check=True, text=True)
    wrong = []
    if shutil.which("ptxas"):
        wrong = assemble(source)
    else:
        print("ptxas is not there: the PTX is not assembled")
    count = 0
    for function in functions(source):
        if only and function.name != only:
            continue
        for lengths in function.lengths:
            orders = ORDERS if "--all-orders" in sys.argv else [ORDERS[count % len(ORDERS)]]
            count += 1
            if problem := check(source, text, function, lengths, orders):
                wrong.append(f"@{function.name} {lengths}: {problem}")
    print("\n".join(wrong))
    print(f"{count} runs")
    sys.exit(bool(wrong) or not count)


if __name__ == "__main__":
    main()
