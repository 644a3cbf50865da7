# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions and attentions that are called in a function, methods, and what wraps a function."""
import dataclasses
import functools
import gc
import weakref

import numpy as np
import pytest

import attn
from reference import attention as reference


def make(rng, *shape):
    return rng.standard_normal(shape).astype(np.float32)


@attn.function
def doubled(x: attn.f32["n", 16]):
    return x * 2


class Layer:
    def __init__(self, factor):
        self.factor = factor

    @attn.function
    def forward(self, x: attn.f32["n", 16]):
        return doubled(x) * self.factor

    def __call__(self, x: attn.f32["n", 16]):
        return x + self.factor


def test_a_function_in_a_function(rng):
    @attn.function
    def outer(x: attn.f32["n", 16]):
        return doubled(x) + doubled(x=x + 1)

    x = make(rng, 3, 16)
    np.testing.assert_allclose(outer(x), 4 * x + 2, atol=1e-6)


def test_attention_in_a_function(rng):
    causal = attn.attention(attn.causal(), dim=16)
    biased = attn.attention(dim=16, bias=np.eye(3), score_mod=lambda s, b, h, i, j: s * 2, returns=("out", "weights"))

    @attn.function
    def outer(x: attn.f32["n", 16]):
        out, weights = biased(x, x, x)
        return causal(x, x, x) + x, out, weights, attn.flex_attention(x, x, x, mask_mod=lambda b, h, i, j: j <= i)

    x = make(rng, 3, 16)
    first, out, weights, last = outer(x)
    want = reference(x, x, x, mask_mod=lambda b, h, i, j: j <= i)[0]
    np.testing.assert_allclose(first, want + x, atol=1e-5)
    np.testing.assert_allclose(last, want, atol=1e-5)
    for got, alone in zip((out, weights), biased(x, x, x)):
        np.testing.assert_allclose(got, alone, atol=1e-5)
    assert outer.explain().count("fused attn.scores") == 3


def test_heads_in_a_function(rng):
    many = attn.attention(attn.causal(), heads=(4, 2), dim=8, layout="bshd", sinks=np.zeros(4))

    @attn.function
    def outer(x: attn.f32["b", "n", 32], y: attn.f32["b", "n", 16]):
        b, n, _ = x.shape
        q, k = x.reshape(b, n, 4, 8), y.reshape(b, n, 2, 8)
        return many(q, k, k).reshape(b, n, 32)

    x, y = make(rng, 1, 5, 32), make(rng, 1, 5, 16)
    want = many(x.reshape(1, 5, 4, 8), y.reshape(1, 5, 2, 8), y.reshape(1, 5, 2, 8)).reshape(1, 5, 32)
    np.testing.assert_allclose(outer(x, y), want, atol=1e-5)


def test_methods(rng):
    x, first, second = make(rng, 3, 16), Layer(2.0), Layer(3.0)
    np.testing.assert_allclose(first.forward(x), 4 * x, rtol=1e-6)
    np.testing.assert_allclose(second.forward(x), 6 * x, rtol=1e-6)
    np.testing.assert_allclose(Layer.forward(second, x), 6 * x, rtol=1e-6)
    assert first.forward is first.forward and first.forward is not second.forward
    np.testing.assert_allclose(attn.function(second)(x), x + 3, rtol=1e-6)
    assert attn.function(second).kernel.name == "Layer"

    @attn.function
    def outer(x: attn.f32["n", 16]):
        return second.forward(x) + 1

    np.testing.assert_allclose(outer(x), 6 * x + 1, rtol=1e-6)
    seen = weakref.ref(first)
    del first
    gc.collect()
    assert seen() is None


@dataclasses.dataclass
class Unhashable:
    factor: float

    @attn.function
    def forward(self, x: attn.f32["n", 16]):
        return x * self.factor


def test_methods_of_dataclasses(rng):
    x, layer = make(rng, 3, 16), Unhashable(2.0)
    np.testing.assert_allclose(layer.forward(x), 2 * x, rtol=1e-6)
    layer.factor = 3.0
    np.testing.assert_allclose(layer.forward(x), 3 * x, rtol=1e-6)


def test_partial(rng):
    def scaled(x: attn.f32["n", 16], y: attn.f32["n", 16], factor):
        return x * factor + y

    x = make(rng, 3, 16)
    function = attn.function(functools.partial(scaled, factor=2.0))
    np.testing.assert_allclose(function(x, x), 3 * x, rtol=1e-6)
    assert function.kernel.name == "scaled"


def lse(x):
    return attn.flex_attention(x, x, x, return_lse=True)


def dropped(x):
    return attn.attention(dim=16, dropout=0.5)(x, x, x)


def named(x):
    return attn.attention(attn.key_length("n"), dim=16)(x, x, x)


def narrow(x):
    return doubled(x[:, :8])


def another(x):
    return attn.attention(dim=8)(x, x, x)


def counted(x):
    return x + np.arange(x.shape[0])


def joined(x):
    return np.array([x, x])


def wide(x):
    return x * np.linspace(0, 1, 16)


def cut(x):
    return x[:x.sum().astype(attn.i64)]


@pytest.mark.parametrize("wrong, text", [
    (lse, "returns out and weights, but this one lse"), (dropped, "has no dropout; write attn.scores"), (named, "masks name its arguments, not strings"),
    (narrow, r"doubled: expected x: f32\[n, 16\], but got f32\[n, 8\]"), (another, r"expected query of 2 dimensions, 8 features of f32, but got f32\[n, 16\]"),
    (counted, "np.arange knows no size that a call chooses; write attn.arange"), (joined, r"np.stack\(\[x, y\]\)"),
    (wide, r"write .astype\(np.float32\) of the array, which has f64"), (cut, "but got a tensor; x.place. is one entry"),
])
def test_refused(wrong, text):
    wrong.__annotations__ = {"x": attn.f32["n", 16]}
    with pytest.raises(attn.Error, match=r"test_nested\.py:\d+: .*" + text):
        attn.function(wrong)


def test_names_that_c_lacks():
    space = {"attn": attn}
    exec('def f(β: attn.f32["n"]): return β\ndef g(x: attn.f32["ñ"]): return x\ndef σ(x: attn.f32["n"]): return x', space)
    for name, text in (("f", "argument β has a name that C lacks"), ("g", "has a size 'ñ', but sizes of arguments are numbers or names")):
        with pytest.raises(TypeError, match=text):
            attn.function(space[name])
    assert attn.function(space["σ"]).kernel.name == "traced"
