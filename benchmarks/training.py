# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A training step, forward function and gradient, of a decoder of 4 layers beside PyTorch, eager and compiled, in one run.

  python benchmarks/training.py --threads 1 --lengths 128,512
  python benchmarks/training.py --peers none

A layer is: layer norm, causal attention of 6 heads of 64, output projection, residual; layer norm, 384 x 1536 with GELU, 1536 x 384,
residual. The loss is half of the mean square of the result; all weights and the input are learned, the optimizer is not timed. Our
gradients are compared with PyTorch's in f64 first. Steps of all are made in turns. Memory is what the peak of a process of its own, which
makes three steps, is above what it had with weights and input; compiling is not counted."""
import argparse
import ctypes
import gc
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import numpy as np

from gradients import Ours
from machine import F32_FMA, Machine, conditions, median

ROOT = pathlib.Path(__file__).resolve().parent.parent
LAYERS, WIDTH, HEADS, INNER = 4, 384, 6, 1536
SHAPES = {"g1": (WIDTH,), "b1": (WIDTH,), "wq": (WIDTH, WIDTH), "wk": (WIDTH, WIDTH), "wv": (WIDTH, WIDTH), "wo": (WIDTH, WIDTH),
          "g2": (WIDTH,), "b2": (WIDTH,), "wi": (WIDTH, INNER), "wj": (INNER, WIDTH)}
TOLERANCE = 2e-5


def tensor(shape):
    return f"tensor<{'x'.join(map(str, shape))}xf32>"


def layer_text(i, x):
    """Lines, and the name of the result."""
    rows, inner, heads = tensor(("?", "?", WIDTH)), tensor(("?", "?", INNER)), tensor(("?", HEADS, "?", WIDTH // HEADS))
    scores = tensor(("?", HEADS, "?", "?"))
    name = lambda n: f"%{n}_{i}"
    project = lambda out, x, w, a, b: f"{name(out)} = attn.project {x}, {name(w)} : ({a}, {tensor(SHAPES[w])}) -> {b}"
    norm = lambda out, x, g, b: f"{name(out)} = attn.layer_norm {x}, {name(g)}, {name(b)} eps 1.0e-5 : {rows}, {tensor((WIDTH,))}, {tensor((WIDTH,))}"
    lines = [norm("n", x, "g1", "b1")]
    for n in "qkv":
        lines += [project("x" + n, name("n"), "w" + n, rows, rows), f"{name(n)} = attn.split_heads {name('x' + n)} into {HEADS} : {rows} -> {heads}"]
    lines += [
        f"{name('s')} = attn.scores {name('q')}, {name('k')} : ({heads}, {heads}) -> {scores}",
        f"{name('c')} = attn.scale {name('s')} by {(WIDTH // HEADS) ** -0.5!r} : {scores}",
        f"{name('m')} = attn.mask {name('c')} where causal(top_left) : {scores}",
        f"{name('w')} = attn.softmax {name('m')} : {scores}",
        f"{name('o')} = attn.context {name('w')}, {name('v')} : ({scores}, {heads}) -> {heads}",
        f"{name('h')} = attn.merge_heads {name('o')} : {heads} -> {rows}",
        project("p", name("h"), "wo", rows, rows), f"{name('a')} = arith.addf {x}, {name('p')} : {rows}",
        norm("nn", name("a"), "g2", "b2"), project("u", name("nn"), "wi", rows, inner),
        f"{name('r')} = arith.mulf {name('u')}, %root : {inner}", f"{name('e')} = math.erf {name('r')} : {inner}",
        f"{name('f')} = arith.addf {name('e')}, %one : {inner}", f"{name('t')} = arith.mulf {name('f')}, {name('u')} : {inner}",
        f"{name('y')} = arith.mulf {name('t')}, %half : {inner}", project("z", name("y"), "wj", inner, rows),
        f"{name('out')} = arith.addf {name('a')}, {name('z')} : {rows}"]
    return lines, name("out")


def specification():
    rows, inner = tensor(("?", "?", WIDTH)), tensor(("?", "?", INNER))
    arguments = [f"%x: {rows} {{attn.gradient}}"]
    arguments += [f"%{n}_{i}: {tensor(s)} {{attn.gradient}}" for i in range(LAYERS) for n, s in SHAPES.items()]
    lines = ["%zero = arith.constant 0 : index", "%first = arith.constant 1 : index", f"%batch = tensor.dim %x, %zero : {rows}",
             f"%length = tensor.dim %x, %first : {rows}"]
    for name, value in (("root", 0.5**0.5), ("one", 1.0), ("half", 0.5)):
        lines += [f"%{name}_n = arith.constant {value!r} : f32", f"%{name} = tensor.splat %{name}_n[%batch, %length] : {inner}"]
    x = "%x"
    for i in range(LAYERS):
        more, x = layer_text(i, x)
        lines += more
    body = "\n  ".join(lines)
    return f"func.func @kernel({', '.join(arguments)}) -> ({rows} {{attn.name = \"out\"}}) {{\n  {body}\n  return {x} : {rows}\n}}\n"


def weights(rng):
    made = {}
    for i in range(LAYERS):
        for n, s in SHAPES.items():
            a = rng.standard_normal(s) / np.sqrt(s[0]) if len(s) == 2 else 0.1 * rng.standard_normal(s) + (n[0] == "g")
            made[f"{n}_{i}"] = a.astype(np.float32)
    return made


class Compiled:
    """Our two functions, with work spaces of their own."""
    name = "attn-opt"

    def __init__(self, arrays, threads, options):
        self.arrays = arrays
        self.ours = ours = Ours(threads, options.build, options.target)
        with tempfile.TemporaryDirectory() as folder:
            source = os.path.join(folder, "training.mlir")
            pathlib.Path(source).write_text(specification())
            begin = time.monotonic()
            subprocess.run([ours.compiler, source, "--emit=lib", "-o", source + ".so", "--target=" + options.target], check=True)
            self.seconds = time.monotonic() - begin
            ours.dll = ctypes.CDLL(source + ".so")
        ours.dll.kernel_info.restype = ctypes.c_char_p
        info = json.loads(ours.dll.kernel_info())
        known, self.calls = dict(arrays), []
        shapes = {"x0": arrays["x"].shape[0], "x1": arrays["x"].shape[1]}
        known["d_out"] = np.zeros_like(arrays["x"])
        for function in ("kernel_forward", "kernel_gradient"):
            ports = info["functions"][function]
            for port in ports["results"]:
                known[port["name"]] = np.zeros([shapes.get(n, n) for n in port["shape"]], np.float32)
            self.calls.append(ours.pack(function, [known[p["name"]] for p in ports["arguments"] + ports["results"]]))
        self.known = known

    def step(self):
        self.calls[0]()
        np.divide(self.known["out"], self.known["out"].size, out=self.known["d_out"])
        self.calls[1]()

    def gradients(self):
        return {n: self.known["d_" + n] for n in self.arrays}


class Torch:
    name = "torch"

    def __init__(self, arrays, threads, options, kind=None):
        import torch
        self.torch = torch
        torch.set_num_threads(threads)
        self.leaves = {n: torch.from_numpy(a).to(kind or torch.float32).requires_grad_() for n, a in arrays.items()}
        self.run = self.forward

    def forward(self, p):
        F, x = self.torch.nn.functional, p["x"]
        split = lambda t: t.unflatten(-1, (HEADS, -1)).transpose(1, 2)
        for i in range(LAYERS):
            w = {n: p[f"{n}_{i}"] for n in SHAPES}
            n = F.layer_norm(x, (WIDTH,), w["g1"], w["b1"])
            q, k, v = (split(n @ w["w" + c]) for c in "qkv")
            h = F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).flatten(2)
            x = x + h @ w["wo"]
            x = x + F.gelu(F.layer_norm(x, (WIDTH,), w["g2"], w["b2"]) @ w["wi"]) @ w["wj"]
        return x

    def step(self):
        for leaf in self.leaves.values():
            leaf.grad = None
        (0.5 * self.run(self.leaves).square().mean()).backward()

    def gradients(self):
        return {n: leaf.grad.numpy() for n, leaf in self.leaves.items()}


class TorchCompiled(Torch):
    name = "torch.compile"

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.run = self.torch.compile(self.forward)


KINDS = (Compiled, Torch, TorchCompiled)


def inputs(batch, length):
    rng = np.random.default_rng(0)
    return {"x": rng.standard_normal((batch, length, WIDTH)).astype(np.float32), **weights(rng)}


def check(steps, arrays):
    """Gradients beside those of PyTorch in f64."""
    import torch
    exact = Torch(arrays, 1, None, torch.float64)
    exact.step()
    want = exact.gradients()
    for step in steps:
        step.step()
        got = step.gradients()
        worst = max(np.linalg.norm(got[n] - want[n]) / np.linalg.norm(want[n]) for n in want)
        print(f"{step.name}: largest relative error of a gradient {worst:.1e}")
        if not worst < TOLERANCE:
            sys.exit(f"{step.name} is wrong")


def operations(batch, length):
    """Of the products, three times those of the forward function."""
    rows = batch * length
    products = sum(2 * rows * s[0] * s[1] for s in SHAPES.values() if len(s) == 2)
    pairs = batch * HEADS * length * (length + 1) // 2
    return LAYERS * (3 * products + 14 * pairs * (WIDTH // HEADS))


def peak_memory(kind, batch, length, options):
    """MiB in a process of its own."""
    command = [sys.executable, __file__, "--child", kind.name, "--threads", str(options.threads), "--batch", str(batch), "--lengths",
               str(length), "--build", options.build, "--target", options.target]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()[-1])


def child(options):
    kind = next(k for k in KINDS if k.name == options.child)
    arrays = inputs(options.batch, int(options.lengths))
    kind(arrays, options.threads, options).step()  # compiles, and loads libraries
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")  # the peak begins anew
    before = int(next(line for line in open("/proc/self/status") if line.startswith("VmRSS")).split()[1])
    step = kind(arrays, options.threads, options)
    for _ in range(3):
        step.step()
    after = int(next(line for line in open("/proc/self/status") if line.startswith("VmHWM")).split()[1])
    print((after - before) / 1024)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lengths", default="128,512")
    parser.add_argument("--batch", type=int, default=4)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--peers", default=",".join(k.name for k in KINDS[1:]))
    parser.add_argument("--target", default="native")
    parser.add_argument("--seconds", type=float, default=3, help="for each implementation")
    parser.add_argument("--build", default=str(ROOT / "build" / "release"), metavar="DIR")
    parser.add_argument("--no-memory", action="store_true")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        return child(options)
    machine = Machine(f"{options.build}/lib/attn-bench.so")
    kinds = [Compiled] + [k for k in KINDS[1:] if k.name in options.peers.split(",")]
    print(conditions())
    for length in map(int, options.lengths.split(",")):
        arrays = inputs(options.batch, length)
        steps = [kind(arrays, options.threads, options) for kind in kinds]
        if len(steps) > 1:
            check(steps, arrays)
        peak = lambda: 1e9 * options.threads * median(machine.bursts(20 * options.threads, options.threads, F32_FMA))
        times, shares = {s.name: [] for s in steps}, {s.name: [] for s in steps}
        end, before = time.monotonic() + options.seconds * len(steps), peak()
        while time.monotonic() < end or min(map(len, times.values())) < 3:
            for step in steps:
                begin = time.perf_counter()
                step.step()
                times[step.name].append(time.perf_counter() - begin)
                after = peak()
                shares[step.name].append(200 * operations(options.batch, length) / times[step.name][-1] / (before + after))
                before = after
        for kind, step in zip(kinds, steps):
            memory = "" if options.no_memory else f", {peak_memory(kind, options.batch, length, options):.0f} MiB"
            print(f"{options.batch} x {length}, {options.threads} thread(s), {step.name}: {1e3 * median(times[step.name]):.1f} ms, "
                  f"{median(shares[step.name]):.1f} % of the peak{memory}", flush=True)
        print(f"compiling took {steps[0].seconds:.1f} s")


if __name__ == "__main__":
    main()
