# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whole functions: the programs a newcomer writes."""
import concurrent.futures
import pickle

import numpy as np
import pytest

import attn
from reference import attention as reference


def make(rng, *shape, dtype=np.float32):
    return rng.standard_normal(shape).astype(dtype)


def test_words(rng):
    @attn.function
    def words(q: attn.f32["n", 3], k: attn.f32["m", 3], v: attn.f32["m", 3]):
        weights = attn.softmax(attn.scores(q, k) * 3**-0.5)
        return attn.context(weights, v), weights

    q, k, v = make(rng, 4, 3), make(rng, 6, 3), make(rng, 6, 3)
    out, weights = words(q, k, v)
    np.testing.assert_allclose(out, reference(q, k, v)[0], atol=1e-6)
    np.testing.assert_allclose(weights.sum(-1), 1, atol=1e-6)
    assert words(q, k, v)._fields == ("out", "weights")
    assert "attn.softmax" in words.mlir and "fused" in words.explain()


def test_layer_with_weights_of_the_closure(rng):
    weights = {n: make(rng, 16, 16) / 4 for n in "qkvo"}
    table, lengths = make(rng, 4, 9), np.array([7, 3], np.int32)
    wq, wk, wv, wo = weights.values()

    @attn.function
    def layer(x: attn.f32["b", "n", 16], lengths: attn.i32["b"]):
        normal = attn.rms_norm(x, eps=1e-5)
        q, k, v = (attn.split_heads(attn.project(normal, w), 4) for w in (wq, wk, wv))
        scores = attn.score_mod(attn.scores(q, k) * 0.5, lambda s, b, h, i, j: s + table[h, attn.minimum(abs(i - j), 8)])
        scores = attn.mask(scores, attn.causal() & attn.key_length(lengths))
        return x + attn.project(attn.merge_heads(attn.context(attn.softmax(scores), v)), wo)

    x = make(rng, 2, 7, 16)
    normal = x / np.sqrt((x.astype(np.float64) ** 2).mean(-1, keepdims=True) + 1e-5)
    heads = [(normal @ w).reshape(2, 7, 4, 4).transpose(0, 2, 1, 3) for w in (wq, wk, wv)]
    out = reference(*heads, lambda s, b, h, i, j: s + table[h, np.minimum(abs(i - j), 8)],
                    lambda b, h, i, j: (j <= i) & (j < lengths[b]))[0]
    expected = x + out.transpose(0, 2, 1, 3).reshape(2, 7, 16) @ wo
    np.testing.assert_allclose(layer(x, lengths), expected, atol=2e-5)


def test_chained_with_residual_one_head_one_row(rng):
    @attn.function
    def chained(q: attn.f32["n", 8], k: attn.f32["m", 8]):
        first = attn.context(attn.softmax(attn.scores(q, k) * 8**-0.5), k) + q
        return attn.context(attn.softmax(attn.scores(first, k) * 8**-0.5), k)

    for n, m in ((1, 1), (1, 5), (3, 2)):
        q, k = make(rng, n, 8), make(rng, m, 8)
        first = reference(q, k, k)[0] + q
        np.testing.assert_allclose(chained(q, k), reference(first, k, k)[0], atol=1e-5)


def test_rope_of_16_bits(rng):
    @attn.function
    def rotated(x: attn.f16[1, 1, "n", 8], cos: attn.f32["p", 4], sin: attn.f32["p", 4]):
        return attn.rope(x, cos, sin)

    x, angles = make(rng, 1, 1, 5, 8, dtype=np.float16), np.arange(5)[:, None] * 0.3 ** np.arange(4)
    cos, sin = np.cos(angles).astype(np.float32), np.sin(angles).astype(np.float32)
    a, b = x[..., :4].astype(np.float64), x[..., 4:].astype(np.float64)
    np.testing.assert_allclose(rotated(x, cos, sin), np.concatenate([a * cos - b * sin, b * cos + a * sin], -1), atol=2e-3)


