# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arithmetic, reductions, products and lookups of whole functions, against NumPy. The programs are those that one writes first; most run
in NumPy as they stand. Gradients are compared with differences in f64."""
import numpy as np
import pytest

import attn

X = attn.f64["b", "n", 8]


def tuple_of(results):
    return results if isinstance(results, tuple) else (results,)


def typed(function, *types):
    """A function of attn, with these types of arguments."""
    names = function.__code__.co_varnames[:function.__code__.co_argcount]
    function.__annotations__ = dict(zip(names, types))
    return attn.function(function)


def same(got, expected, tolerance=1e-9):
    for a, b in zip(tuple_of(got), tuple_of(expected), strict=True):
        b = np.asarray(b)
        assert a.shape == b.shape
        np.testing.assert_allclose(a.astype(b.dtype), b, atol=tolerance, rtol=tolerance)


def check_gradient(traced, plain, arrays, rng, h=1e-6):
    """The slope in a random direction."""
    out, gradient = attn.value_and_grad(traced)(*arrays)
    cotangents = [rng.standard_normal(a.shape) for a in tuple_of(out)]
    slopes = tuple_of(gradient(*cotangents))
    learned = [i for i, a in enumerate(arrays) if a.dtype == np.float64]
    directions = {i: rng.standard_normal(arrays[i].shape) for i in learned}
    got = sum((d * directions[i]).sum() for i, d in zip(learned, slopes, strict=True))

    def loss(step):
        results = tuple_of(plain(*(a + step * directions[i] if i in directions else a for i, a in enumerate(arrays))))
        return sum((c * r).sum() for c, r in zip(cotangents, results))

    expected = (loss(h) - loss(-h)) / (2 * h)
    assert abs(got - expected) < 1e-5 * max(1, abs(expected))


def softmax(x, axis=-1):
    e = np.exp(x - x.max(axis, keepdims=True, initial=-1e300))
    return e / e.sum(axis, keepdims=True)


def broadcast(x, g, column):
    return x * g + g - x / (g * g + 1.0) + column * 2, np.maximum(x, g), np.minimum(x, 0.5), 2.0 ** x, -x % 3.0, g - x


def reduced(x):
    centred = x - x.mean(-1, keepdims=True)
    return centred, x.sum(1), x.sum(), x.max(-1), x.min(axis=2, keepdims=True), x.var(axis=-1), x.sum((0, 2)), np.mean(x, axis=2)


@pytest.mark.parametrize("sizes", [(2, 3), (1, 1), (2, 0), (1, 17)])
def test_broadcasting_and_reductions(rng, sizes):
    x, g, column = rng.standard_normal((*sizes, 8)), rng.standard_normal(8), rng.standard_normal((*sizes, 1))
    same(typed(broadcast, X, attn.f64[8], attn.f64["b", "n", 1])(x, g, column), broadcast(x, g, column))
    same(typed(reduced, X)(x), reduced(x))


def test_gradients_of_broadcasts_and_reductions(rng):
    x, g, column = rng.standard_normal((2, 3, 8)), rng.standard_normal(8), rng.standard_normal((2, 3, 1))
    check_gradient(typed(broadcast, X, attn.f64[8], attn.f64["b", "n", 1]), broadcast, (x, g, column), rng)
    check_gradient(typed(reduced, X), reduced, (x,), rng)


def test_reductions_of_nothing(rng):
    def nothing(x):
        return x.sum(1), x.max(1), x.min(), x.sum() * 2 + 1

    sums, maxima, least, number = typed(nothing, X)(np.zeros((2, 0, 8)))
    assert (sums == 0).all() and (maxima == -np.inf).all() and least == np.inf and number == 1

    mean = typed(lambda x: x.mean(1), X)(np.zeros((2, 0, 8)))
    assert mean.shape == (2, 8) and np.isnan(mean).all()


def test_sizes_of_one_name_are_compared(rng):
    def added(x, y, z):
        return x + y, z * 2

    kernel = typed(added, attn.f32["n", 4], attn.f32["m", 4], attn.f32["n"])
    x = np.ones((3, 4), np.float32)
    assert kernel(x, x, x[:, 0])[0].shape == (3, 4)
    with pytest.raises(ValueError, match="dimension 0 is not the same as x's"):
        kernel(x, x[:1], x[:, 0])  # a name is no 1
    with pytest.raises(ValueError, match="dimension 0 is not the same as x's"):
        kernel(x, x, x[:2, 0])


def test_names_beside_numbers(rng):
    def several(x, y, v):
        return x + y, x * y[:1], y * v[:, None] - x

    arrays = rng.standard_normal((4, 3)), rng.standard_normal((4, 3)), rng.standard_normal(4)
    kernel = typed(several, attn.f64["n", 3], attn.f64[4, "m"], attn.f64["n"])
    same(kernel(*arrays), several(*arrays))
    with pytest.raises(ValueError, match="x: dimension 0 is not 4"):
        kernel(np.ones((5, 3)), arrays[1], np.ones(5))


def test_products(rng):
    def products(x, w, y, v, batch):
        return x @ w, x @ x.swapaxes(-1, -2), y @ x, x @ v, v @ w, v @ v, batch @ w, batch @ x.transpose(0, 2, 1)[:, None]

    types = X, attn.f64[8, 5], attn.f64[4, "n"], attn.f64[8], attn.f64["b", 2, "m", 8]
    kernel = typed(products, *types)
    for b, n, m in ((2, 3, 5), (1, 1, 1), (1, 0, 2)):
        arrays = [rng.standard_normal(s) for s in ((b, n, 8), (8, 5), (4, n), (8,), (b, 2, m, 8))]
        same(kernel(*arrays), products(*arrays))
    arrays = [rng.standard_normal(s) for s in ((2, 3, 8), (8, 5), (4, 3), (8,), (2, 2, 5, 8))]
    check_gradient(kernel, products, arrays, rng)


def test_powers(rng):
    def powers(x, y):
        z = x * x + 1.0
        return x**2, x**5, x**-1, z**0.5, z**-0.5, z**1.5, z**y, x**0, abs(x), np.exp(x), np.square(x), x // 0.3 + 0 * y

    x = rng.standard_normal((2, 3, 8))
    kernel = typed(powers, X, attn.f64["n", 8])
    same(kernel(x, x[0]), powers(x, x[0]), 1e-8)


@pytest.mark.parametrize("dtype", [attn.i32, attn.i64])
def test_integers(rng, dtype):
    def integers(x, y):
        return (x + y, x * 3, 2 - x, -x, abs(x), x // 2, x % 3, x > y, (x == 1) | (y != x), x.sum(), x.max(1), x.min(0), x & y, x | 1, ~x, x**2,
                x @ y.T, np.where(x > y, x, 0), (x > 0).sum(-1))

    x, y = rng.integers(-5, 6, (2, 3, 4)).astype(f"int{dtype.name[1:]}")
    same(typed(integers, dtype["n", 4], dtype["n", 4])(x, y), integers(x, y), 0)


@pytest.mark.parametrize("name, tolerance", [("f16", 2e-3), ("bf16", 2e-2), ("f32", 2e-6)])
def test_types_stay(rng, name, tolerance):
    numpy_type = {"f16": "float16", "bf16": pytest.importorskip("ml_dtypes").bfloat16, "f32": "float32"}[name]

    def several(x, w):
        return (x * w[:, 0] - 1.5, x.mean(-1, keepdims=True), x.max(-1), x.var(-1), x @ w, x @ x.T, abs(x) ** 0.5, attn.softmax(x),
                x - x.sum(), attn.where(x > 0, x, 0.0))

    def plain(x, w):
        return (x * w[:, 0] - 1.5, x.mean(-1, keepdims=True), x.max(-1), x.var(-1), x @ w, x @ x.T, abs(x) ** 0.5, softmax(x),
                x - x.sum(), np.where(x > 0, x, 0.0))

    type = getattr(attn, name)
    x, w = (rng.standard_normal(s).astype(numpy_type) for s in ((5, 8), (8, 3)))
    for got, want in zip(typed(several, type["n", 8], type[8, 3])(x, w), plain(x.astype(np.float64), w.astype(np.float64))):
        assert got.dtype == x.dtype and got.shape == want.shape
        np.testing.assert_allclose(got.astype(np.float64), want, atol=5 * tolerance, rtol=2 * tolerance)


def test_sums_of_16_bits_do_not_overflow():
    x = np.full(70000, 2, np.float16)
    assert typed(lambda x: x.mean(), attn.f16["n"])(x) == 2


def test_casts(rng):
    def cast(x, i):
        return x.astype(np.float32), x.astype("int32"), (x > 0).astype(np.float64), i.astype(np.float64) * 0.5, i.astype(np.int64)

    x, i = rng.standard_normal((3, 4)) * 3, np.arange(12, dtype=np.int32).reshape(3, 4)
    for got, want in zip(typed(cast, attn.f64["n", 4], attn.i32["n", 4])(x, i), cast(x, i)):
        assert got.dtype == want.dtype
        np.testing.assert_array_equal(got, want)


def test_lookups(rng):
    def looked_up(ids, table, x):
        return table[ids] * 2 + 1, x[:, ids], x[..., ids, None], table[ids[0], ids[1]], table[ids[0][:, None], ids[1]]

    ids, table, x = np.array([[0, 3, 1], [2, 2, 0]]), rng.standard_normal((4, 8)), rng.standard_normal((2, 4, 5))
    kernel = typed(looked_up, attn.i64["b", "n"], attn.f64["v", 8], attn.f64["b", 4, 5])
    same(kernel(ids, table, x), looked_up(ids, table, x))
    check_gradient(kernel, looked_up, (ids, table, x), rng)
    outside = np.array([[9, -1, 0], [0, 0, 0]])
    same(kernel(outside, table, x)[0][0], table[[3, 0, 0]] * 2 + 1)


def test_arrays_of_the_closure(rng):
    table = rng.standard_normal((4, 8)).astype(np.float32)
    kernel = typed(lambda ids, x: (attn.take(table, ids) + table[0], table @ x.T, table * 2 - x[:1]), attn.i32["n"], attn.f32["n", 8])
    ids, x = np.array([3, 0], np.int32), rng.standard_normal((2, 8)).astype(np.float32)
    same(kernel(ids, x), (table[ids] + table[0], table @ x.T, table * 2 - x[:1]), 1e-5)


def test_layers_whose_scores_depend_on_the_one_in_front(rng):
    def layers(x, w):
        for _ in range(2):
            gate = (x @ w).reshape(1, -1)
            x = attn.softmax(attn.scores(x, x) * 0.3 * gate) @ x
        return x

    x, w = rng.standard_normal((5, 8)), rng.standard_normal(8)
    expected = x
    for _ in range(2):
        expected = softmax(expected @ expected.T * 0.3 * (expected @ w)) @ expected
    same(typed(layers, attn.f64["n", 8], attn.f64[8])(x, w), expected)


def test_functions_of_torch(rng):
    torch = pytest.importorskip("torch")
    row = torch.arange(4.0)

    def several(x):
        return torch.exp(x), torch.transpose(x, 0, 1), row * x, row - x, torch.sum(x, 1), torch.cat([x, x], 0)

    x = rng.standard_normal((3, 4)).astype(np.float32)
    same(typed(several, attn.f32["n", 4])(x), tuple(r.numpy() for r in several(torch.from_numpy(x))), 1e-6)
    with pytest.raises(attn.Error, match="var of tensors of a function is not known"):
        typed(lambda x: torch.var(x), attn.f32["n", 4])  # torch's divides by one less


def test_shapes(rng):
    def shapes(x):
        b, n, d = x.shape
        heads = x.reshape(b, n, 2, 4).transpose(0, 2, 1, 3)
        return (heads, heads.swapaxes(1, 2).reshape(b, n, d), x.reshape(-1), x.reshape(-1, 2, 4), x.reshape(b, -1), x.reshape(b, 1, n, d, 1),
                x.flatten(), x.reshape(-1, 4), x[:, None] + x[:, :, None], x[..., None, 2:4], x.sum().reshape(1, 1), x[:, None].squeeze(1))

    for b, n in ((2, 3), (1, 1), (2, 0)):
        x = rng.standard_normal((b, n, 8))
        if n:
            same(typed(shapes, X)(x), shapes(x))
            continue
        assert [r.shape for r in typed(shapes, X)(x)][:2] == [(b, 2, 0, 4), (b, 0, 8)]
    check_gradient(typed(shapes, X), shapes, (rng.standard_normal((2, 3, 8)),), rng)


def test_slices_without_elements(rng):
    def cut(x):
        none = x[:, :, 8:]
        return none, none[:, 0:], none[..., 1:].sum(), x[:, :, :1][..., ::2] + 1

    x = rng.standard_normal((2, 3, 8))
    same(typed(cut, X)(x), cut(x))


def test_a_size_divided(rng):
    same(typed(lambda x: x.reshape(*x.shape[:-1], -1, 2), attn.f64["n", "k"])(np.ones((3, 4))), np.ones((3, 2, 2)))
    kernel = typed(lambda x: x.reshape(-1, 4, 8), attn.f32["n", 8])
    x = rng.standard_normal((8, 8)).astype(np.float32)
    np.testing.assert_array_equal(kernel(x), x.reshape(-1, 4, 8))
    with pytest.raises(attn.Error):
        kernel(x[:7])


@pytest.mark.parametrize("wrong, text", [
    ("x * h", r"mul: expected shapes that broadcast, .* but got f32\[n, 4\] and f32\[5\]"),
    ("x * v", r"f32\[n, 4\] and f32\[7\]"),
    ("x * x.astype(attn.f64)", r"expected tensors of one type, but got f32\[n, 4\] and f64\[n, 4\]; write x.astype\(attn.f64\)"),
    ("i / 2", "div: expected floats"),
    ("(x > 0) + (x < 1)", "write attn.where"),
    ("x @ h", r"expected the last size .* but got f32\[n, 4\] and f32\[5\]"),
    ("x[:, :3] @ w", r"write x @ y.swapaxes\(-1, -2\)"),
    ("x.sum(2)", r"expected an axis of f32\[n, 4\], but got 2"),
    ("x.sum(dim=1)", "unexpected keyword argument 'dim'; it takes x, axis, keepdims"),
    ("x.mean((0, 0))", "expected each axis once"),
    ("x[:, :0].max(1)", "expected elements along the axes"),
    ("i.mean()", "mean: expected floats"),
    ("(x > 0).max()", r"write seen.sum\(\) > 0"),
    ("x if x > 0 else i", "write attn.where"),
    ("[row for row in x]", r"write x.sum\(0\)"),
    ("len(x)", "expected a known first size"),
    ("float(x)", r"write attn.exp\(x\)"),
    ("np.cumsum(x)", "cumsum of tensors of a function is not known"),
    ("np.take(x, ids)", "expected an axis"),
    ("x.sum(1, True)", "too many positional arguments"),
    ("np.add.reduce(x)", r"write x.sum\(axis\)"),
    ("x.view(2, 2)", r"no 'view'; write x.reshape"),
    ("x.spam", "no 'spam'; they have"),
    ("x / x.shape[0]", r"a size that a call chooses is no number yet, x.mean\(axis\) divides"),
    ("x.reshape(2, 2)", r"expected as many elements as those of \['n', 4\], but got \[2, 2\]"),
    ("x.reshape(-1, 'm')", "a size of .* that numbers divide"),
    ("x.reshape(-1, 1, 1, 1, 1, 1, 1)", "returns tensors of at most 6 dimensions"),
    ("x.reshape(-1, -1)", "expected -1 at most once"),
    ("x[x > 0]", r"write attn.where\(seen, x, 0\)"),
    ("x[[0, 1]]", "write np.array"),
    ("x[0, ids]", r"write x\[0\]\[ids\]"),
    ("table[ids]", r"looked up in by attn.take\(array, ids\)"),
    ("np.take(table, ids, axis=0)", r"looked up in by attn.take\(array, ids\)"),
    *((f"x * ({size})", r"a size that a call chooses, 'n', is no number yet; .* x.mean\(axis\) divides by one") for size in (
        "x.shape[0] ** -0.5", "2.0 * x.shape[0]", "x.shape[0] // 3", "1 / x.shape[0]", "x.shape[0] % 2", "-x.shape[0]", "int(x.shape[0])",
        "sum(range(x.shape[0]))", "np.sqrt(x.shape[0])", "np.ones(4) * x.shape[0]", "x.shape[0] > 3")),
    ("x * (3 - x.shape[0])", "expected a tensor of the function, but got '3-n'; a size that a call chooses is no number yet"),
    ("x.astype('spam')", "expected a type of elements"),
    ("attn.where(x, x, 0)", "expected a condition of i1"),
    ("attn.exp(i)", "exp: expected floats"),
    ("attn.exp(x, x)", "exp: too many positional arguments"),
    ("i // 0", "a number other than 0 and -1"),
    ("i + 2**40", "expected a number that i32 has"),
    ("attn.scores(x, x)", "no attn.context depends on it"),
    ("attn.scores(x, x) @ x", r"write attn.softmax\(scores\) @ v"),
    ("attn.mask(x, attn.causal())", r"mask: expected scores of attn.scores\(q, k\)"),
    ("attn.scores(x, x) > 0", "write attn.score_mod"),
    ("attn.context(attn.softmax(attn.scores(x, x) * x), x)", "sizes are 1 or have the same names"),
    ("attn.context(attn.softmax(s - s.max(-1, keepdims=True)), x)", "tensors that do not depend on them"),
    ("attn.context(attn.softmax(attn.mask(s, i)), x)", "expected truth values"),
    ("attn.rms_norm(x, h)", r"expected weight to be f32\[4\]"),
    ("attn.rope(x, x, x)", "expected cos and sin of one type"),
    ("attn.softcap(x, 0)", "expected a cap above 0"),
])
def test_wrong_programs(wrong, text):
    space = {"attn": attn, "np": np, "table": np.ones((3, 4), np.float32)}
    exec(f"def f(x, h, v, i, ids, w):\n    s = attn.scores(x, x) if 's - ' in {wrong!r} or '(s' in {wrong!r} else None\n    return {wrong}", space)
    f32 = attn.f32
    with pytest.raises(attn.Error, match=r"<string>:[123]: .*" + text):
        typed(space["f"], f32["n", 4], f32[5], f32[7], attn.i32["n", 4], attn.i32["k"], f32[5, 3])
