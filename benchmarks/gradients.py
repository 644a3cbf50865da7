# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Gradients of attention by query, key and value, beside the peers.

  python benchmarks/gradients.py                                   everything that is installed, one thread
  python benchmarks/gradients.py --threads 2 --cells s2048,bert --seconds 2
  python benchmarks/gradients.py --peers none --target x86-64-v3   our kernels for another processor

A cell is one attention; its gradient is five products over the visible pairs, 10 operations per pair and feature. The forward pass has
run before and is not timed. `torch` is scaled_dot_product_attention under autograd (its flash operator on a CPU), `eager` matmul,
softmax, matmul under autograd, `jax` the pull-back of jax.nn.dot_product_attention, compiled.

Results are compared with float64 first; calls of all are made in turns with bursts of multiply-adds, of dot products of bf16 where our
kernel multiplies pairs. Printed: median ms of a call and its share of the peak; of our kernel also the share that its items have, a
median each, with bursts between them. With --target nothing is compared with peers."""
import argparse
import ctypes
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

import numpy as np

import cells
from kernels import PAIRS, Call, Tensor, specification
from machine import BF16_DOT, F32_FMA, Machine, conditions, median

ROOT = pathlib.Path(__file__).resolve().parent.parent
GRADIENTS = ("d_q", "d_k", "d_v")
CAP = 20.0


def positions(cell, rows):
    """Query minus key."""
    return np.arange(cell.Sq)[rows, None] - np.arange(cell.Sk)


# What is learned beside query, key and value: its shape, the clause, and the score and its derivative of the first head. No peer has
# these gradients without a matrix of scores.
FUNCTIONS = {
    "table": (lambda cell: (cell.Hq, cell.Sq + cell.Sk - 1), """score_mod (%s: f32, %b, %h, %i, %j) with (%t = %learned : {type}) {{
    %last = arith.constant {last} : index
    %d = arith.subi %i, %j : index
    %at = arith.addi %d, %last : index
    %x = tensor.extract %t[%h, %at] : {type}
    %y = arith.addf %s, %x : f32
    attn.yield %y : f32
  }} """, lambda s, x, d: (s + x[0, d + x.shape[1] // 2], 1)),
    "alibi": (lambda cell: (cell.Hq,), """score_mod (%s: f32, %b, %h, %i, %j) with (%t = %learned : {type}) {{
    %d = arith.subi %j, %i : index
    %n = arith.index_cast %d : index to i64
    %f = arith.sitofp %n : i64 to f32
    %x = tensor.extract %t[%h] : {type}
    %m = arith.mulf %f, %x : f32
    %y = arith.addf %s, %m : f32
    attn.yield %y : f32
  }} """, lambda s, x, d: (s - x[0] * d, 1)),
    "softcap": (lambda cell: None, """score_mod (%s: f32, %b, %h, %i, %j) {{
    %c = arith.constant {cap} : f32
    %inverse = arith.constant {inverse} : f32
    %a = arith.mulf %s, %inverse : f32
    %t = math.tanh %a : f32
    %y = arith.mulf %t, %c : f32
    attn.yield %y : f32
  }} """, lambda s, x, d: (CAP * np.tanh(s / CAP), 1 - np.tanh(s / CAP) ** 2)),
}


def function_of(cell):
    return FUNCTIONS.get(cell.name.rpartition("-")[2])


def learned(cell):
    """The tensor that the cell's function reads; null where there is none."""
    shape = function_of(cell) and function_of(cell)[0](cell)
    return None if shape is None else 0.1 * np.random.default_rng(2).standard_normal(shape, dtype=np.float32) / shape[-1] ** (len(shape) == 1)


def source_of(cell):
    """The cell as a function that learns."""
    text = re.sub(r"(%[qkv]: tensor<[^>]*>)", r"\1 {attn.gradient}", specification(cell))
    if function := function_of(cell):
        array = learned(cell)
        kind = "" if array is None else f"tensor<{'x'.join(map(str, array.shape))}xf32>"
        clause = function[1].format(type=kind, last=cell.Sk - 1, cap=CAP, inverse=1 / CAP)
        text = re.sub(r"(scale \S+ )", lambda found: found[1] + clause, text)
        if kind:
            text = text.replace(") -> ", f", %learned: {kind} {{attn.gradient}}) -> ", 1)
    return text