def test_steps_of_scores(rng):
    @attn.function
    def steps(q: attn.f64[2, "n", 4], b: attn.f64["n"], slopes: attn.f64[2], sinks: attn.f64[2]):
        scores = attn.alibi(attn.softcap(attn.scores(q, q) * 0.5, 5.0), slopes) + b
        return attn.context(attn.softmax(attn.mask(scores, lambda b, h, i, j: j <= i), sinks), q)

    q, b, slopes = make(rng, 2, 6, 4, dtype=np.float64), make(rng, 6, dtype=np.float64), np.array([0.5, 0.25])
    expected = reference(q, q, q, lambda s, _, h, i, j: 5 * np.tanh(s / 5) + b[j] + slopes[h] * (j - i), lambda b, h, i, j: j <= i,
                         scale=0.5)[0]
    np.testing.assert_allclose(steps(q, b, slopes, np.full(2, -np.inf)), expected, atol=1e-12)


def test_functions_read_tensors_of_unknown_sizes(rng):
    @attn.function
    def look_up(q: attn.f32["b", 4, "n", 8], k: attn.f32["b", 2, "m", 8], t: attn.f32["m"], lengths: attn.i32["b"]):
        scores = attn.score_mod(attn.scores(q, k) * 0.3, lambda s, b, h, i, j: s + t[j] * t[0])
        return attn.context(attn.softmax(attn.mask(scores, lambda b, h, i, j: (j < lengths[b]) | (j <= i))), k)

    for b, n, m in ((2, 5, 9), (1, 1, 1)):
        q, k, t, lengths = make(rng, b, 4, n, 8), make(rng, b, 2, m, 8), make(rng, m), np.arange(b, dtype=np.int32) * 4
        expected = reference(q, k, k, lambda s, b, h, i, j: s + t[j] * t[0], lambda b, h, i, j: (j < lengths[b]) | (j <= i), scale=0.3)[0]
        np.testing.assert_allclose(look_up(q, k, t, lengths), expected, atol=2e-6)


def test_two_calls_share_a_kernel(rng):
    def make_function():
        @attn.function
        def same(x: attn.f32["n", 4]):
            return attn.tanh(x) * 2.0

        return same

    assert make_function().kernel is make_function().kernel
    x = make(rng, 3, 4)
    np.testing.assert_allclose(make_function()(x), np.tanh(x) * 2, atol=1e-6)


def plain(q, k, v, scale=0.3):
    return reference(q, k, v, scale=scale)[0]


def test_slices_and_their_sizes(rng):
    @attn.function
    def cut(x: attn.f32["b", 2, "s", 8]):
        out = attn.context(attn.softmax(attn.scores(x[:, :, -1:], x) * 0.3), x)
        return out, out[:, :, 0], x[:, :, 1:], x[..., ::3, 2:6], x[:, :, 1:-1], x[:, :, 1:3], x[:, 1]

    for b, s in ((1, 3), (2, 8)):
        x = make(rng, b, 2, s, 8)
        out, row, *views = cut(x)
        np.testing.assert_allclose(out, plain(x[:, :, -1:], x, x), atol=1e-6)
        np.testing.assert_array_equal(row, out[:, :, 0])
        for got, want in zip(views, (x[:, :, 1:], x[..., ::3, 2:6], x[:, :, 1:-1], x[:, :, 1:3], x[:, 1])):
            np.testing.assert_array_equal(got, want)
    with pytest.raises(ValueError, match=r"dimension 2 is not s-2"):
        cut(make(rng, 1, 2, 1, 8))
    with pytest.raises(attn.Error, match="a slice lies outside"):
        cut(make(rng, 1, 2, 2, 8))


def test_a_size_whose_name_is_a_word_of_python(rng):
    kernel = attn.compile("""func.func @joined(%x: tensor<?x4xf32> {attn.sizes = ["from", ""]}, %y: tensor<?x4xf32> {attn.sizes = ["in", ""]}) -> tensor<?x4xf32> {
      %z = tensor.concat dim(0) %x, %y : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
      return %z : tensor<?x4xf32>
    }""")
    assert "from+in" in repr(kernel)
    assert kernel(make(rng, 2, 4), make(rng, 3, 4)).shape == (5, 4)


