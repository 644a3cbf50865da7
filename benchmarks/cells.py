# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What is measured: shapes, masks and types, their inputs, and float64 results of some rows."""
import dataclasses
import math
import zlib

import numpy as np

BYTES = {"f64": 8, "f32": 4, "f16": 2, "bf16": 2}
# Largest error of a right result, relative to the largest expected value.
TOLERANCE = {"f64": 1e-12, "f32": 2e-5, "f16": 4e-3, "bf16": 3e-2}


@dataclasses.dataclass(frozen=True)
class Cell:
    """One attention: query (B, Hq, Sq, D), key and value (B, Hkv, Sk, D). Causal masks are aligned at the bottom right."""
    name: str
    B: int
    Hq: int
    Hkv: int
    Sq: int
    Sk: int
    D: int
    dtype: str = "f32"
    causal: bool = False
    key_lengths: tuple = ()
    layout: str = "bhsd"

    @property
    def decode(self):
        return self.Sq == 1

    @property
    def scale(self):
        return 1 / math.sqrt(self.D)

    def limits(self, b):
        """Per query of batch entry b, the number of keys that it sees."""
        end = self.key_lengths[b] if self.key_lengths else self.Sk
        if not self.causal:
            return np.full(self.Sq, end)
        return np.minimum(end, np.arange(self.Sq) + self.Sk - self.Sq + 1)

    @property
    def flops(self):
        """What the result needs: visible pairs only."""
        pairs = sum(int(self.limits(b).sum()) for b in range(self.B))
        return 4.0 * self.Hq * pairs * self.D

    @property
    def key_bytes(self):
        """Bytes of the keys, and as many of the values."""
        return self.B * self.Hkv * self.Sk * self.D * BYTES[self.dtype]


def numpy_type(dtype):
    if dtype == "bf16":
        import ml_dtypes
        return np.dtype(ml_dtypes.bfloat16)
    return np.dtype({"f64": np.float64, "f32": np.float32, "f16": np.float16}[dtype])


def placed(cell, array):
    """A copy of (B, H, S, D) as the cell's layout says that begins at a multiple of 64 bytes, as the allocators of tensor libraries
    give it and NumPy's does not."""
    memory = np.empty(array.nbytes + 64, np.uint8)
    begin = -memory.ctypes.data % 64
    order = (0, 2, 1, 3) if cell.layout == "bshd" else (0, 1, 2, 3)
    copy = memory[begin:begin + array.nbytes].view(array.dtype).reshape([array.shape[i] for i in order]).transpose(order)
    copy[...] = array
    return copy


def inputs(cell):
    """q, k, v as (B, H, S, D): normal numbers, the same in every process."""
    key = repr((cell.B, cell.Hq, cell.Hkv, cell.Sq, cell.Sk, cell.D))
    random = np.random.default_rng(zlib.crc32(key.encode()))
    return [placed(cell, random.standard_normal((cell.B, heads, length, cell.D), dtype=np.float32).astype(numpy_type(cell.dtype)))
            for heads, length in ((cell.Hq, cell.Sq), (cell.Hkv, cell.Sk), (cell.Hkv, cell.Sk))]


def mask(cell):
    """Booleans that broadcast to (B, Hq, Sq, Sk), or None where every query sees every key."""
    if not cell.causal and not cell.key_lengths:
        return None
    limits = np.stack([cell.limits(b) for b in range(cell.B if cell.key_lengths else 1)])
    return np.arange(cell.Sk) < limits[:, None, :, None]


