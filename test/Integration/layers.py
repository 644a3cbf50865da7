# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What layers are made of, in f64, for tests of the examples."""
import math

import numpy as np

erf = np.vectorize(math.erf)


def layer_norm(x, weight, bias, eps=1e-5):
    return (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + eps) * weight + bias


def rms_norm(x, weight, eps=1e-6):
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + eps) * weight


def gelu(x):
    return x / 2 * (1 + erf(x / math.sqrt(2)))


def silu(x):
    return x / (1 + np.exp(-x))


def split(x, heads):
    """(B, S, H*D) as (B, H, S, D)."""
    return x.reshape(*x.shape[:2], heads, -1).transpose(0, 2, 1, 3)


def attend(q, k, v, seen):
    """Heads joined again; groups of query heads share a key head; `seen` broadcasts to the scores."""
    k, v = (np.repeat(y, q.shape[1] // y.shape[1], axis=1) for y in (k, v))
    scores = np.where(seen, q @ k.swapaxes(-1, -2) / math.sqrt(q.shape[-1]), -np.inf)
    weights = np.exp(scores - np.max(scores, -1, keepdims=True, initial=-1e30))
    total = weights.sum(-1, keepdims=True)
    out = weights @ v / np.where(total == 0, 1, total)
    return out.transpose(0, 2, 1, 3).reshape(out.shape[0], out.shape[2], -1)


def rope(x, cos, sin):
    half = cos.shape[-1]
    a, b = x[..., :half], x[..., half:]
    return np.concatenate([a * cos - b * sin, b * cos + a * sin], axis=-1)


def random_arrays(rng, shapes):
    """f32 of about the size of activations: rows of weights keep it."""
    return [(rng.standard_normal(s) / (math.sqrt(s[0]) if len(s) == 2 else 1)).astype(np.float32) for s in shapes]
