# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Gradients from Python, against differences in f64."""
import numpy as np
import pytest

import attn


@attn.function
def layer(x: attn.f64["batch", "words", 8], w: attn.f64[8, 8]):
    q, k, v = (attn.split_heads(attn.project(x, w), 2) for _ in range(3))
    scores = attn.mask(attn.scores(q, k) * 0.5, attn.causal())
    return x + attn.merge_heads(attn.context(attn.softmax(scores), v))


@pytest.fixture
def arrays(rng):
    return rng.standard_normal((2, 5, 8)), rng.standard_normal((8, 8)) / 3


def slope(f, arrays, directions, cotangent, h=1e-5):
    at = lambda s: (f(*(a + s * h * d for a, d in zip(arrays, directions))) * cotangent).sum()
    return (at(1) - at(-1)) / (2 * h)


def test_a_function(arrays, rng):
    out, gradient = attn.value_and_grad(layer)(*arrays)
    np.testing.assert_allclose(out, layer(*arrays), rtol=1e-12, atol=1e-12)
    cotangent = rng.standard_normal(out.shape)
    d = gradient(cotangent)
    assert d._fields == ("d_x", "d_w")
    directions = [rng.standard_normal(a.shape) for a in arrays]
    got = sum((g * v).sum() for g, v in zip(d, directions))
    assert abs(got - slope(layer, arrays, directions, cotangent)) < 1e-7


def test_joined_keys_and_slices(rng):
    @attn.function
    def step(x: attn.f64["batch", 2, "new", 8], past: attn.f64["batch", 2, "past", 8]):
        keys = attn.concat([past, x, past], axis=2)
        return attn.context(attn.softmax(attn.scores(x, keys) * 0.5), keys)[:, :, 1:] + 1.0

    arrays = rng.standard_normal((1, 2, 4, 8)), rng.standard_normal((1, 2, 3, 8))
    out, gradient = attn.value_and_grad(step)(*arrays)
    assert out.shape == (1, 2, 3, 8)
    cotangent = rng.standard_normal(out.shape)
    directions = [rng.standard_normal(a.shape) for a in arrays]
    got = sum((g * v).sum() for g, v in zip(gradient(cotangent), directions))
    assert abs(got - slope(step, arrays, directions, cotangent)) < 1e-7


def test_one_argument_gives_one_array(arrays):
    out, gradient = attn.value_and_grad(layer, wrt="w")(*arrays)
    assert gradient(np.ones_like(out)).shape == (8, 8)


def test_a_cotangent_that_is_left_out(rng):
    pair = attn.value_and_grad(attn.attention(attn.causal(), heads=2, dim=8, dtype="f64", returns=("out", "lse")), wrt=("q", "k"))
    q, k, v = (rng.standard_normal((1, 2, 6, 8)) for _ in range(3))
    results, gradient = pair(q, k, v)
    zero = np.zeros_like(results.lse)
    for a, b in zip(gradient(results.out), gradient(results.out, zero)):
        assert np.array_equal(a, b)
    assert np.abs(gradient(lse=zero + 1).d_q).max() > 1e-3
    with pytest.raises(TypeError, match="expected the derivative of the loss by out or lse"):
        gradient()
    with pytest.raises(TypeError, match="has no result 'weights' with a gradient"):
        gradient(weights=zero)


def test_weights(rng):
    attention = attn.attention(attn.causal(), heads=2, dim=8, dtype="f64", returns=("out", "weights"))
    arrays = [rng.standard_normal((1, 2, 6, 8)) for _ in range(3)]
    results, gradient = attn.value_and_grad(attention)(*arrays)
    cotangent = rng.standard_normal(results.weights.shape)
    directions = [rng.standard_normal(a.shape) for a in arrays]
    got = sum((g * v).sum() for g, v in zip(gradient(weights=cotangent), directions))
    assert abs(got - slope(lambda *a: attention(*a).weights, arrays, directions, cotangent)) < 1e-7


PROJECT = """  %y = attn.project %x, %w : (tensor<?x4xf64>, tensor<4x4xf64>) -> tensor<?x4xf64>
  return %y : tensor<?x4xf64>
}
"""