def chosen_cells():
    for dtype in ("f32", "bf16"):
        tail = "" if dtype == "f32" else "-bf16"
        for causal in (False, True):
            name = "causal" if causal else "full"
            for length in (512, 2048, 8192):
                for dim in (64, 128):
                    heads = 2 if length > 2048 else 8
                    yield cells.Cell(f"{name}-s{length}-d{dim}{tail}", 1, heads, heads, length, length, dim, dtype, causal)
        if dtype == "f32":
            for function in FUNCTIONS:
                yield cells.Cell(f"full-s2048-d64-{function}", 1, 8, 8, 2048, 2048, 64)
        yield cells.Cell(f"gqa-32-8-s1024-causal{tail}", 1, 32, 8, 1024, 1024, 128, dtype, True)
        yield cells.Cell(f"bert-b8-s128{tail}", 8, 12, 12, 128, 128, 64, dtype)


def operations(cell):
    return 2.5 * cell.flops  # forward has two products


def cotangent(cell):
    rng = np.random.default_rng(1)
    shape = (cell.B, cell.Hq, cell.Sq, cell.D)
    return cells.placed(cell, rng.standard_normal(shape, dtype=np.float32).astype(cells.numpy_type(cell.dtype)))


def expected(cell, arrays):
    """In float64, of the first key head and its first query head: some rows of dq, and whole dk and dv."""
    q, k, v, g = (a[0].astype(np.float64) for a in arrays)
    group = cell.Hq // cell.Hkv
    function, given = function_of(cell), learned(cell)
    dq, dk, dv = [], 0, 0
    limits = cell.limits(0)
    for head in range(group):
        for begin in range(0, cell.Sq, 512):
            rows = slice(begin, begin + 512)
            s = q[head, rows] @ k[0].T * cell.scale
            s, slope = function[2](s, given, positions(cell, rows)) if function else (s, 1)
            s[np.arange(cell.Sk) >= limits[rows, None]] = -np.inf
            p = np.exp(s - s.max(1, keepdims=True))
            p /= p.sum(1, keepdims=True)
            u = g[head, rows] @ v[0].T
            ds = p * (u - (p * u).sum(1, keepdims=True)) * slope * cell.scale
            dv, dk = dv + p.T @ g[head, rows], dk + ds.T @ q[head, rows]
            if head == 0:
                dq.append(ds @ k[0])
    return np.concatenate(dq), dk, dv


def worst(got, want):
    """The largest relative error in norm."""
    return max(np.linalg.norm(np.asarray(a, np.float64) - b) / np.linalg.norm(b) for a, b in zip(got, want))