@pytest.mark.parametrize("past", [0, 5])
def test_keys_behind_those_of_the_past(rng, past):
    @attn.function
    def step(q: attn.f32["b", 4, "s", 8], old: attn.f32["b", 2, "p", 8], new: attn.f32["b", 2, "s", 8]):
        keys = attn.concat([old, new], axis=-2)
        return attn.context(attn.softmax(attn.mask(attn.scores(q, keys) * 0.3, attn.causal("bottom_right"))), keys), keys

    q, old, new = make(rng, 1, 4, 3, 8), make(rng, 1, 2, past, 8), make(rng, 1, 2, 3, 8)
    out, keys = step(q, old, new)
    np.testing.assert_array_equal(keys, np.concatenate([old, new], 2))
    expected = reference(q, keys, keys, None, lambda b, h, i, j: j <= i + past, scale=0.3)[0]
    np.testing.assert_allclose(out, expected, atol=1e-6)


def test_a_block_of_a_transformer(rng):
    wq, wk, wv = (make(rng, 16, 16) / 4 for _ in range(3))
    w1, w2, g, c = make(rng, 16, 32) / 4, make(rng, 32, 16) / 6, make(rng, 16), make(rng, 16)

    @attn.function
    def block(x: attn.f32["b", "s", 16]):
        normal = attn.layer_norm(x, g, c)
        q, k, v = (attn.split_heads(attn.project(normal, w), 4) for w in (wq, wk, wv))
        x = x + attn.merge_heads(attn.context(attn.softmax(attn.scores(q, k) * 0.5), v))
        return x + attn.project(attn.silu(attn.project(attn.layer_norm(x, g), w1)), w2)

    def normal(x, c=0):
        x = x.astype(np.float64)
        return (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5) * g + c

    x = make(rng, 2, 5, 16)
    heads = [(normal(x, c) @ w).reshape(2, 5, 4, 4).transpose(0, 2, 1, 3) for w in (wq, wk, wv)]
    y = x + plain(*heads, scale=0.5).transpose(0, 2, 1, 3).reshape(2, 5, 16)
    h = normal(y) @ w1
    np.testing.assert_allclose(block(x), y + h / (1 + np.exp(-h)) @ w2, atol=2e-5)


def test_layer_norm_with_less(rng):
    @attn.function
    def norms(x: attn.f32["n", 8], b: attn.f32[8]):
        return attn.layer_norm(x), attn.layer_norm(x, bias=b)

    x, b = make(rng, 3, 8), make(rng, 8)
    normal = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5)
    for out, bias in zip(norms(x, b), (0, b)):
        np.testing.assert_allclose(out, normal + bias, atol=1e-5)


def test_numbers_and_activations(rng):
    @attn.function
    def many(x: attn.f32["n", 8]):
        return (x + np.int32(1), np.float64(1.0) - x, 2 / (x * x + 1), attn.relu(x), attn.gelu(x, "tanh"), attn.maximum(x, 0.5), attn.minimum(-0.5, x),
                attn.maximum(x, x * 2), attn.transpose(x), x.T)

    x = make(rng, 5, 8)
    gelu = x / 2 * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))
    wanted = x + 1, 1 - x, 2 / (x * x + 1), np.maximum(x, 0), gelu, np.maximum(x, 0.5), np.minimum(x, -0.5), np.maximum(x, 2 * x), x.T, x.T
    for got, want in zip(many(x), wanted):
        np.testing.assert_allclose(got, want, atol=1e-6)


def test_arithmetic_on_scores_is_fused(rng):
    @attn.function
    def changed(x: attn.f64[2, "n", 8]):
        scores = attn.maximum(attn.scores(x, x) * 0.3 + 1.0, 0.2)
        return attn.context(attn.softmax(attn.tanh(2.0 / (scores * 3.0 - (-1.0)))), x)

    x = make(rng, 2, 6, 8, dtype=np.float64)
    expected = reference(x, x, x, lambda s, b, h, i, j: np.tanh(2 / (3 * np.maximum(s + 1, 0.2) + 1)), scale=0.3)[0]
    np.testing.assert_allclose(changed(x), expected, atol=1e-12)
    assert "fused attn.scores" in changed.explain()


