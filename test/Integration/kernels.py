# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles a specification with attn-opt and calls it through its C interface."""
import ctypes
import json
import os
import re
import subprocess
import sys
import zlib

import numpy as np

import elements
from foreign import ForeignKernel, is_foreign

MAX_RANK = 6


class Tensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("shape", ctypes.c_int64 * MAX_RANK), ("strides", ctypes.c_int64 * MAX_RANK)]

    @staticmethod
    def of(array):
        t = Tensor(array.ctypes.data if array.size else None)
        for i, (n, s) in enumerate(zip(array.shape, array.strides)):
            t.shape[i], t.strides[i] = n, s // array.itemsize
        return t


PAIRS = re.compile(r"schedule<[^>]*products = ")  # the target has products too


def attn_opt():
    return os.environ.get("ATTN_OPT", "attn-opt")


def effort(text, flags=()):
    """Options of attn-opt by how thoroughly a specification or a model is compiled. With the variable ATTN_TEST_SAMPLE=N one text in N
    is optimized and verified behind every pass; the others, as many as they are for what they compute, need no verifier, and only
    with ATTN_TEST_OPTIMIZED optimization."""
    if zlib.crc32(text if isinstance(text, bytes) else text.encode()) % int(os.environ.get("ATTN_TEST_SAMPLE", "1")) == 0:
        return []
    return ["--verify-each=0", *([] if "-O0" in flags or "ATTN_TEST_OPTIMIZED" in os.environ else ["-O0"])]


def error_scale(source, target, flags):
    """The scale that `elements.tolerance` takes for kernels of a specification: attention in pairs or tiles of bf16 rounds
    its weights to it; products of matrices round nothing."""
    with open(source) as f:
        if "bf16" not in f.read():
            return 0.0
    scheduled = subprocess.run([attn_opt(), source, "--compile-to=scheduled", "--target=" + target, *flags],
                               check=True, capture_output=True, text=True).stdout
    pairs = any(PAIRS.search(line) for line in scheduled.splitlines() if "attn.project " not in line)
    return elements.TYPICAL if pairs else 0.0


class Kernel:
    """A compiled function. Arrays go in and out in the order of the specification."""

    def __init__(self, text, folder, name="kernel", target="native", flags=()):
        self.name, self.text = name, text
        self.source = os.path.join(folder, name + ".mlir")
        library = os.path.join(folder, name + ".so")
        with open(self.source, "w") as f:
            f.write(text)
        subprocess.run([attn_opt(), self.source, "--emit=lib", "-o", library, "--target=" + target, *flags,
                        *effort(text, flags)], check=True)
        self._bind(ctypes.CDLL(library))

    @classmethod
    def of_library(cls, dll, name):
        """One of the functions of a library that is there."""
        kernel = cls.__new__(cls)
        kernel.name = name
        kernel._bind(dll)
        return kernel

    def _bind(self, dll):
        self.dll = dll
        self.run = getattr(dll, self.name)
        self.run.restype = ctypes.c_int32
        self.strerror = getattr(dll, self.name + "_strerror")
        self.strerror.restype = ctypes.c_char_p

    def _args(self, inputs, outputs, threads):
        ports = len(inputs) + len(outputs)

        class Args(ctypes.Structure):
            _fields_ = [("size", ctypes.c_size_t), ("ports", Tensor * ports), ("workspace", ctypes.c_void_p),
                        ("workspace_size", ctypes.c_size_t), ("parallel_for", ctypes.c_void_p),
                        ("context", ctypes.c_void_p), ("threads", ctypes.c_int32)]

        args = Args(size=ctypes.sizeof(Args), threads=threads)
        for i, array in enumerate([*inputs, *outputs]):
            args.ports[i] = Tensor.of(array)
        return args

    def __call__(self, inputs, outputs, threads=1):
        args = self._args(inputs, outputs, threads)
        status = self.run(ctypes.byref(args))
        if status:
            raise RuntimeError(self.strerror(status).decode())
        return outputs

    def flops(self, inputs, outputs):
        """What the library says that a call computes."""
        count = getattr(self.dll, self.name + "_flops")
        count.restype = ctypes.c_double
        return count(ctypes.byref(self._args(inputs, outputs, 1)))


def load_kernel(text, folder, target="native", flags=()):
    """The kernel, if need be in an emulator, and its `error_scale`."""
    if is_foreign(target):
        kernel = ForeignKernel(text, folder, attn_opt(), target=target, flags=flags)
    else:
        kernel = Kernel(text, folder, target=target, flags=flags)
    kernel.error_scale = error_scale(kernel.source, target, flags)
    return kernel


def reference(source, inputs, count, folder, entry=None):
    """The results of the project's own scalar evaluation of the same file, or of one of its functions."""
    names = []
    for i, array in enumerate(inputs):
        names.append(os.path.join(folder, f"in{i}.npy"))
        elements.save(names[-1], array)
    outs = [os.path.join(folder, f"ref{i}.npy") for i in range(count)]
    command = [os.environ.get("ATTN_REFERENCE", "attn-reference"), source, *names]
    command += ["--entry=" + entry] if entry else []
    for out in outs:
        command += ["-o", out]
    subprocess.run(command, check=True)
    return [elements.load(out) for out in outs]


