# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""NumPy's functions that are made of others, beside NumPy: sizes that are known and ones that a call chooses."""
import numpy as np
import pytest

import attn

SIZES = {"b": 2, "n": 5, "m": 7, "h": 3, "d": 4, "e": 6}
OPEN = "bnm"


def traced(function, *shapes, dtype=attn.f32):
    """The function, and one that traces it for shapes in letters, of which those in OPEN are sizes of a call."""
    def layer(*arrays):
        names = [f"x{i}" for i in range(len(shapes))]
        scope = {"function": function}
        exec(f"def layer({', '.join(names)}): return function({', '.join(names)})", scope)
        made = scope["layer"]
        made.__annotations__ = {name: dtype[tuple(c if c in OPEN else SIZES[c] for c in shape)] for name, shape in zip(names, shapes)}
        return attn.function(made)(*arrays)

    return layer


def same(rng, function, *shapes):
    arrays = [rng.standard_normal([SIZES[c] for c in shape]).astype(np.float32) for shape in shapes]
    found, wanted = traced(function, *shapes)(*arrays), function(*arrays)
    for got, want in zip(found, wanted) if isinstance(wanted, (list, tuple)) else [(found, wanted)]:
        assert got.shape == np.shape(want)
        np.testing.assert_allclose(got, want, atol=2e-5)


@pytest.mark.parametrize("subscripts", [
    "bnhd,bmhd->bhnm", "bhnm,bmhd->bnhd", "bnd,dhe->bnhe", "bnhe,hed->bnd", "nd,md->nm", "bn,bn->b", "d,d->", "bnd->dbn", "bnd->bn",
    "n,m", "bnhd,hd->bnh", "bhnd,bhmd->hbmn", "hd,bn->bhnd", "bnd,bnd->bd"])
def test_einsum(rng, subscripts):
    same(rng, lambda *arrays: np.einsum(subscripts, *arrays), *subscripts.split("->")[0].split(","))


def test_alone(rng):
    """In one function, which compiles once."""
    same(rng, lambda x: [made for part in every(x) for made in (part if isinstance(part, (list, tuple)) else [part])], "bnd")


def every(x):
    return [
        np.clip(x, -0.5, 0.5), np.clip(x, None, 0.1), np.stack([x, -x], axis=1), np.stack([x, -x], axis=-1),
        np.split(x, 2, axis=-1), np.split(x, [1, 3], axis=1), np.moveaxis(x, 0, -1),
        np.moveaxis(x, [0, 1], [1, 2]), np.linalg.norm(x, axis=-1), np.linalg.norm(x, axis=1, keepdims=True), np.linalg.norm(x, axis=(1, 2)), np.linalg.norm(x), np.linalg.norm(x, 2, axis=1),
        np.roll(x, 1, axis=1), np.roll(x, -2, axis=1), np.roll(x, 9, axis=-1), np.repeat(x, 3, axis=1),
        np.tile(x, (2, 1)), np.tile(x, (2, 1, 1, 1)), np.pad(x, ((0, 0), (1, 2), (0, 3)), constant_values=1.5),
        np.pad(x, 1), np.pad(x, (1, 2), constant_values=-np.inf), np.pad(x, ((0, 0), (1, 0), (0, 0)), constant_values=1e-7),
        np.concatenate([x, x]), np.concatenate([x, -x], axis=None), np.roll(x, 3), np.roll(x, -2, axis=None), np.repeat(x, 2, axis=None),
        np.zeros_like(x), np.ones_like(x) + x, np.full_like(x, np.nan), np.vstack([x, x]), np.hstack([x, -x]), np.broadcast_to(x[:1, :1], x.shape),
        np.broadcast_to(x, (3, *x.shape)), np.transpose(x, axes=(1, 0, 2)), x.ravel(), (x * 3).round(), *reshaped(x),
    ]


def reshaped(x):
    """Sizes that a call chooses, multiplied."""
    b, n, d = x.shape
    rows = x.reshape(b * n, d)
    return rows, rows.reshape(b, n, d), x.reshape(2 * n * b, d // 2), x.reshape((d * n) // d, b * d), np.vstack([rows, rows])[:n * 0 + 1]


def test_products(rng):
    same(rng, np.dot, "nd", "de")
    same(rng, np.dot, "bnd", "de")
    same(rng, np.dot, "d", "d")


def test_an_attention_by_einsum_is_fused(rng):
    @attn.function
    def attend(x: attn.f32["b", "n", 2, 8]):
        weights = attn.softmax(np.einsum("bqhd,bkhd->bhqk", x, x) * 8**-0.5)
        return np.einsum("bhqk,bkhd->bqhd", weights, x)

    x = rng.standard_normal((2, 7, 2, 8)).astype(np.float32)
    weights = np.exp(np.einsum("bqhd,bkhd->bhqk", x, x) * 8**-0.5)
    np.testing.assert_allclose(attend(x), np.einsum("bhqk,bkhd->bqhd", weights / weights.sum(-1, keepdims=True), x), atol=1e-5)
    assert "fused attn.scores" in attend.explain()


def test_rows_of_a_batch(rng):
    """Without heads, and a batch of any size."""
    @attn.function
    def attend(x: attn.f32["b", "n", 16]):
        return attn.context(attn.softmax(attn.mask(attn.scores(x, x) * 0.25, attn.causal())), x)

    for batch in (1, 2, 0):
        x = rng.standard_normal((batch, 5, 16)).astype(np.float32)
        scores = np.where(np.tril(np.ones((5, 5), bool)), x @ x.swapaxes(1, 2) * 0.25, -np.inf)
        weights = np.exp(scores)
        np.testing.assert_allclose(attend(x), weights / weights.sum(-1, keepdims=True) @ x, atol=1e-5)


@pytest.mark.parametrize("message, function", [
    ("a known size that 2 divides", lambda x: np.split(x, 2, axis=1)), ("a letter per dimension", lambda x: np.einsum("nd->n", x)),
    ("letters of 2 tensors", lambda x: np.einsum("bnd->b", x, x)), ("letters of the tensors behind", lambda x: np.einsum("bnd->bz", x)),
    ("as many places as axes", lambda x: np.moveaxis(x, [0, 0], [1, 2])), ("roots of sums of squares", lambda x: np.linalg.norm(x, 1, axis=-1)),
    ("roots of sums of squares", lambda x: np.linalg.norm(x, 2, axis=(1, 2))),
    ("two widths of at least 0", lambda x: np.pad(x, 1, mode="edge")), ("two widths of at least 0", lambda x: np.pad(x, ((1, 2),) * 2)),
    ("expected a tensor or a number", lambda x: np.pad(x, 1, constant_values=(1, 2))), ("expected an axis", lambda x: np.stack([x, x], axis=None)),
    ("a whole number of places", lambda x: np.roll(x, (1, 2), axis=(0, 1))), ("expected sizes of f32", lambda x: np.broadcast_to(x, ("m", 5, 4))),
    ("number of times above 0", lambda x: np.repeat(x, 0, axis=1))])
def test_refused(message, function):
    with pytest.raises(attn.Error, match=message):
        traced(function, "bnd")()