def test_written_attention_of_any_type():
    def hand(q, k, v):
        s = q @ k.swapaxes(-1, -2) * 0.125
        p = np.exp(s - s.max(-1, keepdims=True))
        return p / p.sum(-1, keepdims=True) @ v

    def matrices(q: attn.f32["n", 64], k: attn.f32["m", 64], v: attn.f32["m", 64]):
        return hand(q, k, v)

    def narrow(q: attn.f16["b", 2, "n", 64], k: attn.f16["b", 2, "m", 64], v: attn.f16["b", 2, "m", 64]):
        return hand(q, k, v)

    for function in matrices, narrow:
        assert "fused attn.scores, attn.scale, attn.softmax, attn.context" in attn.function(function).explain()


@pytest.mark.parametrize("wrong, text", [
    ('def f(x): return x', "argument x needs a type"),
    ('def f(x: "4x4xf32"): return x', r"argument x needs a type, such as x: attn.f32\[.*\], but got '4x4xf32'"),
    ('def f(x: attn.f32["n", "2*n"]): return x', "sizes of arguments are numbers or names"),
    ('def f(*x: attn.f32["n", 3]): return x[0]', r"expected arguments that have names each, but got \*x"),
    ('def f(x: attn.f32["n", 3]): return 3', "returns a tensor or several"),
    ('def f(x: attn.i32["n", 3]): return x + 1.5', r"<string>:1: expected a whole number for a tensor of i32, but got 1.5"),
    ('def f(x: attn.f32["n", 3]): return x[1, 2, 3]', "expected at most 2 slices or whole numbers, but got 3"),
    ('def f(x: attn.f32["n", 3]): return x[:, 3]', "expected a place in a dimension of size 3, but got 3"),
    ('def f(x: attn.f32["n", 3]): return x[::-1]', "a step of at least 1"),
    ('def f(x: attn.f32["n", 3]): return x[-2:5]', "a slice whose size follows from that of"),
    ('def f(x: attn.f32["n", 3]): return x[x]', "expected places of i32 or i64, but got f32"),
    ('def f(x: attn.f32["n", 3], y: attn.f32["n", 4]): return attn.concat([x, y], 0)', "expected tensors that differ along axis 0 alone"),
    ('def f(x: attn.f32["n", 3], t: attn.f32["n"]): return attn.score_mod(attn.scores(x, x), lambda s, b, h, i, j: s + t[-1])',
     "t is read from the end of a dimension whose size, n, is not known"),
    ('def f(x: attn.f32["n", 3]): return attn.concat([], 0)', "expected a tensor or several"),
    ('def f(x: attn.f32["n", 3]): return attn.transpose(x, (0, 0))', "expected each axis of tensor<.x3xf32> once"),
    ('def f(x: attn.f32["n", 3]): return attn.gelu(x, "erf")', "expected 'none' or 'tanh'"),
    ('def f(x: attn.f32["n", 3]): return attn.split_heads(x, 2)', "expected a last size that 2 divides"),
    ('def f(x: attn.f32["n", 3]): return x if x else x', "no truth value"),
    ('def f(x: attn.f32["n", 3], y: attn.f64["n", 3]): return x * y', "expected tensors of one type"),
    ('def f(x: attn.f32["n", 3]): return attn.scores(x, 3)', "key: expected a tensor of the function, but got int"),
    ('def f(x: attn.f32["n", 3]): return attn.mask(attn.scores(x, x), "y")', "name its arguments"),
])
def test_wrong_functions(wrong, text):
    space = {"attn": attn}
    exec(wrong, space)
    with pytest.raises((TypeError, attn.Error), match=text):
        attn.function(space["f"])


def test_threads_trace_at_once():
    """Each its own program, whose score functions read tensors that they do not name."""
    def traced(name):
        def many(x: attn.f32["n", 8], t: attn.f32["n"]):
            tensors, y = [t], x
            for i in range(200):
                y = y + i
            scores = attn.score_mod(attn.scores(x, y), lambda s, b, h, i, j: s + tensors[0][j])
            return attn.context(attn.softmax(attn.mask(scores, lambda b, h, i, j: j <= i)), y)

        return attn.function(many, name=name).mlir

    names = [f"many{i}" for i in range(8)]
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        assert list(pool.map(traced, names)) == [traced(name) for name in names]


