# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`show` of functions and of specifications: every number is a kernel's."""
import json
import re

import numpy as np
import pytest

import attn


def embedded(picture):
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', picture.html, re.DOTALL)[1])


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


@attn.function
def words(q: attn.f32["n", 3], k: attn.f32["m", 3], v: attn.f32["m", 3]):
    weights = attn.softmax(attn.scores(q, k) * 3**-0.5)
    return attn.context(weights, v), weights


def test_function(rng):
    q, k, v = rng.standard_normal((3, 3, 3)).astype(np.float32)
    data = embedded(words.show(q, k, v, tokens="I am happy".split(), title="Three words"))
    raw = (q @ k.T).astype(np.float64)
    np.testing.assert_allclose(data["scores"][0], raw, atol=1e-5)
    np.testing.assert_allclose(data["scaled"][0], raw / 3**0.5, atol=1e-5)
    np.testing.assert_allclose(data["weights"][0], softmax(raw / 3**0.5), atol=1e-5)
    np.testing.assert_allclose(data["out"][0], softmax(raw / 3**0.5) @ v, atol=1e-5)
    assert data["title"] == "Three words" and data["tokens"]["keys"] == ["I", "am", "happy"]
    assert data["tiles"]["classes"] == [[1]]
    assert data["scale"] == pytest.approx(3**-0.5) and data["mask"] is None


def test_everything_in_front_of_the_softmax(rng):
    """Projections, heads, a captured array, no scale, a score function, a mask, 16 bits, one head, a batch."""
    table = rng.standard_normal(9).astype(np.float32)

    @attn.function
    def layer(x: attn.f16["b", "n", 8], w: attn.f16[8, 8]):
        q = attn.split_heads(attn.project(x, w), 1)
        s = attn.score_mod(attn.scores(q, q), lambda s, b, h, i, j: s + table[i - j + 4])
        weights = attn.softmax(attn.mask(s, attn.causal()))
        return attn.merge_heads(attn.context(weights, q))

    x, w = rng.standard_normal((2, 5, 8)).astype(np.float16), (rng.standard_normal((8, 8)) / 3).astype(np.float16)
    data = embedded(layer.show(x, w, batch=1))
    q = (x[1].astype(np.float32) @ w.astype(np.float32)).astype(np.float16).astype(np.float64)
    raw, i = q @ q.T, np.arange(5)
    masked = np.where(i[:, None] >= i, raw + table[i[:, None] - i + 4], -np.inf)
    np.testing.assert_allclose(data["query"][0], q, rtol=2e-3, atol=2e-3)
    np.testing.assert_allclose(data["scaled"][0], raw, rtol=1e-2, atol=2e-2)
    np.testing.assert_allclose(data["weights"][0], softmax(masked), rtol=2e-2, atol=2e-2)
    assert data["scale"] == 1 and data["scores"] == data["scaled"]
    assert data["mask"] == [["10000", "11000", "11100", "11110", "11111"]]


def test_named_arguments_and_several_functions(rng):
    text = """
func.func @first(%q: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %s = arith.addf %q, %q : tensor<?x4xf32>
  return %s : tensor<?x4xf32>
}
func.func @second(%k: tensor<?x4xf32>, %q: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %s = attn.scores %q, %k : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x?xf32>
  %w = attn.sigmoid %s : tensor<?x?xf32>
  %o = attn.context %w, %k : (tensor<?x?xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  return %o : tensor<?x4xf32>
}
"""
    q, k = rng.standard_normal((1, 4)).astype(np.float32), rng.standard_normal((6, 4)).astype(np.float32)
    data = embedded(attn.compile(text, "second").show(q=q, k=k))
    np.testing.assert_allclose(data["weights"][0], 1 / (1 + np.exp(-(q @ k.T).astype(np.float64))), atol=1e-5)
    assert data["normalization"] == "sigmoid" and data["tokens"]["keys"] == list("012345")
    with pytest.raises(attn.Error, match="first: a picture shows one attention.* has 0"):
        attn.compile(text, "first").show(q)


def test_refused(rng):
    x = rng.standard_normal((3, 4)).astype(np.float32)

    @attn.function
    def twice(q: attn.f32["n", 4]):
        one = attn.context(attn.softmax(attn.scores(q, q)), q)
        return attn.context(attn.softmax(attn.scores(one, q)), q)

    @attn.function
    def difference(q: attn.f32["n", 4], p: attn.f32["n", 4], factor: attn.f32[()]):
        both = attn.softmax(attn.scores(q, q)), attn.softmax(attn.scores(p, q))
        return attn.context(attn.subtract_weights(*both, factor), q)

    with pytest.raises(attn.Error, match="twice: a picture shows one attention.* has 2"):
        twice.show(x)
    with pytest.raises(attn.Error, match="difference: a picture shows weights of attn.softmax or attn.sigmoid.* attn.subtract_weights"):
        difference.show(x, x, np.float32(0.5))
    with pytest.raises(ValueError, match="batch: expected an entry below 1, but got 1"):
        attn.attention(heads=1, dim=4).show(x[None, None], x[None, None], x[None, None], batch=1)
    with pytest.raises(TypeError, match="words needs v"):
        words.show(x, x)


def test_sinks_are_refused(rng):
    """The page's formula of softmax has no term for them."""
    @attn.function
    def sinking(x: attn.f32["n", 3], s: attn.f32[1]):
        return attn.context(attn.softmax(attn.scores(x, x), s), x)

    x = rng.standard_normal((4, 3)).astype(np.float32)
    for show in (lambda: sinking.show(x, np.ones(1, np.float32)), lambda: attn.attention(dim=3, sinks=np.ones(1, np.float32)).show(x, x, x)):
        with pytest.raises(attn.Error, match="has sinks, which no picture shows"):
            show()


def test_dropout_is_refused():
    x = np.zeros((4, 3), np.float32)
    with pytest.raises(attn.Error, match="drops weights, which no picture shows"):
        attn.attention(dim=3, dropout=0.5).show(x, x, x, 7)
