# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs a worked example, as a program, against the definition in f64."""
import subprocess

import numpy as np

from kernels import attention, compare


def causal(q, k, b, operands):
    return k <= q


def everything(q, k, b, operands):
    return k < np.inf


def run(folder, name, lengths, sees, operands=lambda rng, b, s, t: {}, heads=8, dim=64, key_heads=None, modify=None,
        before=lambda x, operands: x):
    """`lengths` are (batch, queries, keys); `sees(q, k, b, operands)` is the mask of batch entry b; `operands(rng, ..)`
    makes what comes behind q, k and v; `modify(score, h, q, k, operands)` is the score function; `before(x, operands)`
    changes queries and keys. An operand `sinks` is one more score per head."""
    rng = np.random.default_rng(1)
    for batch, queries, keys in lengths:
        group = heads // (key_heads or heads)
        shapes = [(batch, heads, queries, dim)] + 2 * [(batch, heads // group, keys, dim)]
        arrays = dict(zip("qkv", (rng.standard_normal(shape, np.float32) for shape in shapes)))
        extra = operands(rng, batch, queries, keys)
        files = []
        for argument, array in {**arrays, **extra}.items():
            files.append(f"{folder}/{argument}.npy")
            np.save(files[-1], array)
        subprocess.run([f"{folder}/{name}", *files, "-o", f"{folder}/out.npy"], check=True)
        q, k = np.arange(queries)[:, None], np.arange(keys)[None, :]
        worst = 0.0
        for b in range(batch):
            seen = np.broadcast_to(sees(q, k, b, extra), (1, heads, queries, keys))
            want = []
            for h in range(heads):
                at = [x[b:b + 1, g:g + 1] for x, g in zip(arrays.values(), (h, h // group, h // group))]
                at[:2] = (before(x, extra) for x in at[:2])
                function = modify and (lambda s, _b, _h, q, k: modify(s, h, q, k, extra))
                sink = extra["sinks"][h:h + 1] if "sinks" in extra else None
                want.append(attention(*at, dim**-0.5, seen[:, h:h + 1], modify=function, sinks=sink)[0])
            want = np.concatenate(want, axis=1)
            got = np.load(f"{folder}/out.npy")[b:b + 1]
            worst = max(worst, compare(f"{name} {batch} x {queries} x {keys}", got, want))
        print(f"{name} {batch} x {queries} x {keys}: {worst:.2g}")