def test_names_of_types_and_sizes():
    seen = {}

    def looked_at(x: attn.f32["b", "n", np.int64(4)], y: attn.bf16["n"]):
        seen.update(x=x, y=y)
        return x[:, :np.int64(2), np.int64(1):]

    assert attn.function(looked_at).mlir.count("[0, 0, 1] [") == 1
    x, y = seen["x"], seen["y"]
    alike = np.float32, attn.f32, "float32", "f32", np.dtype("float32")
    assert all(x.dtype == kind and kind == x.dtype and not x.dtype != kind for kind in alike)
    assert y.dtype == attn.bf16 and y.dtype == "bfloat16" and y.dtype != np.float32
    assert x.dtype not in (attn.f64, np.int32, "f16", None, 3) and {"f32": 1}[x.dtype] == 1 and str(x.dtype) == "f32"
    assert np.finfo(x.dtype).eps == np.finfo(np.float32).eps and np.dtype(attn.f32) == np.float32
    b, n, d = x.shape
    assert [b * n, np.int64(2) * n, n * d * 2, n + np.int64(1), n - 1 + 1, b + n, (2 * n) // 2, n * 0] == ["b*n", "2*n", "8*n", "n+1", "n", "b+n", "n", 0]
    assert [b + n - b, n - n, n - b, 64 - n, 64 - (n + 1), n - b - n + 3, (n + n) - n] == ["n", 0, "n-b", "64-n", "63-n", "3-b", "n"]
    assert f"{n} " + n + "%s" % n == "n nn"
    assert pickle.loads(pickle.dumps((x.dtype, n))) == ("f32", "n")
    for wrong in (True, -1, 2.0, ""):
        with pytest.raises(TypeError, match="sizes are numbers or names"):
            attn.f32[wrong]


def test_ops_outside_of_a_function(rng):
    x = make(rng, 3, 4)
    with pytest.raises(attn.Error, match=r"test_graph\.py:\d+: ops on tensors stand in functions"):
        attn.scores(x, x)


@attn.function
def pickled(x: attn.f32["n", 16], w: attn.f32[8, 16], b: attn.f32[8]):
    y = attn.project(x, w, b, transposed=True)
    return y, attn.project(y[None, None], w)[0, 0]


def test_pickle(rng):
    """To another process and back: a function where it is defined, its kernel, an attention with its arrays, results by their names."""
    x, w, b = make(rng, 3, 16), make(rng, 8, 16), make(rng, 8)
    again = lambda value: pickle.loads(pickle.dumps(value))
    found = pickled(x, w, b)
    np.testing.assert_allclose(found[0], x @ w.T + b, atol=1e-5)
    np.testing.assert_allclose(found[1], (x @ w.T + b) @ w, atol=1e-5)
    assert again(pickled) is pickled and again(found)._fields == found._fields
    np.testing.assert_array_equal(again(pickled.kernel)(x, w, b)[1], found[1])
    attend = attn.attention(heads=None, dim=16, mask=attn.causal(), bias=make(rng, 3, 3))
    np.testing.assert_array_equal(again(attend)(x, x, x), attend(x, x, x))



def test_weights_of_another_size():
    def layer(x: attn.f32["n", 16], w: attn.f32[16, 8]):
        return attn.project(x, w, transposed=True)

    with pytest.raises(attn.Error, match="as many features of x as the weight takes"):
        attn.function(layer)


def test_arrays_that_are_named_as_such(rng):
    """attn.array and attn.constant stand for their array in a whole function as well."""
    w, g = rng.standard_normal((8, 8)).astype(np.float32), rng.standard_normal(8).astype(np.float32)
    x = rng.standard_normal((2, 8)).astype(np.float32)

    @attn.function
    def f(x: attn.f32["n", 8]):
        return attn.project(x, attn.constant(w)) + attn.array(g)

    np.testing.assert_allclose(f(x), x @ w + g, rtol=1e-5, atol=1e-5)
    with pytest.raises(attn.Error, match="weight: expected a tensor of the function, but got NoneType"):
        @attn.function
        def without(x: attn.f32["n", 8]):
            return attn.project(x, None)
