# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs that a newcomer writes (Inputs/programs), with known and with unknown sizes, compared with the project's Reference
in f64, and some with their definition in NumPy.

  programs.py --only residual                those whose name contains it
  programs.py --only residual --print known  the text of one"""
import argparse
import os
import subprocess
import tempfile

import numpy as np

import elements
import isolated
import program
from kernels import Kernel, attention, compare, finish
from prologue import norm

# How far chains of ops may be off; results of f16 and bf16 by 1.5 units of their last place, at a size that the program may give.
NEAR = {"f32": {"rtol": 2e-5, "atol": 5e-6}, "f64": {"rtol": 1e-12, "atol": 1e-12}}
SECONDS = 60


def bounds(element, want, scale):
    if element in program.INTEGERS:
        return {"rtol": 0, "atol": 0}
    return NEAR.get(element) or elements.tolerance(element, want, scale)


# --- by definition ---

def whole(x):
    """A tensor of any rank as [batch][head][row][column]."""
    return x.reshape((1,) * (4 - x.ndim) + x.shape)


def attend(q, k, v, scale, seen=None):
    shape = whole(q).shape[:3] + (whole(k).shape[2],)
    seen = np.broadcast_to(True if seen is None else seen, shape)
    out, lse, weights, _ = attention(whole(q), whole(k), whole(v), scale, seen)
    return out.reshape(q.shape[:-1] + v.shape[-1:]), lse.reshape(q.shape[:-1]), weights


def out_of(q, k, v, scale, seen=None):
    return attend(q, k, v, scale, seen)[0]


def causal(q, k, start=0):
    return np.arange(k.shape[-2])[None, :] <= np.arange(q.shape[-2])[:, None] + start


def residual_chain(q, k, v):
    return [out_of(out_of(q, k, v, 0.25) + q, k, v, 0.25)]


def pre_norm_layer(x, g, wq, wk, wv, wo):
    split = lambda y: y.reshape(*y.shape[:2], 4, 8).transpose(0, 2, 1, 3)
    n = norm(x, g, 1e-5)
    heads = [split(n @ w) for w in (wq, wk, wv)]
    a = out_of(*heads, 0.35, causal(*heads[:2])).transpose(0, 2, 1, 3).reshape(x.shape)
    return [x + a @ wo]


def loop_with_step(q, k, v):
    want = q.copy()
    for h in (2, 5):
        want[h] = out_of(q[h], k[h], v[h], 0.25)
    return [want]


def loop_until(x, key):
    out = x
    for _ in range(3):
        out = out + out_of(out, key, x, 0.25)
    return [out, key]


def loop_of_sums(x, y):
    return [np.where((np.arange(8) % 3 == 2)[:, None], x + y, x)]


def cache_concat(q, k, v, pk, pv):
    keys, values = (np.concatenate([past, new], axis=2) for past, new in ((pk, k), (pv, v)))
    return [out_of(q, keys, values, 0.25, causal(q, keys, keys.shape[2] - q.shape[2]))]


def cache_concat_normalized(q, k, v, pk, pv, mk, mv, w):
    keys = norm(np.concatenate([2 * np.concatenate([pk, k], axis=2), mk], axis=2), w, 1e-5)
    values = np.concatenate([pv, v, mv], axis=2)
    return [out_of(q, keys, values, 0.25, causal(q, keys, keys.shape[2] - q.shape[2]))]


def cache_insert(q, k, v, ck, cv):
    keys, values = ck.copy(), cv.copy()
    keys[:, :, 4:5], values[:, :, 4:5] = k, v
    return [out_of(q, keys, values, 0.25, causal(q, keys, 4)), keys, values]


def document_one(q, k, v, ids):
    return [out_of(q, k, v, 0.25, ids[:, None] == ids[None, :])]


def no_key_features(q, k, v):
    return [np.broadcast_to(v.mean(1, keepdims=True), (2, q.shape[1], 8)), np.full(q.shape[:2], np.log(k.shape[1]))]


DEFINED = {
    "residual-chain": residual_chain, "pre-norm-layer": pre_norm_layer, "loop-with-step": loop_with_step,
    "loop-of-sums": loop_of_sums, "loop-until": loop_until, "cache-concat": cache_concat,
    "cache-concat-normalized": cache_concat_normalized, "cache-insert": cache_insert, "document-one": document_one,
    "no-key-features": no_key_features,
    "padding-mask": lambda q, k, v, mask: [out_of(q, k, v, 0.25, mask != 0)],
    "strided-keys": lambda q, x, v: [out_of(q, x[:, ::2], v, 0.35)],
    "private-function": lambda x, y: [out_of(out_of(x, y, y, 0.25), y, y, 0.25)],
    "matmul-tanh-matmul": lambda x, w1, w2: [np.tanh(x @ w1) @ w2],
    "rms-norm-f16": lambda x, y, w: [norm(x, w, 1e-6), norm(y, w, 1e-6)],
    "rms-norm-bf16": lambda x, y, w: [norm(x, w, 1e-6), norm(y, w, 1e-6)],
    "no-value-features": lambda q, k, v: attend(q, k, v, 0.35)[:2],
    "no-keys": lambda q, k, v: [np.zeros_like(q), np.full(q.shape[:-1], -np.inf)],
}


# --- comparison ---

def reference(function, source, arrays, folder):
    """The Reference's results; in f16 and bf16 those of every op are rounded, as the types of its values say."""
    narrow = any(t.element in ("f16", "bf16") for t in function.arguments)
    command = [os.environ.get("ATTN_REFERENCE", "attn-reference"), source, "--entry=" + function.name, *["--narrow"] * narrow]
    for i, array in enumerate(arrays):
        command.append(os.path.join(folder, f"in{i}.npy"))
        elements.save(command[-1], array)
    outs = [os.path.join(folder, f"ref{i}.npy") for i in range(len(function.results))]
    subprocess.run([*command, *(word for out in outs for word in ("-o", out))], check=True)
    return [elements.load(out) for out in outs]


