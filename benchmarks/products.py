# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Matrix products and what follows them, beside the peers.

  python benchmarks/products.py                                  everything that is installed, one thread
  python benchmarks/products.py --threads 2 --cells gelu,m16 --seconds 2
  python benchmarks/products.py --peers none --target x86-64-v3  our kernels for another processor

A cell is M x K x N in f32, the weight an argument of the call or a constant that may be prepared before. `gelu` adds a bias and
applies GELU, exact or with tanh, by each one's own epilogue. Cells of few rows are bound by memory: 4096 x 4096 is read once. Each
cell is an ONNX model, which attn-opt, ONNX Runtime (MLAS) and OpenVINO (oneDNN) compile; torch calls oneDNN's linear with its
epilogue, NumPy its OpenBLAS, where an epilogue is none of its business.

Results are compared with float64 first; calls of all are made in turns with bursts of multiply-adds and plain reads of the weight.
Printed: median ms, and the share of the peak and of the plain read. With --target nothing is compared with peers."""
import argparse
import os
import pathlib
import sys
import tempfile
import time
from typing import NamedTuple

import numpy as np

from machine import Machine, conditions, median

try:
    import onnx
    from onnx import TensorProto, helper, numpy_helper
except ImportError:
    sys.exit("benchmarks/products.py: needs onnx")

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "python"))
import attn  # noqa: E402 (the package of this folder's repository)


class Cell(NamedTuple):
    name: str
    m: int
    k: int
    n: int
    constant: bool
    gelu: str = ""  # "none" or "tanh", as ONNX has it
    transposed: bool = False
    dtype: str = "f32"

    @property
    def flops(self):
        return 2 * self.m * self.k * self.n


def cells():
    for constant in (False, True):
        kind = "constant" if constant else "argument"
        yield Cell(f"square-{kind}", 1024, 1024, 1024, constant)
        yield Cell(f"small-{kind}", 128, 384, 1536, constant)
        for gelu, name in (("none", "exact"), ("tanh", "tanh")):
            yield Cell(f"gelu-{name}-{kind}", 2048, 768, 3072, constant, gelu)
        for m in (1, 4, 16):
            yield Cell(f"m{m}-{kind}", m, 4096, 4096, constant)
    for m in (1, 4, 16):
        yield Cell(f"m{m}-transposed", m, 4096, 4096, False, transposed=True)


def arrays(cell):
    rng = np.random.default_rng(0)
    x = rng.standard_normal((cell.m, cell.k), np.float32)
    w = rng.standard_normal((cell.n, cell.k) if cell.transposed else (cell.k, cell.n), np.float32) / np.float32(cell.k ** 0.5)
    return x, w, rng.standard_normal(cell.n, np.float32)


def matrix(cell, w):
    return w.T if cell.transposed else w


def expected(cell, x, w, b):
    """In float64, of the first and last rows."""
    from math import erf
    y = x[[0, -1]].astype(np.float64) @ matrix(cell, w)
    if not cell.gelu:
        return y
    y += b
    if cell.gelu == "tanh":
        return 0.5 * y * (1 + np.tanh((2 / np.pi) ** 0.5 * (y + 0.044715 * y ** 3)))
    return 0.5 * y * (1 + np.vectorize(erf)(y / 2 ** 0.5))


def model(cell, w, b, path):
    """x (and w, where it is no constant) give y."""
    inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, [cell.m, cell.k])]
    constants, nodes = [], []
    if cell.constant:
        constants.append(numpy_helper.from_array(w, "w"))
    else:
        inputs.append(helper.make_tensor_value_info("w", TensorProto.FLOAT, list(w.shape)))
    if cell.transposed:
        nodes.append(helper.make_node("Gemm", ["x", "w"], ["y"], transB=1))
    elif cell.gelu:
        constants.append(numpy_helper.from_array(b, "b"))
        nodes += [helper.make_node("MatMul", ["x", "w"], ["p"]), helper.make_node("Add", ["p", "b"], ["s"]),
                  helper.make_node("Gelu", ["s"], ["y"], approximate=cell.gelu)]
    else:
        nodes.append(helper.make_node("MatMul", ["x", "w"], ["y"]))
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [cell.m, cell.n])
    graph = helper.make_graph(nodes, "product", inputs, [y], constants)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10), path)


class Ours:
    name = "attn-opt"

    def __init__(self, threads, target):
        self.threads, self.target = threads, target

    def make(self, cell, path, x, w, b):
        kernel = attn.compile(path, target=self.target)
        inputs = [x] if cell.constant else [x, w]
        return lambda: kernel(*inputs, threads=self.threads)


class OnnxRuntime:
    name = "onnxruntime"

    def __init__(self, threads):
        import onnxruntime
        self.runtime, self.threads = onnxruntime, threads

    def make(self, cell, path, x, w, b):
        options = self.runtime.SessionOptions()
        options.intra_op_num_threads, options.log_severity_level = self.threads, 4
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        session = self.runtime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
        feeds = {"x": x} if cell.constant else {"x": x, "w": w}
        return lambda: session.run(None, feeds)[0]


class OpenVino:
    name = "openvino"

    def __init__(self, threads):
        import openvino
        self.core, self.threads = openvino.Core(), threads

    def make(self, cell, path, x, w, b):
        hints = {"INFERENCE_NUM_THREADS": self.threads, "INFERENCE_PRECISION_HINT": "f32", "PERFORMANCE_HINT": "LATENCY"}
        request = self.core.compile_model(self.core.read_model(path), "CPU", hints).create_infer_request()
        feeds = {"x": x} if cell.constant else {"x": x, "w": w}
        return lambda: request.infer(feeds, share_inputs=True)[0]


class OneDNN:
    """oneDNN's linear as torch brings it; a constant weight is reordered before."""
    name = "onednn"

    def __init__(self, threads):
        import torch
        self.torch = torch
        torch.set_num_threads(threads)
        torch.set_grad_enabled(False)

    def make(self, cell, path, x, w, b):
        torch = self.torch
        x, b = torch.from_numpy(x), torch.from_numpy(b) if cell.gelu else None
        w = torch.from_numpy(matrix(cell, w)).T
        if cell.constant:
            w = torch.ops.mkldnn._reorder_linear_weight(w.contiguous().to_mkldnn(), cell.m)
        algorithm = ("gelu", [], cell.gelu) if cell.gelu else ("none", [], "")

        def run():
            with torch.inference_mode():
                return torch.ops.mkldnn._linear_pointwise(x, w, b, *algorithm)
        return run


