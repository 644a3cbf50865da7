# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How far the f32 results of an attention may be from the exact ones.

Scores travel from step to step in three forms: exact (f64), a bound on the error of any f32 evaluation, and one such
evaluation, NumPy's. The bounds are those of the standard model: an operation gives its exact result within a factor
of 1 + u, u = 2^-24; a sum of n products in any order is within gamma(n) times the sum of the products' sizes. A score
that is off by d changes its weight by a factor of exp(d), so that large scores make large errors:

  out' - out = sum_j p_j (w_j - 1) (v_j - out) / sum_j p_j w_j,   exp(-d_j) <= w_j <= exp(d_j)"""
import numpy as np

UNIT = 2.0**-24
# Roundings of one step: kernels work in units of log2, so that a step may take a product more at either end.
STEP = 8 * UNIT


def gamma(n):
    return n * UNIT / (1 - n * UNIT)


def narrow(x):
    return np.asarray(x).astype(np.float32)


class Scores:
    def __init__(self, name, exact, bound, plain, hidden):
        self.name, self.exact, self.bound, self.plain, self.hidden = name, exact, bound, plain, hidden

    @staticmethod
    def of(name, q, k, group, factor):
        """Products of queries and keys, of which one may have been scaled before."""
        k = np.repeat(k, group, axis=1).swapaxes(2, 3)
        wide_q, wide_k = q.astype(np.float64), k.astype(np.float64)
        sizes = np.abs(wide_q) @ np.abs(wide_k) * abs(factor)
        plain = (q * narrow(factor)) @ k
        exact = wide_q @ wide_k * factor
        return Scores(name, exact, gamma(q.shape[-1] + 8) * sizes, plain, np.zeros(exact.shape, bool))

    def step(self, name, exact, bound, plain):
        sizes = np.abs(exact) + np.abs(self.exact)
        return Scores(name, exact, bound + STEP * sizes, narrow(plain), self.hidden)

    def scaled(self, name, factor):
        return self.step(name, self.exact * factor, self.bound * abs(factor), self.plain * narrow(factor))

    def plus_product(self, name, a, b):
        product = a.astype(np.float64) * b
        return self.step(name, self.exact + product, self.bound + STEP * np.abs(product),
                         self.plain + narrow(a) * narrow(b))

    def capped(self, name, cap):
        least = np.maximum(np.abs(self.exact) - self.bound, 0)  # where the slope is largest
        slope = 1 / np.cosh(np.minimum(least / cap, 300))**2
        exact = cap * np.tanh(self.exact / cap)
        return self.step(name, exact, self.bound * slope + 2e-6 * np.abs(exact),
                         narrow(cap) * np.tanh(self.plain / narrow(cap)))

    def bent(self, name, factor):
        """factor * s * |s|"""
        slope = 2 * factor * (np.abs(self.exact) + self.bound)
        return self.step(name, factor * self.exact * np.abs(self.exact), self.bound * slope,
                         narrow(factor) * self.plain * np.abs(self.plain))

    def biased(self, name, bias):
        added = np.where(bias == -np.inf, 0, bias)
        result = self.plus_product(name, added, np.ones(1))
        result.hidden = self.hidden | (bias == -np.inf)
        return result

    def excluded(self, name, seen):
        return Scores(name, self.exact, self.bound, self.plain, self.hidden | ~seen)

    def result(self):
        return (np.where(self.hidden, -np.inf, self.exact), self.bound + STEP * np.abs(self.exact),
                np.where(self.hidden, narrow(-np.inf), self.plain))

    def softmax(self, sinks):
        return Softmax(self, sinks)


def normalized(scores, hidden, sinks):
    """Weights, the weight of the sink, and the largest score of each row, in the type of the scores."""
    scores = np.where(hidden, scores.dtype.type(-np.inf), scores)
    top = np.max(scores, axis=-1, keepdims=True, initial=-np.inf)
    sink = np.full((1, 1, 1, 1), -np.inf, scores.dtype) if sinks is None else \
        sinks.astype(scores.dtype)[None, :, None, None]
    top = np.maximum(top, sink)
    top = np.where(top == -np.inf, scores.dtype.type(0), top)
    weights, rest = np.exp(scores - top), np.exp(sink - top)
    total = weights.sum(-1, keepdims=True) + rest
    total = np.where(total == 0, scores.dtype.type(1), total)
    return weights / total, rest / total, top


class Softmax:
    def __init__(self, scores, sinks):
        self.exact, self.rest, top = normalized(scores.exact, scores.hidden, sinks)
        self.plain, _, _ = normalized(scores.plain, scores.hidden, sinks)
        self.keys = scores.exact.shape[-1]
        sizes = np.where(scores.hidden, 0, np.abs(scores.exact)) + np.abs(top)
        # The exponential's own error is below 16 u.
        self.bound = np.where(scores.hidden, 0, scores.bound) + STEP * sizes + 2 * STEP
        self.rest_bound = 2 * STEP * np.abs(top) + 2 * STEP
        with np.errstate(over="ignore"):
            self.grown = np.expm1(self.bound)
        least = (self.exact * np.exp(-self.bound)).sum(-1, keepdims=True) + self.rest * np.exp(-self.rest_bound)
        self.least = np.where(least == 0, 1, least)

    def weights(self):
        with np.errstate(over="ignore", invalid="ignore"):
            bound = np.where(self.exact == 0, 0, self.exact * ((self.grown + 1) / self.least - 1))
        return self.exact, bound + gamma(self.keys + 16) * self.exact + 1e-30, self.plain

    def context(self, values, group):
        values = np.repeat(values, group, axis=1)
        wide = values.astype(np.float64)
        out, plain = self.exact @ wide, self.plain @ values
        with np.errstate(over="ignore", invalid="ignore"):
            moved = np.where(self.exact == 0, 0, self.exact * self.grown)
            bound = np.expm1(self.rest_bound) * self.rest * np.abs(out)
            for d in range(wide.shape[-1]):
                apart = np.abs(wide[:, :, None, :, d] - out[..., d, None])
                bound[..., d] += (moved * apart).sum(-1)
        bound = bound / self.least + gamma(self.keys + 16) * (self.exact @ np.abs(wide) + np.abs(out))
        return out, bound + 1e-30, plain


def check(name, got, exact, bound, plain):
    """Raises if a number is farther from the exact one than the bound. The largest share of the bound that was used,
    and the errors of `got` and of NumPy's f32 (root of the mean square)."""
    if got.shape != exact.shape:
        raise AssertionError(f"{name}: shape {got.shape}, expected {exact.shape}")
    finite = np.isfinite(exact)
    with np.errstate(invalid="ignore"):
        off = np.where(finite, np.abs(got - exact), 0)
        bad = ~np.where(finite, off <= bound, got == exact)
    if bad.any():
        at = tuple(int(i) for i in np.argwhere(bad)[0])
        raise AssertionError(f"{name}: {bad.sum()} of {exact.size} beyond the bound, first at {at}: {got[at]!r}, "
                             f"expected {exact[at]!r} within {bound[at]:.3g}; NumPy's f32 gives {plain[at]!r}")
    with np.errstate(invalid="ignore"):
        usual = np.where(finite, np.abs(plain - exact), 0)
    mean = lambda x: float(np.sqrt(np.mean(np.square(x, dtype=np.float64)))) if x.size else 0.0
    share = np.max(np.where(finite & (bound > 0), off / np.where(bound > 0, bound, 1), 0), initial=0.0)
    return float(share), (mean(off), mean(usual))