def expected(entry, function, source, arrays, folder):
    """Pairs of who says it and the results."""
    yield "Reference", reference(function, source, arrays, folder)
    if entry.name in DEFINED:
        yield "NumPy", DEFINED[entry.name](*(x if x.dtype.kind in "ib" else elements.numbers(x) for x in arrays))


def close(what, got, want, element, scale):
    got, want = elements.numbers(np.asarray(got)), elements.numbers(np.asarray(want))
    if not want.size and got.shape == want.shape:
        return 0.0  # `compare` insists on something to compare
    return compare(what, got, want, **bounds(element, want, scale))


def check(case):
    """The number of results of one program, with known or unknown sizes, and the largest error."""
    entry, kind, target = case
    count, worst = 0, 0.0
    for number, function in enumerate(entry.functions):
        runs = entry.sizes if kind == "unknown" else entry.sizes[:1]
        text = entry.unknown() if kind == "unknown" else entry.known(runs[0])
        with tempfile.TemporaryDirectory() as folder:
            kernel = Kernel(text, folder, name=function.name, target=target)
            for sizes in runs:
                arrays = entry.inputs(function, sizes, seed=17 + number)
                got = kernel(arrays, function.outputs(sizes), threads=2)
                for who, wanted in expected(entry, function, kernel.source, arrays, folder):
                    for i, (t, g, w) in enumerate(zip(function.results, got, wanted, strict=True)):
                        where = ", ".join(f"{n} = {size}" for n, size in sizes.items())
                        worst = max(worst, close(f"{where}: result {i} ({who})", g, w, t.element, entry.scale))
                        count += 1
    return count, worst


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--target", default="native")
    parser.add_argument("--only", default="")
    parser.add_argument("--kind", choices=["known", "unknown"])
    parser.add_argument("--workers", type=int, default=min(2, os.cpu_count()))
    parser.add_argument("--print", choices=["known", "unknown"], help="the texts alone")
    options = parser.parse_args()
    chosen = [p for p in program.programs() if options.only in p.name]
    if options.print:
        for entry in chosen:
            print(entry.unknown() if options.print == "unknown" else entry.known(entry.sizes[0]))
        return
    kinds = [options.kind] if options.kind else ["known", "unknown"]
    cases = [(entry, kind, options.target) for entry in chosen for kind in kinds]
    failures, results = [], 0
    for (entry, kind, _), worked, result, printed in isolated.run(check, cases, options.workers, SECONDS):
        if worked:
            results += result[0]
        else:
            said = (printed or result).splitlines() or ["nothing was said"]
            failures.append(f"{entry.name}, {kind} sizes: {said[-1] if not printed else said[0]}")
    finish(len(cases), failures, f"; {results} results compared")


if __name__ == "__main__":
    main()