class OpenBLAS:
    name = "openblas"

    def __init__(self, threads):
        self.threads = threads

    def make(self, cell, path, x, w, b):
        if cell.gelu:
            raise NotImplementedError("no epilogue")
        w = matrix(cell, w)
        return lambda: x @ w


PEERS = (OnnxRuntime, OpenVino, OneDNN, OpenBLAS)


def prepared(cell, path, inputs, kinds):
    """What each implementation calls; left out are those that fail or are wrong."""
    want, calls = expected(cell, *inputs), {}
    for kind in kinds:
        try:
            call = kind.make(cell, path, *inputs)
            worst = np.abs(np.asarray(call())[[0, -1]] - want).max()
        except NotImplementedError:
            continue
        except Exception as error:  # a peer's own errors are of any type
            print(f"{cell.name}: {kind.name} cannot: {str(error).strip().splitlines()[-1][:150]}")
            continue
        if worst > 1e-4:
            print(f"{cell.name}: {kind.name} is wrong by {worst:.1e}")
            continue
        calls[kind.name] = call
    return calls


def measure(cell, w, calls, machine, threads, seconds):
    """Median seconds of each, of the arithmetic at the peak, and of a plain read of the weight, in turns."""
    times, peaks, reads = {name: [] for name in calls}, [], []
    half = w.reshape(2, -1)
    end = time.monotonic() + seconds * len(calls)
    while time.monotonic() < end or len(peaks) < 5:
        for name, call in calls.items():
            begin = time.perf_counter()
            call()
            times[name].append(time.perf_counter() - begin)
        peaks.append(cell.flops / (median(machine.bursts(20 * threads, threads)) * threads * 1e9))
        reads.append(machine.read(half[0], half[1], threads))
    return {name: median(t) for name, t in times.items()}, median(peaks), median(reads)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cells", default="", metavar="TEXT,..", help="those whose names have one of the texts")
    parser.add_argument("--peers", default=",".join(peer.name for peer in PEERS))
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--target", default="native")
    parser.add_argument("--seconds", type=float, default=2, help="for each implementation")
    parser.add_argument("--build", default=str(ROOT / "build" / "release"), metavar="DIR")
    options = parser.parse_args()
    if os.environ.get("OPENBLAS_NUM_THREADS") != str(options.threads):  # it is read when NumPy is loaded
        os.environ["OPENBLAS_NUM_THREADS"] = str(options.threads)
        os.execv(sys.executable, [sys.executable, *sys.argv])
    os.environ["ATTN_OPT"] = f"{options.build}/bin/attn-opt"
    machine = Machine(f"{options.build}/lib/attn-bench.so")
    kinds = [Ours(options.threads, options.target)]
    for peer in PEERS:
        if peer.name in options.peers.split(","):
            try:
                kinds.append(peer(options.threads))
            except ImportError:
                print(f"{peer.name} is not installed")
    print(conditions())
    print(f"\nms, share of the peak, share of a plain read of the weight; {options.threads} thread{'s' * (options.threads > 1)}, {options.target}\n")
    print(f"| cell | peak ms | read ms | {' | '.join(p.name for p in kinds)} |\n|{' --- |' * (3 + len(kinds))}")
    with tempfile.TemporaryDirectory() as folder:
        for cell in cells():
            if not any(text in cell.name for text in options.cells.split(",")):
                continue
            inputs = arrays(cell)
            path = os.path.join(folder, "product.onnx")
            model(cell, inputs[1], inputs[2], path)
            calls = prepared(cell, path, inputs, kinds)
            times, peak, read = measure(cell, inputs[1], calls, machine, options.threads, options.seconds)
            shares = [f"{times[p.name] * 1e3:.2f}, {100 * peak / times[p.name]:.1f} %, {100 * read / times[p.name]:.0f} %"
                      if p.name in times else "-" for p in kinds]
            print(f"| {cell.name} | {peak * 1e3:.2f} | {read * 1e3:.2f} | {' | '.join(shares)} |", flush=True)


if __name__ == "__main__":
    main()
