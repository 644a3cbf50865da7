# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the tests run in ptxsim, on a GPU: attentions, whole functions around them, and the examples, each at its lengths,
with tensors in the host's memory, beside float64. Run by itself it is a worker:
usage: programs.py FOLDER K N: of the rows of the table N at a time the K-th, and a line for each."""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import zlib
from typing import NamedTuple

ROOT = pathlib.Path(__file__).resolve().parents[2]
CONVERSION = ROOT / "test" / "Conversion"
sys.path[:0] = [str(CONVERSION / folder / "Inputs") for folder in ("AttnToGPU", "LoopsToGPU")]

import attention  # noqa: E402
import examples  # noqa: E402
import grid  # noqa: E402
import numpy as np  # noqa: E402
import values  # noqa: E402
from host import Tensor  # noqa: E402
from kernels import Kernels  # noqa: E402


class Program(NamedTuple):
    kind: str  # who says what is wrong: attention, values or example
    library: str
    source: str
    options: list  # of attn-opt, for the library
    entry: str
    cases: list  # functions that write arguments: paths of these, and results with element types


def attentions(source, library, *options):
    def arguments(function, lengths):
        # The same numbers with other options.
        attention.rng = np.random.default_rng(zlib.crc32(f"{function.name}{lengths}".encode()))
        ports, outputs = attention.make_ports(function, lengths)
        return [port.path for port in ports], [(output.element, ports[0].element) for output in outputs]

    for function in attention.functions(source):
        cases = [lambda lengths=lengths, function=function: arguments(function, lengths) for lengths in function.lengths]
        yield Program("attention", library, str(source), list(options), function.name, cases)


def functions(source):
    for name, arguments, results in values.functions(source):
        elements = [(element, "") for _, element in results]
        cases = [lambda sizes=sizes, arguments=arguments, elements=elements: (values.make_arguments(arguments, sizes), elements)
                 for sizes in values.all_sizes(arguments)]
        yield Program("values", source.stem, str(source), [], name, cases)


def all_examples():
    for name, source in examples.names_and_sources(ROOT / "examples"):
        def arguments(name=name, source=source):
            paths, results = examples.make_arguments(name, source)
            return paths, [("f32", "")] * results

        yield Program("example", "example-" + name.replace("/", "-"), str(source), [], examples.entry_of(source), [arguments])


def programs(folder):
    inputs = CONVERSION / "AttnToGPU" / "Inputs"
    grid.write(f"{folder}/grid.mlir")
    for name in ("forward", "scores", "results", "poison", "unaligned"):
        yield from attentions(inputs / f"{name}.mlir", name, "--split-keys=0")
    yield from attentions(pathlib.Path(f"{folder}/grid.mlir"), "grid")
    yield from attentions(pathlib.Path(f"{folder}/grid.mlir"), "grid_many", "--split-keys=0")
    yield from attentions(inputs / "decode.mlir", "decode")
    yield from attentions(inputs / "decode.mlir", "decode_parts", "--split-keys=64")
    for name in ("programs", "products", "epilogues", "parts"):
        yield from functions(inputs / f"{name}.mlir")
    for name in ("rows", "shared-rows"):
        yield from functions(CONVERSION / "LoopsToGPU" / "Inputs" / f"{name}.mlir")
    yield from all_examples()


def pack_program(tools, folder, target, program):
    """The library, if it is not there, and a folder of each case; a row of the table for each."""
    library = f"{folder}/programs/{program.library}.so"
    if not os.path.exists(library):
        # The GPU may be another chip than sm_80, and then assembles the PTX anyway.
        without_ptxas = {"PATH": "/usr/bin:/bin", "CUDA_HOME": "/none"} if target == "sm_80" else {}
        subprocess.run([f"{tools}/attn-opt", program.source, f"--target={target}", *program.options, "--emit=lib", "-o", library],
                       check=True, capture_output=True, env={**os.environ, **without_ptxas})
    for number, case in enumerate(program.cases):
        place = f"programs/{program.library}/{program.entry}-{number}"
        os.makedirs(f"{folder}/{place}")
        os.chdir(f"{folder}/{place}")
        inputs, results = case()
        subprocess.run([f"{tools}/attn-reference", program.source, f"--entry={program.entry}", *inputs, *(f"-o=expected{i}.npy" for i in range(len(results)))],
                       check=True)
        for i, (element, _) in enumerate(results):
            if element != "f64":
                np.save(f"expected{i}.npy", np.load(f"expected{i}.npy").astype(np.float32))
        yield {"kind": program.kind, "library": program.library, "entry": program.entry, "case": number, "place": place, "inputs": inputs, "results": results}


def pack(tools, folder, target, pattern):
    tools, folder, before = os.path.abspath(tools), os.path.abspath(folder), os.getcwd()
    shutil.rmtree(f"{folder}/programs", ignore_errors=True)
    os.makedirs(f"{folder}/programs")
    os.environ["PATH"] = tools + os.pathsep + os.environ["PATH"]
    try:
        rows = [row for program in programs(folder) if pattern.search(name_of(program.library, program.entry)) for row in pack_program(tools, folder, target, program)]
    finally:
        os.chdir(before)
    with open(f"{folder}/programs.json", "w") as file:
        json.dump(rows, file)


def name_of(library, entry):
    return library if library.startswith("example-") else f"{library}-{entry}"


def difference(row, place, results):
    """What is wrong with results, which lie in a folder."""
    for i, (element, queries) in enumerate(row["results"]):
        found, wanted = f"{results}/out{i}.npy", f"{place}/expected{i}.npy"
        if row["kind"] == "attention":
            problem = attention.difference(Tensor(found, element, np.load(wanted).shape, True), wanted, queries)
        else:
            # Tensor cores truncate sums of f32, which ptxsim rounds.
            problem = values.difference(found, wanted, element, slack=3) if row["kind"] == "values" else examples.difference(found, wanted, slack=2)
        if problem:
            return problem.replace(f"{results}/", "")
    return ""


def call(row, place, kernels):
    """What is wrong, or nothing."""
    inputs = [np.load(f"{place}/{path}") for path in row["inputs"]]
    types = {"bf16": np.dtype("V2"), "f16": np.dtype(np.float16), "f32": np.dtype(np.float32), "f64": np.dtype(np.float64), "i32": np.dtype(np.int32)}
    shapes = [(np.load(f"{place}/expected{i}.npy").shape, types[element]) for i, (element, _) in enumerate(row["results"])]
    # NaN: what is not written is wrong.
    outputs = [np.full(int(np.prod(shape)) * dtype.itemsize, 255, np.uint8).view(dtype).reshape(shape) for shape, dtype in shapes]
    try:
        kernels.prepare(row["entry"], [(array.ctypes.data, array.shape) for array in inputs + outputs])()
    except RuntimeError as error:
        return str(error)
    with tempfile.TemporaryDirectory() as results:
        for i, array in enumerate(outputs):
            np.save(f"{results}/out{i}.npy", array)
        return difference(row, place, results)


def work(folder, share, of):
    libraries = {}
    np.seterr(all="ignore")
    for number, row in enumerate(json.load(open(f"{folder}/chosen.json"))):
        # Cases of one function, whose kernels are loaded once, are of one worker.
        if zlib.crc32(name_of(row["library"], row["entry"]).encode()) % of != share:
            continue
        if row["library"] not in libraries:
            libraries[row["library"]] = Kernels(f"{folder}/programs/{row['library']}.so")
        print(json.dumps([number, call(row, f"{folder}/{row['place']}", libraries[row["library"]])]), flush=True)


def run_all(folder, rows, wrapper=(), seconds=1e9):
    """Rows of the table with what is wrong, by as many workers as there are processors; what the time does not suffice for is left out."""
    with open(f"{folder}/chosen.json", "w") as file:
        json.dump(rows, file)
    count = os.cpu_count() or 1
    command = [*wrapper, sys.executable, "-B", os.path.abspath(__file__), folder]
    with tempfile.TemporaryFile("w+") as said:
        workers = [subprocess.Popen([*command, str(k), str(count)], stdout=subprocess.PIPE, stderr=said, text=True, start_new_session=True)
                   for k in range(count)]
        found = {}

        def read(worker):
            for line in worker.stdout:
                if line.startswith("["):
                    number, problem = json.loads(line)
                    found[number] = problem

        readers = [threading.Thread(target=read, args=[worker]) for worker in workers]
        for reader in readers:
            reader.start()
        end = time.monotonic() + seconds
        for worker in workers:
            try:
                worker.wait(max(0, end - time.monotonic()))
            except subprocess.TimeoutExpired:
                os.killpg(worker.pid, signal.SIGKILL)  # what a wrapper has started, too
        for reader in readers:
            reader.join()
        said.seek(0)
        broken = said.read()[-1000:] if any(worker.returncode not in (0, -9) for worker in workers) else ""
    table = [{"name": name_of(row["library"], row["entry"]), "case": row["case"], "wrong": found[i]} for i, row in enumerate(rows) if i in found]
    return table + ([{"name": "a worker", "case": 0, "wrong": broken}] if broken else [])


def load(folder, pattern):
    return [row for row in json.load(open(f"{folder}/programs.json")) if pattern.search(name_of(row["library"], row["entry"]))]


if __name__ == "__main__":
    work(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