def compare(what, got, want, rtol=1e-5, atol=1e-6):
    """Raises unless every element agrees; NaN meets NaN, infinities their like."""
    got, want = elements.numbers(np.asarray(got)), elements.numbers(np.asarray(want))
    if got.shape != want.shape:
        raise AssertionError(f"{what}: shape {got.shape}, expected {want.shape}")
    if want.size == 0:
        raise AssertionError(f"{what}: nothing to compare")
    with np.errstate(invalid="ignore"):
        same = (np.isnan(got) & np.isnan(want)) | (got == want)
        near = np.isfinite(got) & np.isfinite(want) & (np.abs(got - want) <= atol + rtol * np.abs(want))
        bad = ~(same | near)
    if bad.any():
        i = tuple(np.argwhere(bad)[0])
        raise AssertionError(f"{what}: {bad.sum()} of {want.size} differ, first at {i}: {got[i]!r}, expected {want[i]!r}")
    with np.errstate(invalid="ignore"):
        finite = np.isfinite(want) & np.isfinite(got)
        return float(np.max(np.abs(got - want)[finite], initial=0.0))


def visible(mask, shape, operands):
    """The boolean matrix of a mask given as [(term, parameter)...], all of which must hold."""
    batch, heads, queries, keys = shape
    q, k = np.arange(queries)[:, None], np.arange(keys)[None, :]
    seen = np.ones(shape, bool)
    live = np.full(batch, keys)
    for term, value in mask:
        if term == "key_length":
            live = operands[value]
    for term, value in mask:
        for b in range(batch):
            if term == "causal":
                start = {"top_left": 0, "bottom_right": live[b] - queries}.get(value, value)
                if isinstance(value, tuple):  # ("operand", name)
                    start = operands[value[1]][b]
                seen[b] &= k <= q + start
            elif term == "key_length":
                seen[b] &= k < operands[value][b]
        if term == "allowed":
            seen &= np.broadcast_to(operands[value], shape)
        if term == "not_causal":
            seen &= ~(k <= q)
    return seen


def scores_of(q, k):
    """q k^T in f64, (batch, heads, queries, keys)."""
    return q @ k.swapaxes(-1, -2)


@np.errstate(all="ignore")
def weigh(weights, v):
    """weights v in f64, where a weight of 0 leaves its key out, even one that is not finite."""
    finite = np.isfinite(v)
    sums = weights @ np.where(finite, v, 0)
    # The others for themselves, as far as any query sees them.
    at = np.flatnonzero(((weights != 0).any(-2) & ~finite.all(-1)).any((0, 1)))
    if at.size:
        w, x = weights[..., at, None], np.where(finite, 0, v)[:, :, None, at]
        sums += np.where(w == 0, 0, w * x).sum(-2)
    return sums


def attention(q, k, v, scale, seen, bias=None, modify=None, sinks=None):
    """Attention by its definition, in f64: out, lse, weights, scaled scores. `modify(s, b, h, q, k)` is the score
    function on arrays, `sinks` one more score per head."""
    q, k, v = (elements.numbers(x) for x in (q, k, v))
    group = q.shape[1] // k.shape[1]
    k, v = np.repeat(k, group, axis=1), np.repeat(v, group, axis=1)
    with np.errstate(all="ignore"):
        scores = scores_of(q, k) * scale
        final = scores
        if modify is not None:
            final = modify(scores, *np.meshgrid(*map(np.arange, scores.shape), indexing="ij", sparse=True))
        final = final if bias is None else final + bias.astype(np.float64)
        final = np.where(seen, final, -np.inf)
        if bias is not None:
            final = np.where(np.broadcast_to(bias == -np.inf, final.shape), -np.inf, final)
        top = np.max(final, axis=-1, keepdims=True, initial=-np.inf)
        sink = np.full(final.shape[1], -np.inf) if sinks is None else sinks.astype(np.float64)
        sink = sink[:, None, None]
        top = np.maximum(top, sink)
        shift = np.where(top == -np.inf, 0, top)
        weights = np.where(final == -np.inf, 0, np.exp(final - shift))
        total = weights.sum(-1, keepdims=True) + np.where(sink == -np.inf, 0, np.where(sink == shift, 1, np.exp(sink - shift)))
        weights = np.where(total == 0, 0, weights / np.where(total == 0, 1, total))
        lse = np.where(total[..., 0] == 0, -np.inf, np.log(np.where(total == 0, 1, total))[..., 0] + shift[..., 0])
        return weigh(weights, v), lse, weights, scores


def load_cases(path):
    with open(path) as f:
        return json.load(f)["cases"]


def finish(tried, failures, remark=""):
    """Ends a program: says what failed and how many passed. It succeeds only if something was tried."""
    for failure in failures:
        print("FAILED", failure)
    print(f"{tried - len(failures)} passed, {len(failures)} failed{remark}")
    sys.exit(1 if failures or not tried else 0)
