# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles ONNX models to programs and compares what these compute with stored results."""
import concurrent.futures
import io
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import zipfile

import ml_dtypes
import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "Integration"))
import sharing
from kernels import effort

ATTN_OPT = os.environ["ATTN_OPT"]
DATA = pathlib.Path(__file__).parent / "data"
# ONNX's own tolerance; of 16 bits that of the type, against exact results (see the data's README).
TOLERANCE = {"float16": (2e-3, 2e-4), "bfloat16": (1.6e-2, 1.6e-3)}
USUAL = (1e-3, 1e-7)


def port(name):
    """The name that a tensor has on the command line."""
    return re.sub(r"\W", "_", name, flags=re.ASCII)


def load(source):
    """An array; bfloat16 comes as raw pairs of bytes."""
    array = np.load(source)
    return array.view(ml_dtypes.bfloat16).astype(np.float32) if array.dtype.kind == "V" else array


class Failure(Exception):
    """What went wrong with a model, in one line."""


class Program:
    """A compiled model; a file beside it is deleted with the folder."""

    def __init__(self, model, folder, flags=("-O0",), source=None):
        """`source` is a specification in the place of the model."""
        self.folder = pathlib.Path(folder)
        path = self.folder / ("model.mlir" if source else "model.onnx")
        contents = source.encode() if source else model
        path.write_bytes(contents)
        self.path = self.folder / "program"
        done = subprocess.run([ATTN_OPT, path, "--emit=exe", "-o", self.path, *flags, *effort(contents, flags)],
                              capture_output=True, text=True, timeout=300)
        if done.returncode:
            raise Failure(f"attn-opt ends with {done.returncode}: {done.stderr.strip()}")
        self.explained = done.stdout  # with the flag --explain

    def __call__(self, inputs, outputs):
        """Results by name; `inputs` holds the bytes of .npy files or arrays, in the order of the arguments."""
        command = [self.path]
        for i, data in enumerate(inputs):
            file = self.folder / f"in{i}.npy"
            if isinstance(data, bytes):
                file.write_bytes(data)
            else:
                np.save(file, data)
            command.append(file)
        for name in outputs:
            command += ["-o", f"{port(name)}={self.folder / port(name)}.npy"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120)
        if done.returncode:
            raise Failure(f"the program ends with {done.returncode}: {done.stderr.strip()}")
        return {name: load(self.folder / f"{port(name)}.npy") for name in outputs}


def compare(name, got, want, tolerance):
    want = want.astype(np.float64)
    got = got.astype(np.float64)
    if got.shape != want.shape:
        raise Failure(f"{name} has shape {got.shape}, expected {want.shape}")
    rtol, atol = tolerance
    if not np.allclose(got, want, rtol=rtol, atol=atol, equal_nan=True):
        with np.errstate(invalid="ignore"):
            raise Failure(f"{name} differs by {np.nanmax(np.abs(got - want)):.2g}")


class Archive:
    def __init__(self, name):
        self.zip = zipfile.ZipFile(DATA / f"{name}.zip")
        self.cases = json.loads(self.zip.read("index.json"))
        self.members = {name: self.zip.read(name) for name in self.zip.namelist()}  # zipfile is not for several threads

    def array(self, name):
        return load(io.BytesIO(self.members[name]))


def check_node(archive, case, model="model.onnx", change=lambda model: model, flags=("-O0",)):
    """Raises Failure where a node case does not give its stored results."""
    name = case["name"]
    with tempfile.TemporaryDirectory() as folder:
        program = Program(change(archive.members[f"{name}/{model}"]), folder, flags)
        results = program([archive.members[f"{name}/in_{i}.npy"] for i in case["inputs"]], case["outputs"])
    for output, kind in case["outputs"].items():
        compare(output, results[output], archive.array(f"{name}/want_{output}.npy"), TOLERANCE.get(kind, USUAL))


def check_fused(model):
    """Raises Failure where the model's attention is not one attn.sdpa, with all products fused or projections."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "model.onnx"
        path.write_bytes(model)
        done = subprocess.run([ATTN_OPT, path, "--compile-to=fused"], capture_output=True, text=True, timeout=300)
    if done.returncode:
        raise Failure(f"attn-opt ends with {done.returncode}: {done.stderr.strip()}")
    if done.stdout.count(" attn.sdpa ") != 1 or "linalg.softmax" in done.stdout or "linalg.batch_matmul" in done.stdout:
        raise Failure("its attention is not fused")


def check_sharing(explained):
    """Raises Failure where tensors between loops take more than 1.5 times the largest two of one time."""
    for buffers, together, two in sharing.shares(explained):
        if together > 1.5 * two:
            raise Failure(f"{buffers} buffers share {together} bytes, the largest two take {two}")


def check_torch(archive, case, flags=("-O0",)):
    model = archive.members[f"{case['name']}/model.onnx"]
    check_fused(model)
    with tempfile.TemporaryDirectory() as folder:
        program = Program(model, folder, (*flags, "--explain"))
        check_sharing(program.explained)
        for one in case["sets"]:
            results = program([archive.members[path] for path in one["inputs"]], one["outputs"])
            for output, path in one["outputs"].items():
                compare(output, results[output], archive.array(path), (case["tolerance"]["rtol"], case["tolerance"]["atol"]))


def run_all(jobs):
    """Runs (name, function) pairs, two at a time. Names of those that fail, with the reason."""
    def one(job):
        try:
            job[1]()
        except (Failure, subprocess.TimeoutExpired) as failure:
            return job[0], str(failure)
        return None

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return [failure for failure in pool.map(one, jobs) if failure]


def report(jobs):
    """Runs them and says which fail; an exit status, which is not 0 without a job."""
    failures = run_all(jobs)
    for name, reason in failures:
        print(f"{name}: {reason}")
    print(f"{len(jobs) - len(failures)} of {len(jobs)} agree")
    return bool(failures) or not jobs


def main(names, check):
    """Checks those whose names have one of the texts on the command line; all without one."""
    chosen = [name for name in names if not sys.argv[1:] or any(text in name for text in sys.argv[1:])]
    sys.exit(report([(name, lambda name=name: check(name)) for name in chosen]))
