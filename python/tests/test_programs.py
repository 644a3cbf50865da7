# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models written as in NumPy. Each function runs in NumPy as it stands, which is what its kernel and its gradient are compared with."""
import numpy as np
import pytest

import attn
from test_arrays import check_gradient, same, typed

f64 = attn.f64
X = f64["b", "n", 8]


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def rms_norm(x, g):
    return x / np.sqrt(np.mean(x**2, axis=-1, keepdims=True) + 1e-6) * g


def block(x, wqkv, wo, w1, w2, g):
    b, n, d = x.shape
    q, k, v = (rms_norm(x, g) @ wqkv).reshape(b, n, 3, 2, d // 2).transpose(2, 0, 3, 1, 4)
    heads = softmax(q @ k.swapaxes(-1, -2) / (d // 2) ** 0.5) @ v
    x = x + heads.transpose(0, 2, 1, 3).reshape(b, n, d) @ wo
    h = rms_norm(x, g) @ w1
    return x + (h[..., :6] / (1 + np.exp(-h[..., :6])) * h[..., 6:]) @ w2


def block_of(rng, b, n):
    return [rng.standard_normal(s) / s[0] ** 0.5 for s in ((b, n, 8), (8, 24), (8, 8), (8, 12), (6, 8), (8,)) if s[0]]


def test_a_block(rng):
    kernel = typed(block, X, f64[8, 24], f64[8, 8], f64[8, 12], f64[6, 8], f64[8])
    for b, n in ((2, 7), (1, 1), (1, 17)):
        arrays = block_of(rng, b, n)
        same(kernel(*arrays), block(*arrays))
    assert kernel(np.zeros((2, 0, 8)), *arrays[1:]).shape == (2, 0, 8)
    assert "fused attn.scores, attn.scale, attn.softmax, attn.context" in kernel.explain()
    check_gradient(kernel, block, block_of(rng, 2, 5), rng)


def test_a_classifier(rng):
    def classify(ids, real, table, gain, head):
        x = table[ids]
        x = (x - x.mean(-1, keepdims=True)) / (x.var(-1, keepdims=True) + 1e-5) ** 0.5 * gain
        x = x + softmax(np.where(real[:, None], x @ x.transpose(0, 2, 1) * 0.3, -1e9)) @ x
        pooled = np.where(real[..., None], x, 0.0).sum(1) / real.sum(1, keepdims=True).astype(np.float64)
        return pooled @ head, pooled

    arrays = [rng.integers(0, 9, (2, 5)), np.arange(5) < [[3], [5]], *(rng.standard_normal(s) for s in ((9, 8), (8,), (8, 3)))]
    kernel = typed(classify, attn.i64["b", "n"], attn.i1["b", "n"], f64[9, 8], f64[8], f64[8, 3])
    same(kernel(*arrays), classify(*arrays))
    check_gradient(kernel, classify, arrays, rng)


def test_cross_entropy(rng):
    def loss(x, w, labels):
        z = x @ w
        z = z - z.max(-1, keepdims=True)
        right = np.where(labels[:, None] == np.arange(3), z, 0.0).sum(-1)
        return (np.log(np.exp(z).sum(-1)) - right).mean()

    arrays = rng.standard_normal((6, 8)), rng.standard_normal((8, 3)), np.array([0, 2, 1, 1, 0, 2])
    kernel = typed(loss, f64["n", 8], f64[8, 3], attn.i64["n"])
    same(kernel(*arrays), loss(*arrays))
    value, gradient = attn.value_and_grad(kernel, wrt="w")(*arrays)
    z = arrays[0] @ arrays[1]
    np.testing.assert_allclose(gradient(), arrays[0].T @ (softmax(z) - np.eye(3)[arrays[2]]) / 6, atol=1e-12)


def test_rotary_embedding(rng):
    def rotated(x, cos, sin, at):
        a, b = x[..., :4], x[..., 4:]
        cos, sin = cos[at][:, None], sin[at][:, None]
        halves = np.concatenate([a * cos - b * sin, b * cos + a * sin], axis=-1)
        pairs = x.reshape(*x.shape[:3], 4, 2)
        a, b = pairs[..., :1], pairs[..., 1:]
        return halves, np.concatenate([a * cos[..., None] - b * sin[..., None], b * cos[..., None] + a * sin[..., None]], axis=-1).reshape(x.shape)

    arrays = rng.standard_normal((2, 3, 5, 8)), *rng.standard_normal((2, 9, 4)), rng.integers(0, 9, (2, 5))
    kernel = typed(rotated, f64["b", 3, "n", 8], f64["p", 4], f64["p", 4], attn.i64["b", "n"])
    same(kernel(*arrays), rotated(*arrays))
    check_gradient(kernel, rotated, arrays, rng)


def test_distances_and_linear_attention(rng):
    def several(x, y, v):
        near = np.square(x[:, None] - y).sum(-1)
        cosine = x @ y.T / (x * x).sum(-1, keepdims=True) ** 0.5 / (y**2).sum(-1) ** 0.5
        q, k = np.exp(x), np.exp(y)
        return near, cosine, q @ (k.T @ v) / (q @ k.sum(0))[:, None], x[:-2] * 0.5 + x[1:-1] + x[2:] * 2

    arrays = rng.standard_normal((4, 8)), rng.standard_normal((6, 8)), rng.standard_normal((6, 3))
    kernel = typed(several, f64["n", 8], f64["m", 8], f64["m", 3])
    same(kernel(*arrays), several(*arrays))


SEEN = np.tril(np.ones((4, 5), bool), 1)


@pytest.mark.parametrize("steps", [
    lambda s, t, c: s * t,
    lambda s, t, c: (t - s) / (t * t + 1.0),
    lambda s, t, c: np.maximum(s, c) + c,
    lambda s, t, c: np.where(SEEN, s * s, -np.inf),
    lambda s, t, c: (s + t + c) * 0.5 + t,
    lambda s, t, c: np.where(SEEN, s * t, abs(s) - 1e3),
])
def test_scores_and_tensors_are_one_attention(rng, steps):
    def attention(q, k, t, c):
        return attn.softmax(steps(attn.scores(q, k) * 0.3, t, c)) @ k

    def plain(q, k, t, c):
        return softmax(steps(q @ k.swapaxes(-1, -2) * 0.3, t, c)) @ k

    arrays = [rng.standard_normal(s) for s in ((2, 3, 4, 8), (2, 3, 5, 8), (3, 1, 1), (5,))]
    kernel = typed(attention, f64["b", 3, 4, 8], f64["b", 3, 5, 8], f64[3, 1, 1], f64[5])
    same(kernel(*arrays), plain(*arrays))
    assert "fused attn.scores" in kernel.explain()


def test_products_of_keys_take_steps_of_attention(rng):
    def masked(q, k):
        return attn.softmax(attn.mask(attn.softcap(q @ k.swapaxes(-1, -2) * 0.3, 5.0), attn.causal())) @ k

    q, k = rng.standard_normal((2, 3, 4, 8)), rng.standard_normal((2, 3, 4, 8))
    scores = np.where(np.tril(np.ones((4, 4), bool)), 5 * np.tanh(q @ k.swapaxes(-1, -2) * 0.3 / 5), -np.inf)
    kernel = typed(masked, f64["b", 3, "n", 8], f64["b", 3, "m", 8])
    same(kernel(q, k), softmax(scores) @ k)
    assert "attn.mask" in kernel.mlir


DIVISIONS = """
func.func @f(%a: tensor<?xi32>, %b: tensor<?xi32>) -> (tensor<?xi32>, tensor<?xi32>, tensor<?xi32>, tensor<?xi32>) {
  %q = arith.divsi %a, %b : tensor<?xi32>
  %r = arith.remsi %a, %b : tensor<?xi32>
  %f = arith.floordivsi %a, %b : tensor<?xi32>
  %u = arith.divui %a, %b : tensor<?xi32>
  return %q, %r, %f, %u : tensor<?xi32>, tensor<?xi32>, tensor<?xi32>, tensor<?xi32>
}
"""


def test_integers_without_a_quotient():
    """x / 0 is x and leaves 0, and so does the least integer by -1."""
    least = -1 << 31
    a, b = (np.array(x, np.int32) for x in zip((7, 2), (7, 0), (-7, 0), (least, 0), (least, -1), (least + 1, -1), (-7, 2), (0, 0), (7, -1)))
    q, r, f, u = attn.compile(DIVISIONS)(a, b)
    same(q, np.array([3, 7, -7, least, least, -(least + 1), -3, 0, -7], np.int32))
    same(r, np.array([1, 0, 0, 0, 0, 0, -1, 0, 0], np.int32))
    same(f, np.array([3, 7, -7, least, least, -(least + 1), -4, 0, -7], np.int32))
    same(u.view(np.uint32), np.where(b == 0, a.view(np.uint32), a.view(np.uint32) // np.maximum(b.view(np.uint32), 1)))


ANGLES = """
func.func @f(%x: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
  %s = math.sin %x : tensor<?xf32>
  %c = math.cos %x : tensor<?xf32>
  return %s, %c : tensor<?xf32>, tensor<?xf32>
}
"""


@pytest.mark.parametrize("target", ["native", "x86-64"])
def test_angles_of_far_positions(rng, target):
    """Sines of positions times frequencies are those of the angles, however far the position is."""
    if target != "native" and attn.compile(ANGLES).info["target"].startswith("aarch64"):
        pytest.skip("needs an x86 processor")
    kernel = attn.compile(ANGLES, target=target)
    positions, frequencies = np.arange(0, 131072, 37, np.float32), 10000.0 ** (-np.arange(8, dtype=np.float32) / 8)
    for x in (np.outer(positions, frequencies).ravel(), (rng.random(20000) * 8e5 - 4e5).astype(np.float32), np.linspace(-4, 4, 20001, dtype=np.float32)):
        s, c = kernel(x.astype(np.float32))
        np.testing.assert_allclose(s, np.sin(x.astype(np.float64)), rtol=0, atol=2e-7)
        np.testing.assert_allclose(c, np.cos(x.astype(np.float64)), rtol=0, atol=2e-7)
    far = np.array([1e7, -1e9, 1e20, -3e38, np.inf, np.nan, -0.0], np.float32)
    s, c = kernel(far)
    assert (np.abs(s[:4]) <= 1).all() and (np.abs(c[:4]) <= 1).all()
    assert np.isnan([*s[4:6], *c[4:6]]).all() and np.signbit(s[6]) and c[6] == 1