class Ours:
    """The function of gradients of a compiled cell."""
    name = "attn-opt"

    def __init__(self, threads, build, target):
        self.threads, self.target = threads, target
        self.compiler = f"{build}/bin/attn-opt"

    def make(self, cell, arrays, folder):
        source = os.path.join(folder, cell.name + ".mlir")
        with open(source, "w") as file:
            file.write(source_of(cell))
        begin = time.monotonic()
        done = subprocess.run([self.compiler, source, "--emit=lib", "-o", source + ".so", "--target=" + self.target], capture_output=True,
                              text=True)
        if done.returncode:
            raise RuntimeError(next(line for line in done.stderr.splitlines() if "error:" in line))
        self.compile_seconds = time.monotonic() - begin
        self.dll = ctypes.CDLL(source + ".so")
        self.dll.kernel_info.restype = ctypes.c_char_p
        info = json.loads(self.dll.kernel_info())
        self.pairs = any(line.startswith("attn.sdpa_grad") and PAIRS.search(line.replace("cpu_schedule", "schedule")) for line in info["schedules"])
        self.schedule = next(line for line in info["schedules"] if line.startswith("attn.sdpa_grad"))
        known = dict(zip("qkv", arrays)) | {"d_out": arrays[3], "learned": learned(cell)}
        shapes = {"q0": cell.B, "q2": cell.Sq, "k2": cell.Sk}
        for function in ("kernel_forward", "kernel_gradient"):
            ports = info["functions"][function]
            for port in ports["results"]:
                shape = [shapes.get(n, n) for n in port["shape"]]
                known[port["name"]] = np.full(shape, np.nan, cells.numpy_type(port["type"]))
            run = self.pack(function, [known[p["name"]] for p in ports["arguments"] + ports["results"]])
            if function == "kernel_forward":
                run()
        self.known = known

        def call():
            run()
            return [known[name] for name in GRADIENTS]
        return call, lambda got: [a[0, 0].astype(np.float64) for a in got]

    def pack(self, function, arrays):
        """A call, with a work space of its own."""
        class Args(ctypes.Structure):
            _fields_ = [("size", ctypes.c_size_t), ("ports", Tensor * len(arrays)), ("call", Call)]

        self.args = args = Args(ctypes.sizeof(Args), tuple(Tensor(a) for a in arrays), Call(threads=self.threads))
        pointer = ctypes.byref(args)
        size_of = getattr(self.dll, function + "_workspace_size")
        size_of.restype = ctypes.c_size_t
        size = size_of(pointer)
        workspace = np.zeros(size + 64, np.uint8)
        args.call.workspace, args.call.workspace_size = (workspace.ctypes.data + 63) // 64 * 64, size
        self.function = getattr(self.dll, function)

        def run(function=self.function, kept=(workspace, arrays)):
            if status := function(pointer):
                raise RuntimeError(f"status {status}")
        return run

    def share_of_items(self, cell, machine, seconds, kind):
        """Percent of the peak by the items' medians."""
        items, bursts, rests = [], [], []
        end = time.monotonic() + seconds
        while len(items) < 4 or (time.monotonic() < end and len(items) < 1000):
            _, of_items, _, rest, of_bursts = machine.items(self.function, ctypes.byref(self.args), self.args, kind)
            items.append(of_items)
            rests.append(rest)
            bursts.extend(of_bursts)
        middle = np.median(np.stack(items[1:]), axis=0).sum() / self.threads + median(rests)
        return 1e-7 * operations(cell) / middle / (median(bursts) * self.threads)


class Torch:
    name = "torch"

    def __init__(self, threads):
        import torch
        self.torch = torch
        torch.set_num_threads(threads)

    def forward(self, cell, q, k, v):
        return self.torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=cell.causal, enable_gqa=cell.Hq != cell.Hkv)

    def make(self, cell, arrays, folder):
        torch = self.torch
        kind = {"f32": torch.float32, "bf16": torch.bfloat16, "f16": torch.float16}[cell.dtype]
        q, k, v, g = (torch.from_numpy(a.astype(np.float32)).to(kind) for a in arrays)
        for a in (q, k, v):
            a.requires_grad_()
        out = self.forward(cell, q, k, v)
        return (lambda: torch.autograd.grad(out, (q, k, v), g, retain_graph=True),
                lambda got: [a[0, 0].double().numpy() for a in got])