@pytest.mark.parametrize("arguments", [
    "(%x : tensor< ?x4xf64 > {attn.gradient}, %w: tensor<4x4xf64>)",
    " (%x: tensor<?x4xf64>{attn.gradient,attn.name=\"x\"}, // of (what\n %w: tensor<4x4xf64> { attn.gradient })",
    '(%x: tensor<?x4xf64> {attn.gradient, my.note = "of (x"}, %w: tensor<4x4xf64>)',
    "(%x: tensor<?x4xf64>, // attn.gradient stands here, too :(\n %w: tensor<4x4xf64>)",
])
def test_texts_as_people_write_them(arguments, rng):
    """Brackets in comments, other spaces."""
    text = f"// func.func @old(%x\nfunc.func @g{arguments} -> tensor<?x4xf64> {{\n{PROJECT}"
    for given in (text, f"module {{ {text[text.index('func.func @g'):]}}}"):
        out, gradient = attn.value_and_grad(attn.compile(given), wrt="w")(rng.standard_normal((3, 4)), np.eye(4))
        assert gradient(np.ones_like(out)).shape == (4, 4)


def test_arrays_that_a_kernel_carries(rng):
    x = rng.standard_normal((1, 2, 3, 4)).astype(np.float32)
    learned = attn.value_and_grad(attn.attention(heads=2, dim=4, bias=np.zeros((3, 3), np.float32)))
    for arrays, named in (((x, x, x, x), {}), ((x, x, x), {"q": x}), ((x, x, x), {"bias": x})):
        with pytest.raises(TypeError, match="takes q, k, v, each once"):
            learned(*arrays, **named)


def test_an_argument_that_reaches_no_result(rng):
    @attn.function
    def first(a: attn.f32["n", 4], b: attn.f32["n", 4]):
        return a * 2.0

    a = rng.standard_normal((3, 4)).astype(np.float32)
    _, gradient = attn.value_and_grad(first, wrt="b")(a, a)
    np.testing.assert_array_equal(gradient(), np.zeros((3, 4), np.float32))


def test_learned_without_wrt_is_what_a_call_passes(rng):
    """And neither arrays of the closure, nor defaults. Numbers of Python are arguments without dimensions."""
    table = rng.standard_normal(4).astype(np.float32)

    @attn.function
    def loss(x: attn.f32["n", 4], power=2, *, factor: attn.f32[()], seen: attn.i1[()]):
        return attn.where(seen, (x**power * table).sum() * factor, 0.0)

    x = rng.standard_normal((3, 4)).astype(np.float32)
    value, gradient = attn.value_and_grad(loss)(x, factor=0.5, seen=True)
    d = gradient(2.0)
    assert d._fields == ("d_x", "d_factor")
    np.testing.assert_allclose(d.d_x, 2 * x * table, rtol=1e-5)
    np.testing.assert_allclose(d.d_factor, 4 * value, rtol=1e-5)
    for wrong, error in (({"factor": 1e39}, "factor: expected a number that f32 has"), ({"seen": 1}, "seen: expected i1, but got int")):
        with pytest.raises((TypeError, ValueError), match=error):
            attn.value_and_grad(loss)(x, **{"factor": 1, "seen": True} | wrong)
    with pytest.raises(ValueError, match="out: is read-only"):
        attn.compile(SUM)(x, out=3.0)


SUM = """func.func @sum(%x: tensor<?x4xf32>) -> (tensor<f32> {attn.name = "out"}) {
  %zero = arith.constant dense<0.0> : tensor<f32>
  %y = linalg.reduce ins(%x : tensor<?x4xf32>) outs(%zero : tensor<f32>) dimensions = [0, 1] (%a: f32, %b: f32) {
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  }
  return %y : tensor<f32>
}
"""


def test_what_is_refused():
    with pytest.raises(TypeError, match="wrt: expected an argument of layer to learn, but got none"):
        attn.value_and_grad(layer, wrt=())
    with pytest.raises(TypeError, match="wrt: layer has no argument 'y', only x, w"):
        attn.value_and_grad(layer, wrt=("y",))
    with pytest.raises(TypeError, match="expected a kernel"):
        attn.value_and_grad(lambda x: x)
    with pytest.raises(TypeError, match="wrt: expected an argument of floats to learn, but lengths has elements of i32"):
        attn.value_and_grad(attn.attention(attn.key_length("lengths"), heads=2, dim=8), wrt=("lengths",))
    with pytest.raises(TypeError, match="wrt: layer has no argument 2, only x, w"):
        attn.value_and_grad(layer, wrt=2)
    assert attn.value_and_grad(layer, wrt=1).pair.gradient.results[0].name == "d_w"