def sampled_rows(cell):
    """Queries whose results are checked, in every head: the first, the last, and random ones."""
    count = max(2, 512 // (cell.B * cell.Hq))
    random = np.random.default_rng(7).integers(0, cell.Sq, count)
    return np.unique([0, cell.Sq - 1, *random])


def expected(cell, arrays, rows):
    """The results of `rows` in float64, (B, Hq, rows, D)."""
    q, k, v = arrays
    out = np.empty((cell.B, cell.Hq, len(rows), cell.D))
    for b in range(cell.B):
        limits = cell.limits(b)[rows]
        for h in range(cell.Hkv):
            group = slice(h * cell.Hq // cell.Hkv, (h + 1) * cell.Hq // cell.Hkv)
            keys, values = k[b, h].astype(np.float64), v[b, h].astype(np.float64)
            scores = q[b, group][:, rows].astype(np.float64) @ keys.T * cell.scale
            scores[:, np.arange(cell.Sk) >= limits[:, None]] = -np.inf
            scores = np.exp(scores - scores.max(-1, keepdims=True))
            out[b, group] = scores @ values / scores.sum(-1, keepdims=True)
    return out


def error(cell, arrays, got):
    """The largest error of the sampled rows, relative to the largest expected value; NaN counts as infinite."""
    if got.shape != (cell.B, cell.Hq, cell.Sq, cell.D):
        return math.inf
    rows = sampled_rows(cell)
    want = expected(cell, arrays, rows)
    worst = np.max(np.abs(got[:, :, rows].astype(np.float64) - want)) / np.max(np.abs(want))
    return float(worst) if np.isfinite(worst) else math.inf


def square(name, heads, length, dim, **more):
    return Cell(name, 1, heads, heads, length, length, dim, **more)


def prefill():
    for length, heads in ((512, 8), (2048, 4), (8192, 2)):
        for dim in (64, 128):
            yield square(f"full-s{length}-d{dim}", heads, length, dim)
            yield square(f"causal-s{length}-d{dim}", heads, length, dim, causal=True)
    for dim in (32, 40, 72, 80, 96, 192, 256):
        yield square(f"full-s2048-d{dim}", 4, 2048, dim)
    for dtype in ("bf16", "f16"):
        for dim in (64, 128):
            yield square(f"full-s2048-d{dim}-{dtype}", 4, 2048, dim, dtype=dtype)
            yield square(f"causal-s2048-d{dim}-{dtype}", 4, 2048, dim, dtype=dtype, causal=True)
    yield square("full-s2048-d64-f64", 4, 2048, 64, dtype="f64")
    yield square("full-s2048-d64-bshd", 16, 2048, 64, layout="bshd")
    yield square("short-h96-s128-d64", 96, 128, 64)
    yield square("short-h96-s128-d64-pad100", 96, 128, 64, key_lengths=(100,))


def decode():
    for length in (2048, 16384):
        for dtype in ("f32", "f16", "bf16"):
            suffix = "" if dtype == "f32" else "-" + dtype
            yield Cell(f"decode-g1-s{length}-d128{suffix}", 1, 8, 8, 1, length, 128, dtype=dtype)
            yield Cell(f"decode-g8-s{length}-d128{suffix}", 1, 32, 4, 1, length, 128, dtype=dtype)


def others():
    for dtype in ("f32", "bf16", "f16"):
        suffix = "" if dtype == "f32" else "-" + dtype
        yield Cell(f"bert-b8-s128-padded{suffix}", 8, 12, 12, 128, 128, 64, dtype=dtype,
                   key_lengths=(128, 120, 96, 77, 64, 50, 33, 17))
    yield Cell("gqa-32/8-s1024-causal", 1, 32, 8, 1024, 1024, 128, causal=True)
    yield Cell("cross-q1024-k77", 1, 8, 8, 1024, 77, 64)
    yield Cell("cross-q16-k2048", 1, 8, 8, 16, 2048, 64)
    yield Cell("cross-q64-k4096", 1, 8, 8, 64, 4096, 64)
    yield Cell("chunk-q256-k2048-causal", 1, 8, 8, 256, 2048, 64, causal=True)


def dims():
    """Head dims that fill vectors, and their neighbours."""
    beside = [n + i for n in (16, 32, 48, 64, 80, 96, 128, 192, 256) for i in (-1, 0, 1)]
    for dtype in ("f32", "bf16", "f16"):
        suffix = "" if dtype == "f32" else f"-{dtype}"
        for dim in (1, 2, 3, 4, 5, 7, 8, 9, *beside, 320, 384, 511, 512):
            yield square(f"dim-{dim}{suffix}", 2, 1024, dim, dtype=dtype)


def tiny():
    """For the tool's own test; part of no report."""
    yield square("tiny", 2, 40, 16, causal=True)
    yield Cell("tiny-decode", 1, 4, 2, 1, 50, 16)


CELLS = {cell.name: cell for cell in (*prefill(), *decode(), *others(), *dims(), *tiny())}
