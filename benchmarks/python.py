# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the Python package costs, beside PyTorch.

  python benchmarks/python.py            needs the package; with torch, the comparison too

Prints the time of a call beyond the kernel's own, of the first call of a new
variant, and of the first result in another process; and for four attentions of
2048 tokens, 8 heads of 64, the times of our kernel, of torch's SDPA with a mask,
and of compiled FlexAttention, called in turns, medians."""
import argparse
import ctypes
import os
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

import attn

try:
    import attn.torch
    import torch
    from torch.nn.attention.flex_attention import create_block_mask, flex_attention
except ImportError:
    torch = None

SECOND = """
import time
begin = time.perf_counter()
import numpy as np
loaded = time.perf_counter()
import attn
kernel = attn.attention(attn.causal(), heads=8, dim=64)
x = np.ones((1, 8, 16, 64), np.float32)
kernel(x, x, x)
end = time.perf_counter()
print((loaded - begin) * 1e3, (end - loaded) * 1e3)
"""


def median_of(call, runs, calls=1):
    times = []
    for _ in range(runs):
        begin = time.perf_counter()
        for _ in range(calls):
            call()
        times.append((time.perf_counter() - begin) / calls)
    return statistics.median(times)


def overhead(kernel, x, runs=15, calls=2000, **options):
    """Microseconds of a call beyond the C function's own time, in turns."""
    views = [attn._call._view(a, p) for a, p in zip((x, x, x), kernel.arguments)]
    out = np.empty(views[0].array.shape, np.float32)
    lent = [v.lend() for v in views] + [attn._call._view_numpy(out).lend()]
    library = kernel._library

    class Args(ctypes.Structure):
        _fields_ = [("bytes", ctypes.c_char * (8 + 4 * 104 + 40))]

    keep = []
    seen = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p)(
        lambda address: keep.append(ctypes.string_at(address, ctypes.sizeof(Args))) or 0)
    spy = attn._call._CapsuleKernel(attn._call._Kernel(ctypes.cast(seen, ctypes.c_void_p), 3, 1, kernel._ports))
    library.attn_rt_run_dlpack(ctypes.byref(spy), kernel._pointers(*map(ctypes.addressof, lent)), 1, 0)
    args = Args(keep[0])
    entry, address = kernel._entry, ctypes.addressof(args)
    entry.argtypes = [ctypes.c_void_p]
    ours, bare = [], []
    for _ in range(runs):
        ours.append(median_of(lambda: kernel(x, x, x, threads=1, **options), 1, calls))
        bare.append(median_of(lambda: entry(address), 1, calls))
    # What ctypes takes to call a C function that does nothing is overhead, too.
    nothing = ctypes.CDLL(None).getpid
    empty = median_of(lambda: nothing(), 5, calls)
    return (statistics.median(ours) - statistics.median(bare) + empty) * 1e6


def first_calls():
    """Seconds of the first call of a variant that no cache has."""
    x = np.ones((1, 8, 64, 64), np.float32)
    times = []
    for n in range(5):
        begin = time.perf_counter()
        attn.flex_attention(x, x, x, lambda s, b, h, i, j: s - (0.1 + n) * abs(i - j), lambda b, h, i, j: i >= j)
        times.append(time.perf_counter() - begin)
    return statistics.median(times)


def second_process():
    attn.attention(attn.causal(), heads=8, dim=64)
    lines = [subprocess.run([sys.executable, "-c", SECOND], text=True, capture_output=True, check=True).stdout for _ in range(7)]
    return [statistics.median(c) for c in zip(*(map(float, line.split()) for line in lines))]


def cells(size):
    """name: (our kernel, mask of bool or None, score_mod, mask_mod)"""
    ids = np.sort(np.random.default_rng(0).integers(0, 8, size)).astype(np.int32)
    documents = torch.from_numpy(ids)
    slopes = torch.tensor([2.0 ** -(h + 1) for h in range(8)])
    i, j = torch.arange(size)[:, None], torch.arange(size)[None]
    make = lambda mask, **more: attn.attention(mask, heads=8, dim=64, **more)  # noqa: E731
    causal = lambda b, h, q, k: q >= k  # noqa: E731
    plane = slopes.numpy()
    return {
        "causal": (make(attn.causal()), None, None, causal),
        "window 256": (make(attn.window(255, 0)), (i >= j) & (i - j < 256), None, lambda b, h, q, k: (q >= k) & (q - k < 256)),
        "document": (make(attn.document(documents) & attn.causal()), (documents[:, None] == documents) & (i >= j), None,
                     lambda b, h, q, k: (documents[q] == documents[k]) & (q >= k)),
        "alibi": (make(attn.causal(), score_mod=lambda s, b, h, q, k: s + plane[h] * (k - q)),
                  torch.where(i >= j, slopes[:, None, None] * (j - i), -torch.inf), lambda s, b, h, q, k: s + slopes[h] * (k - q), causal),
    }


def compare(size, runs):
    x = [torch.randn(1, 8, size, 64) for _ in range(3)]
    compiled = torch.compile(flex_attention)
    print(f"\n| {size} tokens | attn, ms | SDPA, ms | FlexAttention, ms | SDPA / attn | Flex / attn |\n| --- | --- | --- | --- | --- | --- |")
    for name, (kernel, mask, score_mod, mask_mod) in cells(size).items():
        blocks = create_block_mask(mask_mod, None, None, size, size, device="cpu")
        calls = [lambda: kernel(*x),
                 lambda: torch.nn.functional.scaled_dot_product_attention(*x, mask, is_causal=mask is None),
                 lambda: compiled(*x, score_mod=score_mod, block_mask=blocks)]
        expected = calls[1]()
        times = [[], [], []]
        with torch.no_grad():
            for k, call in enumerate(calls):
                torch.testing.assert_close(call(), expected, atol=1e-4, rtol=1e-3)
            for _ in range(runs):
                for k, call in enumerate(calls):
                    times[k].append(median_of(call, 1))
        ours, sdpa, flex = (statistics.median(t) * 1e3 for t in times)
        print(f"| {name} | {ours:.2f} | {sdpa:.2f} | {flex:.2f} | {sdpa / ours:.2f} | {flex / ours:.2f} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tokens", type=int, default=2048)
    parser.add_argument("--runs", type=int, default=21)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as cache:
        os.environ["ATTN_CACHE"] = cache
        kernel = attn.attention(heads=8, dim=64).kernel
        x = np.ones((1, 8, 1, 64), np.float32)
        print(f"call beyond the kernel, NumPy: {overhead(kernel, x):.1f} us, with out= {overhead(kernel, x, out=np.empty_like(x)):.1f} us")
        if torch:
            print(f"call beyond the kernel, torch: {overhead(kernel, torch.from_numpy(x)):.1f} us")
        print(f"first call of a new variant: {first_calls():.2f} s")
        numpy_ms, ours_ms = second_process()
        print(f"second process: {ours_ms:.0f} ms to the first result, after {numpy_ms:.0f} ms for NumPy itself")
        if torch:
            compare(options.tokens, options.runs)


if __name__ == "__main__":
    main()