def test_residuals_are_needed(rng):
    text = """func.func @learned(%q: tensor<?x16xf32> {attn.gradient}, %k: tensor<?x16xf32>) -> (tensor<?x16xf32> {attn.name = "out"}, tensor<?xf32> {attn.name = "lse"}) {
  %out, %lse = attn.sdpa %q, %k, %k scale 0.25 returning(out, lse) : (tensor<?x16xf32>, tensor<?x16xf32>, tensor<?x16xf32>) -> (tensor<?x16xf32>, tensor<?xf32>)
  return %out, %lse : tensor<?x16xf32>, tensor<?xf32>
}"""
    gradient = attn.compile(text, "learned_gradient")
    q, k = (rng.standard_normal((n, 16)).astype(np.float32) for n in (5, 7))
    with pytest.raises(TypeError, match="learned_gradient needs out, lse"):
        gradient(q, k)
    with pytest.raises(TypeError, match="out: expected an array, out: f32"):
        gradient(q, k, None, q[:, 0].copy())
    with pytest.raises(ValueError, match="out: dimension 0 is not the same as q's dimension 0"):
        gradient(q, k, q[:4], q[:, 0].copy())


def test_dropout_in_a_function(rng):
    """The weights that a seed drops are those of attn.attention, and their gradient is that of what was left."""
    @attn.function
    def layer(x: attn.f32["b", "n", 16], seed: attn.i64[()]):
        return attn.context(attn.dropout(attn.softmax(attn.scores(x, x) * 0.25), 0.5, seed), x)

    x = rng.standard_normal((3, 6, 16)).astype(np.float32)
    scores = x @ x.swapaxes(1, 2) * 0.25
    weights = np.exp(scores) / np.exp(scores).sum(-1, keepdims=True)
    np.testing.assert_allclose(layer(x, np.int64(-1)), weights @ x, atol=1e-5)
    np.testing.assert_array_equal(layer(x, 7), layer(x, np.int64(7)))
    for seed, error in ((7.0, "seed: expected i64, but got float"), (2**63, "seed: expected a number that i64 has"), ("7", "expected an array")):
        with pytest.raises((TypeError, ValueError), match=error):
            layer(x, seed)
    attend = attn.attention(heads=None, dim=16, dropout=0.5)
    np.testing.assert_array_equal(layer(x[:1], np.int64(7))[0], attend(x[0], x[0], x[0], seed=np.int64(7)))
    value, gradient = attn.value_and_grad(layer, wrt="x")(x, np.int64(7))
    slope = gradient(np.ones_like(value))
    np.testing.assert_array_equal(value, layer(x, np.int64(7)))
    way = rng.standard_normal(x.shape).astype(np.float32) * 1e-2
    ahead, behind = (layer(x + sign * way, np.int64(7)).sum(dtype=np.float64) for sign in (1, -1))
    np.testing.assert_allclose((slope * way).sum(), (ahead - behind) / 2, rtol=2e-3)
    for wrong, message in ((lambda x, seed: attn.dropout(x, 0.5, seed), "weights of an attention"),
                           (lambda x, seed: attn.dropout(attn.softmax(attn.scores(x, x)), 1.0, seed), "below 1"),
                           (lambda x, seed: attn.dropout(attn.softmax(attn.scores(x, x)), 0.5, x), "a seed of")):
        def refused(x: attn.f32["n", 16], seed: attn.i64[()]):
            return wrong(x, seed)

        with pytest.raises(Exception, match=message):
            attn.function(refused)


def gradient_of(f, x):
    """By a cotangent of ones."""
    y, gradient = attn.value_and_grad(f)(x)
    return gradient(np.ones_like(y))


