# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Our kernels: the specification of a cell, its compilation, its calls, and its share of what the machine can do."""
import ctypes
import os
import re
import subprocess
import time
from typing import NamedTuple

import cells
import numpy as np

from machine import BF16_DOT, F32_FMA, Machine, median, quantile, spread, unshared

MAX_RANK = 6
PAIRS = re.compile(r"schedule<[^>]*products = ")  # the target has products too


def specification(cell):
    """Batch and lengths are sizes of run time, except the one query of decoding."""
    query_length = "1" if cell.decode else "?"

    def tensor(heads, length):
        sizes = (heads, length) if cell.layout == "bhsd" else (length, heads)
        return f"tensor<?x{sizes[0]}x{sizes[1]}x{cell.D}x{cell.dtype}>"

    q, kv = tensor(cell.Hq, query_length), tensor(cell.Hkv, "?")
    terms = []
    if cell.causal:
        terms.append("causal(top_left)" if cell.Sq == cell.Sk else "causal(bottom_right)")
    if cell.key_lengths:
        terms.append("key_length(%lengths : tensor<?xi32>)")
    where = f"where {' and '.join(terms)} " if terms else ""
    lengths = ", %lengths: tensor<?xi32>" if cell.key_lengths else ""
    layouts = ""
    if cell.layout != "bhsd":
        names = ("query", "key", "value", "out")
        layouts = "{" + ", ".join(f"{name}_layout = #attn<layout {cell.layout}>" for name in names) + "} "
    return f"""func.func @kernel(%q: {q}, %k: {kv}, %v: {kv}{lengths}) -> {q} {{
  %out = attn.sdpa %q, %k, %v scale {cell.scale:.17e} {where}{layouts}: ({q}, {kv}, {kv}) -> {q}
  return %out : {q}
}}
"""


def compile_cell(compiler, target, cell, folder):
    """The library, the seconds it took and whether it multiplies pairs of bf16, or why there is none in one line."""
    base = os.path.join(folder, cell.name.replace("/", "-"))
    with open(base + ".mlir", "w") as file:
        file.write(specification(cell))
    start = time.monotonic()
    try:
        done = subprocess.run([compiler, base + ".mlir", "--emit=lib", "-o", base + ".so", "--target=" + target], text=True, capture_output=True,
                              timeout=120)
    except subprocess.TimeoutExpired:
        return {"library": None, "why": "no end after 120 s"}
    if done.returncode == 0:
        seconds = time.monotonic() - start
        scheduled = subprocess.run([compiler, base + ".mlir", "--compile-to=scheduled", "--target=" + target], text=True,
                                   capture_output=True, check=True).stdout
        return {"library": base + ".so", "seconds": seconds, "pairs": bool(PAIRS.search(scheduled))}
    lines = [line for line in done.stderr.splitlines() if "error:" in line] or [f"exit status {done.returncode}"]
    return {"library": None, "why": lines[0].split("error:")[-1].strip()}


class Tensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("shape", ctypes.c_int64 * MAX_RANK), ("strides", ctypes.c_int64 * MAX_RANK)]

    def __init__(self, array):
        super().__init__(array.ctypes.data, array.shape, tuple(s // array.itemsize for s in array.strides))


class Call(ctypes.Structure):
    _fields_ = [("workspace", ctypes.c_void_p), ("workspace_size", ctypes.c_size_t), ("parallel_for", ctypes.c_void_p),
                ("context", ctypes.c_void_p), ("threads", ctypes.c_int32)]


class Sample(NamedTuple):
    """Times of one measurement in seconds and speeds in GFLOP/s."""
    items: np.ndarray  # (calls, items)
    probes: np.ndarray  # (calls, items), the slower of the two around an item
    rests: list  # of a call outside of its loops
    calls: list  # for decoding, whole calls
    reads: list  # and plain reads of the same keys and values, in turns with them
    bursts: np.ndarray
    f32_bursts: np.ndarray  # what probes are compared with


class Kernel:
    """A peer like the others (peers.py) whose library the driver has compiled."""
    name = "attn-opt"
    packages = ("numpy",)

    def __init__(self, threads):
        self.threads, self.machine, self.samples, self.multiplies_pairs = threads, None, {}, False

    def open(self, library):
        self.dll = ctypes.CDLL(library)
        self.function = self.dll.kernel
        self.function.restype = ctypes.c_int32
        self.dll.kernel_strerror.restype = ctypes.c_char_p
        self.dll.kernel_workspace_size.restype = ctypes.c_size_t

    def call(self):
        if status := self.function(self.pointer):
            raise RuntimeError(self.dll.kernel_strerror(status).decode())

    def make(self, cell, arrays, library):
        self.cell = cell
        self.open(library)
        if cell.key_lengths:
            arrays = [*arrays, np.array(cell.key_lengths, np.int32)]
        out = cells.placed(cell, np.full_like(arrays[0], np.nan))
        if cell.layout == "bshd":
            arrays = [*(a.transpose(0, 2, 1, 3) for a in arrays[:3]), *arrays[3:]]
        self.ports = [*arrays, out.transpose(0, 2, 1, 3) if cell.layout == "bshd" else out]
        self.pack()

        def run():
            self.call()
            return out
        return run, lambda result: result, "compiled kernel"

    def pack(self):
        """The arguments, with a work space, so that a call allocates nothing."""
        class Args(ctypes.Structure):
            _fields_ = [("size", ctypes.c_size_t), ("ports", Tensor * len(self.ports)), ("call", Call)]

        self.args = Args(ctypes.sizeof(Args), tuple(Tensor(a) for a in self.ports), Call(threads=self.threads))
        self.pointer = ctypes.byref(self.args)
        size = self.dll.kernel_workspace_size(self.pointer)
        self.workspace = np.zeros(size + 64, np.uint8)
        begin = (self.workspace.ctypes.data + 63) // 64 * 64
        self.args.call.workspace, self.args.call.workspace_size = begin, size

    def burst_kind(self):
        return BF16_DOT if self.multiplies_pairs else F32_FMA

    def sample(self, seconds, bench):
        """One measurement; `multiplies_pairs` says what the bursts count."""
        self.machine = self.machine or Machine(bench)
        kind = self.burst_kind()
        items, probes, rests, bursts, f32_bursts = self.items(seconds, kind)
        calls, reads = [], []
        if self.cell.decode:
            calls, reads, bursts = self.pairs(seconds, kind)
        return Sample(items, probes, rests, calls, reads, bursts, f32_bursts)

    def summary(self, sample):
        """Shares of the peaks in percent: medians, and the quiet fifth of the times against that of the peaks, of this
        sample and those before it of the same cell; and what items on an unshared core took."""
        samples = self.samples.setdefault(self.cell.name, [])
        samples.append(sample)
        s = Sample(*(np.concatenate(part) for part in zip(*samples)))
        work = self.cell.flops * 1e-9 / (0.5 if self.cell.dtype == "f64" else 1)
        if self.cell.decode:
            result = {"read_pct": 100 * median(s.reads / s.calls), "runs": len(s.calls),
                      "read_quiet_pct": 100 * quantile(s.reads, 0.2) / quantile(s.calls, 0.2)}
            middle, quiet = (quantile(s.calls, q) for q in (0.5, 0.2))
        else:
            result = {"items": s.items.shape[1], "runs": len(s.items)}
            middle, quiet = (np.quantile(s.items, q, axis=0).sum() / self.threads + quantile(s.rests, q) for q in (0.5, 0.2))
        peak = [quantile(s.bursts, q) * self.threads for q in (0.5, 0.8)]
        alone, result["unshared_items_pct"] = unshared(s.items, s.probes, quantile(s.f32_bursts, 0.8))
        result["unshared_items_pct"] *= 100
        if alone is not None:
            result["unshared_pct"] = 100 * work / (alone / self.threads + quantile(s.rests, 0.2)) / peak[1]
        return result | {"peak_pct": 100 * work / middle / peak[0], "quiet_pct": 100 * work / quiet / peak[1],
                         "peak_gflops": peak[0], "peak_spread": spread(s.bursts),
                         "peak_counts": self.machine.peak(self.burst_kind())}

    def items(self, seconds, kind):
        """Seconds of every item of every call (calls, items), GFLOP/s of probes around each, seconds outside the loops, and
        GFLOP/s of bursts between items, of the kind and in f32."""
        found, f32_bursts = [], []
        begin = time.monotonic()
        while len(found) < 4 or (time.monotonic() - begin < seconds and len(found) < 2000):
            status, *columns = self.machine.items(self.function, self.pointer, self.args, kind)
            if status:
                raise RuntimeError(self.dll.kernel_strerror(status).decode())
            found.append(columns)
            if kind != F32_FMA:
                f32_bursts.extend(self.machine.bursts(self.threads, self.threads))
        # The first call warms caches and clock.
        items, probes, rests, bursts = zip(*found[1:])
        bursts = np.concatenate(bursts)
        return np.stack(items), np.stack(probes), rests, bursts, f32_bursts or bursts

    def pairs(self, seconds, kind):
        """Seconds of calls, seconds of plain reads of the same keys and values, and GFLOP/s of bursts, in turns."""
        calls, bursts, reads = [], [], []
        begin = time.monotonic()
        while len(calls) < 8 or (time.monotonic() - begin < seconds and len(calls) < 4000):
            start = time.perf_counter()
            self.function(self.pointer)
            calls.append(time.perf_counter() - start)
            bursts.extend(self.machine.bursts(self.threads, self.threads, kind))
            reads.append(self.machine.read(self.ports[1], self.ports[2], self.threads))
        return calls[1:], reads[1:], bursts[1:]