class Eager(Torch):
    name = "eager"

    def forward(self, cell, q, k, v):
        torch = self.torch
        if cell.Hq != cell.Hkv:
            k, v = (x.repeat_interleave(cell.Hq // cell.Hkv, 1) for x in (k, v))
        s = q @ k.transpose(-1, -2) * cell.scale
        if cell.causal:
            s = s.masked_fill(torch.ones(cell.Sq, cell.Sk, dtype=torch.bool).triu(1), float("-inf"))
        return torch.softmax(s, -1) @ v


class Jax:
    name = "jax"

    def __init__(self, threads):
        import jax
        self.jax = jax

    def make(self, cell, arrays, folder):
        jax, jnp = self.jax, self.jax.numpy
        q, k, v, g = (jnp.asarray(np.swapaxes(a, 1, 2)) for a in arrays)

        def attention(q, k, v):
            return jax.nn.dot_product_attention(q, k, v, is_causal=cell.causal, implementation="xla")
        _, back = jax.jit(lambda *a: jax.vjp(attention, *a))(q, k, v)
        apply = jax.jit(lambda back, g: back(g))
        return (lambda: jax.block_until_ready(apply(back, g)),
                lambda got: [np.asarray(a[0, :, 0], np.float64) for a in got])


PEERS = (Torch, Eager, Jax)


def prepared(cell, arrays, kinds, folder):
    """What each implementation calls; left out are those that fail or are wrong."""
    want, calls = expected(cell, arrays), {}
    for kind in kinds[:1] if function_of(cell) else kinds:
        if cell.Sq > 2048 and kind.name in ("eager", "jax"):
            continue  # gigabytes of scores
        try:
            call, first_head = kind.make(cell, arrays, folder)
            error = worst(first_head(call()), want)
        except Exception as problem:  # a peer's own errors are of any type
            print(f"{cell.name}: {kind.name} cannot: {str(problem).strip().splitlines()[-1][:150]}")
            continue
        if not error < cells.TOLERANCE[cell.dtype]:
            print(f"{cell.name}: {kind.name} is wrong by {error:.1e}")
            if kind.name == Ours.name:
                sys.exit(1)
            continue
        calls[kind.name] = call
    return calls


def measure(cell, calls, machine, threads, seconds, kind):
    """Of each, in turns: median seconds, and the median share of the peak beside each call. What the neighbours of one thread
    take does not count."""
    times, shares = {name: [] for name in calls}, {name: [] for name in calls}
    clock = time.process_time if threads == 1 else time.perf_counter

    def peak():
        return 1e9 * threads * median(machine.bursts(20 * threads, threads, kind))
    end, before = time.monotonic() + seconds * len(calls), peak()
    while time.monotonic() < end or min(map(len, times.values())) < 3:
        for name, call in calls.items():
            begin = clock()
            call()
            times[name].append(clock() - begin)
            after = peak()
            shares[name].append(200 * operations(cell) / times[name][-1] / (before + after))
            before = after
    return {name: (median(times[name]), median(shares[name])) for name in calls}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cells", default="", metavar="TEXT,..", help="those whose names have one of the texts")
    parser.add_argument("--peers", default=",".join(peer.name for peer in PEERS))
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--target", default="native")
    parser.add_argument("--seconds", type=float, default=1, help="for each implementation")
    parser.add_argument("--build", default=str(ROOT / "build" / "release"), metavar="DIR")
    options = parser.parse_args()
    if options.threads == 1 and "XLA_FLAGS" not in os.environ:
        os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
    os.environ["JAX_PLATFORMS"] = "cpu"
    machine = Machine(f"{options.build}/lib/attn-bench.so")
    ours = Ours(options.threads, options.build, options.target)
    kinds = [ours]
    for peer in PEERS:
        if peer.name in options.peers.split(","):
            try:
                kinds.append(peer(options.threads))
            except ImportError:
                print(f"{peer.name} is not installed")
    print(conditions())
    print(f"\nms and share of the peak; {options.threads} thread{'s' * (options.threads > 1)}, {options.target}\n")
    print(f"| cell | items | {' | '.join(p.name for p in kinds)} |\n|{' --- |' * (2 + len(kinds))}")
    with tempfile.TemporaryDirectory() as folder:
        for cell in chosen_cells():
            if not any(text in cell.name for text in options.cells.split(",")):
                continue
            arrays = [*cells.inputs(cell), cotangent(cell)]
            calls = prepared(cell, arrays, kinds, folder)
            kind = BF16_DOT if ours.pairs else F32_FMA
            if not calls:
                continue
            found = measure(cell, calls, machine, options.threads, options.seconds, kind)
            items = ours.share_of_items(cell, machine, options.seconds, kind)
            shares = ["{:.2f}, {:.1f} %".format(1e3 * found[p.name][0], found[p.name][1]) if p.name in found else "-" for p in kinds]
            print(f"| {cell.name} | {items:.1f} % | {' | '.join(shares)} |", flush=True)


if __name__ == "__main__":
    main()