@pytest.mark.parametrize("dtype, name, far", [(attn.f16, "float16", 20), (attn.f32, "float32", 1000), (attn.f64, "float64", 5000)])
def test_where_an_exponential_has_no_number(dtype, name, far):
    """Its quotients have one, and so have their slopes."""
    @attn.function
    def silu(x: dtype["n"]):
        return attn.silu(x)

    @attn.function
    def sigmoid(x: dtype["n"]):
        return attn.sigmoid(x)

    x = np.array([-far, -12, -3, 0, 3, far], name)
    s = 1 / (1 + np.exp(-np.maximum(x.astype(np.float64), -700)))
    tolerance = 2e-3 if x.itemsize == 2 else 1e-6
    np.testing.assert_allclose(gradient_of(sigmoid, x), s * (1 - s), atol=tolerance)
    np.testing.assert_allclose(gradient_of(silu, x), s + x.astype(np.float64) * s * (1 - s), atol=tolerance)


def test_gelu_of_large_halves():
    @attn.function
    def gelu(x: attn.f16["n"]):
        return attn.gelu(x, "tanh")

    x = np.array([-30000, -300, -20, 0, 20, 300, 30000], np.float16)
    np.testing.assert_array_equal(gelu(x), np.maximum(x, 0))
    np.testing.assert_array_equal(gradient_of(gelu, x), [0, 0, 0, 0.5, 1, 1, 1])


def test_a_score_function_with_such_a_quotient(rng):
    @attn.function
    def attend(x: attn.f64["n", 4]):
        scores = attn.score_mod(attn.scores(x, x), lambda s, *_: s / (1 + attn.exp(s * -300)))
        return attn.context(attn.softmax(scores), x)

    x, way = rng.standard_normal((2, 5, 4))
    y, gradient = attn.value_and_grad(attend)(x)
    ahead, behind = (attend(x + h * way).sum() for h in (1e-6, -1e-6))
    np.testing.assert_allclose((gradient(np.ones_like(y)) * way).sum(), (ahead - behind) / 2e-6, rtol=1e-5)


def test_slopes_at_corners():
    """Of two equal operands of max and min each gets half, also of a number: relu has 1/2 at 0."""
    @attn.function
    def relu(x: attn.f32["n"]):
        return attn.relu(x)

    @attn.function
    def clip(x: attn.f32["n"]):
        return x.clip(-1, 2)

    @attn.function
    def larger(x: attn.f32["n"], y: attn.f32["n"]):
        return np.maximum(x, y)

    x = np.array([-1, 0, 1, 2, 3], np.float32)
    np.testing.assert_array_equal(gradient_of(relu, x), [0, 0.5, 1, 1, 1])
    np.testing.assert_array_equal(gradient_of(clip, x), [0.5, 1, 1, 0.5, 0])
    y, gradient = attn.value_and_grad(larger, wrt="x")(x, x[::-1].copy())
    np.testing.assert_array_equal(gradient(np.ones_like(y)), [0, 0, 0.5, 1, 1])


def test_roots_of_nothing(rng):
    """The spread and the norm of a row of one number have no slope there."""
    @attn.function
    def normed(x: attn.f32["n", 4]):
        return (x - x.mean(-1, keepdims=True)) / (x.std(-1, keepdims=True) + 1e-5)

    @attn.function
    def norm(x: attn.f32["n", 4]):
        return np.linalg.norm(x, axis=-1)

    x = rng.standard_normal((3, 4)).astype(np.float32)
    x[1] = 0
    np.testing.assert_array_equal(normed(x)[1], 0)
    slope = gradient_of(normed, x)
    np.testing.assert_allclose(slope[1], 0, atol=1e-6)
    assert np.isfinite(slope).all()
    np.testing.assert_allclose(gradient_of(norm, x), x / np.maximum(np.sqrt((x * x).sum(-1, keepdims=True)), 1e-9), atol=1e-6)
    x[1] = np.nan
    assert np.isnan(norm(x)[1])


def test_names_that_a_gradient_needs():
    @attn.function
    def step(x: attn.f32["n"], d_x: attn.f32["n"]):
        return x * d_x

    with pytest.raises(Exception, match="one of whose ports is called 'd_x', but there is an argument of this name"):
        attn.value_and_grad(step, wrt="x")(np.zeros(3, np.float32), np.zeros(3, np.float32))
