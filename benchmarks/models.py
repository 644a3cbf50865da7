# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whole models as torch exports them, compiled by attn-opt, beside the peers.

  python benchmarks/models.py                          everything that is installed, one thread
  python benchmarks/models.py --threads 2 --models encoder-s512,decode --seconds 3

encoder: 6 layers, hidden 384, 12 heads, 1536 features between, GELU, LayerNorm behind each half; batch and length at run time.
decoder: 4 layers, hidden 1024, 16 heads that share 4, 2816 features between, SwiGLU, RMSNorm, rotary embedding, causal; a prefill of
1024 tokens, and one token behind 1024 that are cached. Weights are random, f32.

Each model is exported once (opset 23), and every implementation gets the same inputs. Results are compared with torch in float64 first;
calls of all implementations are made in turns. Printed: the median time, and what share of the roof that is. The roof is the machine's
peak of multiply-adds for the products' operations, or plain reads of weights and cache for decoding, both measured in the same turns.
Needs torch, onnx, onnxscript, and the package in ../python; onnxruntime and openvino if they are to be compared."""
import argparse
import logging
import os
import pathlib
import sys
import tempfile
import time

import numpy as np

from machine import Machine, conditions, median

try:
    import torch
    from torch import nn
    from torch.nn import functional
except ImportError:
    sys.exit("benchmarks/models.py: needs torch, onnx and onnxscript")

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "python"))
import attn  # noqa: E402 (the package of this folder's repository)


def heads(x, count):
    return x.view(x.shape[0], x.shape[1], count, -1).transpose(1, 2)


class EncoderLayer(nn.Module):
    def __init__(self, hidden, count, between):
        super().__init__()
        self.count = count
        self.q, self.k, self.v, self.o = (nn.Linear(hidden, hidden) for _ in range(4))
        self.up, self.down = nn.Linear(hidden, between), nn.Linear(between, hidden)
        self.first, self.second = nn.LayerNorm(hidden), nn.LayerNorm(hidden)

    def forward(self, x):
        q, k, v = (heads(f(x), self.count) for f in (self.q, self.k, self.v))
        context = functional.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(x.shape)
        x = self.first(x + self.o(context))
        return self.second(x + self.down(functional.gelu(self.up(x))))


class Encoder(nn.Module):
    def __init__(self, layers=6, hidden=384, count=12, between=1536):
        super().__init__()
        self.layers = nn.ModuleList([EncoderLayer(hidden, count, between) for _ in range(layers)])

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


def rotate(x, cos, sin):
    a, b = x.chunk(2, -1)
    return torch.cat((a * cos - b * sin, b * cos + a * sin), -1)


class DecoderLayer(nn.Module):
    def __init__(self, hidden, count, shared, between):
        super().__init__()
        self.count, self.shared, dim = count, shared, hidden // count
        self.q, self.o = nn.Linear(hidden, hidden, bias=False), nn.Linear(hidden, hidden, bias=False)
        self.k, self.v = (nn.Linear(hidden, shared * dim, bias=False) for _ in range(2))
        self.gate, self.up = (nn.Linear(hidden, between, bias=False) for _ in range(2))
        self.down = nn.Linear(between, hidden, bias=False)
        self.first, self.second = nn.RMSNorm(hidden, 1e-6), nn.RMSNorm(hidden, 1e-6)

    def forward(self, x, cos, sin, past=None):
        y = self.first(x)
        q, k, v = heads(self.q(y), self.count), heads(self.k(y), self.shared), heads(self.v(y), self.shared)
        q, k = rotate(q, cos, sin), rotate(k, cos, sin)
        if past is not None:
            k, v = torch.cat((past[0], k), 2), torch.cat((past[1], v), 2)
        context = functional.scaled_dot_product_attention(q, k, v, is_causal=past is None, enable_gqa=True)
        x = x + self.o(context.transpose(1, 2).reshape(x.shape))
        y = self.second(x)
        return x + self.down(functional.silu(self.gate(y)) * self.up(y)), k, v


class Decoder(nn.Module):
    """Without a cache: the hidden states. With one: those of the new tokens, and the longer cache."""

    def __init__(self, layers=4, hidden=1024, count=16, shared=4, between=2816, longest=4096):
        super().__init__()
        self.layers = nn.ModuleList([DecoderLayer(hidden, count, shared, between) for _ in range(layers)])
        angles = torch.outer(torch.arange(longest), 10000.0 ** -torch.linspace(0, 1, hidden // count // 2 + 1)[:-1])
        self.register_buffer("cos", angles.cos())
        self.register_buffer("sin", angles.sin())

    def forward(self, x, *cache):
        begin = cache[0].shape[2] if cache else 0
        cos, sin = (t[begin:begin + x.shape[1]] for t in (self.cos, self.sin))
        longer = []
        for i, layer in enumerate(self.layers):
            x, k, v = layer(x, cos, sin, cache[2 * i:2 * i + 2] if cache else None)
            longer += [k, v]
        return (x, *longer) if cache else x


class Model:
    """One model with inputs; `reads` counts bytes where memory is the roof."""

    def __init__(self, name, module, inputs, flops, reads=0, dynamic=None):
        self.name, self.module, self.inputs = name, module.eval(), inputs
        self.flops, self.reads, self.dynamic = flops, reads, dynamic
        self.names = [f"x{i}" for i in range(len(inputs))]

    def export(self, folder):
        path = folder / f"{self.name.replace('-', '_')}.onnx"
        program = torch.onnx.export(self.module, tuple(self.inputs), dynamo=True, opset_version=23, input_names=self.names,
                                    dynamic_shapes=self.dynamic, verbose=False)
        program.save(str(path), external_data=False)
        return path

    def expected(self):
        import copy
        exact = copy.deepcopy(self.module).double()(*(x.double() for x in self.inputs))
        return (exact[0] if isinstance(exact, tuple) else exact).numpy()


def parameters(module):
    return sum(p.numel() for p in module.parameters() if p.ndim == 2)


def models():
    torch.manual_seed(0)
    encoder = Encoder()
    for length in (128, 512, 2048):
        flops = 2 * length * parameters(encoder) + 6 * 4 * length * length * 384
        dims = {0: torch.export.Dim("batch"), 1: torch.export.Dim("seq")}
        yield Model(f"encoder-s{length}", encoder, [torch.randn(1, length, 384)], flops, dynamic=(dims,))
    decoder = Decoder()
    flops = 2 * 1024 * parameters(decoder) + 4 * 2 * 1024 * 1024 * 1024
    yield Model("prefill-s1024", decoder, [torch.randn(1, 1024, 1024)], flops)
    cache = [torch.randn(1, 4, 1024, 64) for _ in range(8)]
    yield Model("decode-p1024", decoder, [torch.randn(1, 1, 1024), *cache], 2 * parameters(decoder),
                reads=4 * (parameters(decoder) + sum(c.numel() for c in cache)))


class Ours:
    name = "attn"

    def __init__(self, threads):
        self.threads = threads

    def make(self, model, path):
        begin = time.perf_counter()
        kernel = attn.compile(path)
        print(f"{model.name}: compiled or found in {time.perf_counter() - begin:.1f} s, library {os.path.getsize(kernel.library) / 2**20:.1f} MiB, "
              f"weights {4 * sum(p.numel() for p in model.module.parameters()) / 2**20:.1f} MiB")
        arrays = [x.numpy() for x in model.inputs]
        return lambda: kernel(*arrays, threads=self.threads)


class Torch:
    name = "torch"

    def __init__(self, threads):
        torch.set_num_threads(threads)
        torch.set_grad_enabled(False)

    def make(self, model, path):
        def run():
            with torch.inference_mode():
                return model.module(*model.inputs)
        return run


class OnnxRuntime:
    name = "onnxruntime"

    def __init__(self, threads):
        import onnxruntime
        self.runtime, self.threads = onnxruntime, threads

    def make(self, model, path):
        options = self.runtime.SessionOptions()
        options.intra_op_num_threads, options.log_severity_level = self.threads, 4
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        session = self.runtime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
        feeds = {n: x.numpy() for n, x in zip(model.names, model.inputs)}
        return lambda: session.run(None, feeds)


class OpenVino:
    name = "openvino"

    def __init__(self, threads):
        import openvino
        self.core, self.threads = openvino.Core(), threads

    def make(self, model, path):
        read = self.core.read_model(str(path))
        read.reshape({n: list(x.shape) for n, x in zip(model.names, model.inputs)})
        hints = {"INFERENCE_NUM_THREADS": self.threads, "INFERENCE_PRECISION_HINT": "f32", "PERFORMANCE_HINT": "LATENCY"}
        request = self.core.compile_model(read, "CPU", hints).create_infer_request()
        feeds = {n: x.numpy() for n, x in zip(model.names, model.inputs)}
        return lambda: [request.infer(feeds)[0]]


def first(result):
    result = result[0] if isinstance(result, (tuple, list)) else result
    return result.numpy() if isinstance(result, torch.Tensor) else np.asarray(result)


def prepared(model, path, peers):
    """What each implementation calls, those left out that fail or are wrong."""
    want, calls = model.expected(), {}
    for peer in peers:
        try:
            call = peer.make(model, path)
            worst = np.abs(first(call()) - want).max()
        except Exception as error:  # a peer's own errors are of any type
            print(f"{model.name}: {peer.name} cannot: {str(error).strip().splitlines()[-1][:150]}")
            continue
        if worst > 1e-3:
            print(f"{model.name}: {peer.name} is wrong by {worst:.1e}")
            continue
        calls[peer.name] = call
    return calls


def measure(model, calls, machine, threads, seconds):
    """Median seconds of each, and of the roof, in turns."""
    times, roofs = {name: [] for name in calls}, []
    half = np.ones(max(1, model.reads // 16))
    other = half.copy()
    end = time.monotonic() + seconds * (len(calls) + 1)
    while time.monotonic() < end or len(roofs) < 5:
        for name, call in calls.items():
            begin = time.perf_counter()
            call()
            times[name].append(time.perf_counter() - begin)
        if model.reads:
            roofs.append(machine.read(half, other, threads))
        else:
            roofs.append(model.flops / (median(machine.bursts(100 * threads, threads)) * threads * 1e9))
    return {name: median(t) for name, t in times.items()}, median(roofs)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", default="", metavar="TEXT,..", help="those whose names have one of the texts")
    parser.add_argument("--peers", default="torch,onnxruntime,openvino")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=5, help="for each implementation")
    parser.add_argument("--build", default=str(ROOT / "build" / "release"), metavar="DIR")
    options = parser.parse_args()
    os.environ["ATTN_OPT"] = f"{options.build}/bin/attn-opt"
    machine = Machine(f"{options.build}/lib/attn-bench.so")
    peers = [Ours(options.threads)]
    for kind in (Torch, OnnxRuntime, OpenVino):
        if kind.name in options.peers.split(","):
            try:
                peers.append(kind(options.threads))
            except ImportError:
                print(f"{kind.name} is not installed")
    torch.set_grad_enabled(False)
    logging.disable(logging.WARNING)  # of the exporter, on packages that are not needed
    print(conditions())
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for model in models():
            if not any(text in model.name for text in options.models.split(",")):
                continue
            calls = prepared(model, model.export(pathlib.Path(folder)), peers)
            times, roof = measure(model, calls, machine, options.threads, options.seconds)
            cells = [f"{times[p.name] * 1e3:.2f}, {100 * roof / times[p.name]:.1f} %" if p.name in times else "-" for p in peers]
            rows.append(f"| {model.name} | {'read' if model.reads else 'peak'} | {' | '.join(cells)} |")
    print(f"\nms and share of the roof, {options.threads} thread{'s' * (options.threads > 1)}\n")
    print(f"| model | roof | {' | '.join(p.name for p in peers)} |\n|{' --- |' * (2 + len(peers))}")
    print("\n".join(rows))


if __name__ == "__main__":
    main()
