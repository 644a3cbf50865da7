# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Slices, counts and turns whose place is a size that a call chooses, beside NumPy."""
import numpy as np
import pytest

import attn


def make(rng, *shape):
    return rng.standard_normal(shape).astype(np.float32)


def test_slices_between_sizes(rng):
    """Learned positions, a window of a padded tensor, both parts of a joined one."""
    def parts(x: attn.f32["n", 4], y: attn.f32["m", 4], table: attn.f32[16, 4]):
        n = x.shape[0]
        both = np.concatenate([x, y])
        padded = np.pad(x, ((2, 0), (0, 0)))
        return (x + table[:n], table[n:], table[-3:n + 12] if isinstance(n, str) else table[13:n + 12], both[:n], both[n:], both[n:-1], both[1:n],
                sum(padded[i:n + i] for i in range(3)), both[:n:2], both[n + 1:])

    x, y, table = make(rng, 3, 4), make(rng, 5, 4), make(rng, 16, 4)
    function = attn.function(parts)
    for got, want, told in zip(function(x, y, table), parts(x, y, table), function.kernel.results):
        np.testing.assert_allclose(got, want, rtol=1e-6)
        assert eval(told.shape[0].replace("/", "//"), {"n": 3, "m": 5}) == len(want)


def test_rest_of_a_longer_tensor(rng):
    @attn.function
    def rest(x: attn.f32["n"], y: attn.f32["m"]):
        n, m = x.shape[0], y.shape[0]
        return y[m - n:], y[:m - n], x + y[m - n:]

    x, y = make(rng, 3), make(rng, 7)
    for got, want in zip(rest(x, y), (y[4:], y[:4], x + y[4:])):
        np.testing.assert_array_equal(got, want)
    with pytest.raises((ValueError, attn.Error)):
        rest(y, x)


def test_behind_the_end(rng):
    @attn.function
    def positions(x: attn.f32["n", 4], table: attn.f32[16, 4]):
        return x + table[:x.shape[0]]

    with pytest.raises(attn.Error, match="a slice lies outside of its tensor"):
        positions(make(rng, 17, 4), make(rng, 16, 4))


def test_counts(rng):
    @attn.function
    def counts(x: attn.f32["n", 2]):
        n = x.shape[0]
        return attn.arange(n), attn.arange(2, n, dtype=attn.i32), attn.arange(0, n + 1, 3, dtype=np.float32), attn.arange(5)

    for n in 2, 7:
        wants = np.arange(n), np.arange(2, n, dtype=np.int32), np.arange(0, n + 1, 3, dtype=np.float32), np.arange(5)
        for got, want in zip(counts(make(rng, n, 2)), wants):
            assert got.dtype == want.dtype
            np.testing.assert_array_equal(got, want)


def test_a_mask_of_counts_is_causal(rng):
    @attn.function
    def causal(x: attn.f32["n", 16]):
        i = attn.arange(x.shape[0])
        return attn.softmax(attn.where(i[:, None] >= i, x @ x.T * 0.25, -np.inf)) @ x

    assert "row q sees key k if k <= q" in causal.explain(n=64)
    x = make(rng, 9, 16)
    scores = np.where(np.tri(9) > 0, x @ x.T * 0.25, -np.inf)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    np.testing.assert_allclose(causal(x), weights / weights.sum(-1, keepdims=True) @ x, atol=1e-5)


@pytest.mark.parametrize("axis", [0, 1])
def test_roll_by_more_than_there_is(rng, axis):
    def turned(x: attn.f32["n", "m"]):
        return [np.roll(x, shift, axis=axis) for shift in (5, -5, 1, -1, 12)]

    function = attn.function(turned)
    for n in 0, 1, 3, 7:
        x = make(rng, n, 4)
        for got, want in zip(function(x), turned(x)):
            np.testing.assert_array_equal(got, want)


def test_a_tensor_beside_itself(rng):
    """Constants whose sizes a call chooses."""
    @attn.function
    def same(i: attn.i64["n"], seen: attn.i1["n", "m"]):
        return i == i, i < i, seen ^ seen, i ^ i

    i, seen = rng.integers(0, 9, 3), rng.random((3, 2)) < 0.5
    for got, want in zip(same(i, seen), (i == i, i < i, seen ^ seen, i ^ i)):
        np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("axis", [-1, 0, 1])
@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64])
def test_softmax_of_nothing(axis, kind):
    """Rows of -inf alone weigh nothing, as those of scores, whatever the tensor; and their gradient is no NaN."""
    dtype = {np.float16: attn.f16, np.float32: attn.f32, np.float64: attn.f64}[kind]

    @attn.function
    def weighed(x: dtype["b", "n", "m"], seen: attn.i1["n", "m"], v: dtype["b", "n", "m"]):
        return attn.softmax(attn.where(seen, x, -np.inf), axis=axis) * v

    seen = np.array([[1, 1, 0], [0, 0, 0], [1, 0, 0]], bool)
    x, ones = np.linspace(-1, 1, 18).reshape(2, 3, 3).astype(kind), np.ones((2, 3, 3), kind)
    masked = np.where(seen, x.astype(np.float64), -np.inf)
    top = masked.max(axis, keepdims=True)
    powers = np.exp(masked - np.where(np.isinf(top), 0, top))
    want = powers / np.maximum(powers.sum(axis, keepdims=True), 1e-30)
    np.testing.assert_allclose(weighed(x, seen, ones), want, atol=1e-3 if kind == np.float16 else 1e-6)
    out, gradient = attn.value_and_grad(weighed)(x, seen, ones)
    assert all(np.isfinite(d).all() for d in gradient(np.ones_like(out)))


def test_gelu_by_tanh_far_out():
    @attn.function
    def activated(x: attn.f32["n"]):
        return attn.gelu(x, "tanh"), np.tanh(x)

    gelu, tanh = activated(np.array([-1e4, -100, -10, -8, 8, 100], np.float32))
    np.testing.assert_array_equal(gelu, np.array([0, 0, 0, 0, 8, 100], np.float32))
    np.testing.assert_array_equal(tanh, np.array([-1, -1, -1, -1, 1, 1], np.float32))
