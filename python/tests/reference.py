# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attention in float64, by NumPy alone, with the S x S matrix."""
import numpy as np


def attention(q, k, v, score_mod=None, mask_mod=None, scale=None, bias=None):
    """out and lse; the functions get arrays of indices."""
    q, k, v = (np.asarray(x).astype(np.float64) for x in (q, k, v))
    group = q.shape[-3] // k.shape[-3] if q.ndim > 2 else 1
    if group > 1:
        k, v = np.repeat(k, group, -3), np.repeat(v, group, -3)
    scores = q @ k.swapaxes(-1, -2) * (q.shape[-1] ** -0.5 if scale is None else scale)
    full = scores.reshape((1,) * (4 - scores.ndim) + scores.shape)
    b, h, i, j = np.ogrid[tuple(map(slice, full.shape))]
    if score_mod:
        full = np.broadcast_to(score_mod(full, b, h, i, j), full.shape)
    if bias is not None:
        full = full + bias
    if mask_mod:
        full = np.where(np.broadcast_to(mask_mod(b, h, i, j), full.shape), full, -np.inf)
    scores = full.reshape(scores.shape)
    highest = scores.max(-1, keepdims=True, initial=-np.inf)
    weights = np.exp(scores - np.where(np.isinf(highest), 0, highest))
    total = weights.sum(-1, keepdims=True)
    with np.errstate(divide="ignore"):
        lse = (np.log(total) + highest)[..., 0]
    return weights / np.where(total == 0, 1, total) @ v, lse
