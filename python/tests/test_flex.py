# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Score and mask functions as people write them for FlexAttention: compared
with float64, and the tiles that their masks skip counted."""
import math
import re

import ml_dtypes
import numpy as np
import pytest

import attn
from reference import attention as reference

HEADS, DIM, QUERIES, KEYS = 4, 32, 150, 170
GAP = 7
IDS = np.sort(np.random.default_rng(3).integers(0, 5, 256)).astype(np.int32)
STARTS = np.searchsorted(IDS, np.arange(5)).astype(np.int64)
TABLE = np.random.default_rng(4).standard_normal((HEADS, 65)).astype(np.float32)
SLOPES = 2.0 ** -np.arange(1, HEADS + 1)
PREFIX = np.array([20, 65], np.int32)
NUMBER = np.array(3)
ALLOWED = np.random.default_rng(5).random(256) < 0.6


def _near(i, j):
    return abs(i - j) <= GAP


def causal(b, h, i, j):
    return i >= j


SCORES = {
    "alibi": lambda s, b, h, i, j: s + SLOPES[h] * (j - i),
    "relative_bias": lambda s, b, h, i, j: s + TABLE[h, attn.minimum(abs(i - j), 64)],
    "softcap": lambda s, b, h, i, j: 20 * attn.tanh(s / 20),
    "distance": lambda s, b, h, i, j: s - attn.log1p(abs(i - j)),
    "scaled_by_head": lambda s, b, h, i, j: s * (1.0 + h / 4),
    "where": lambda s, b, h, i, j: attn.where((i + j) % 2 == 0, s, s * 0.5),
    "squared": lambda s, b, h, i, j: s - 0.001 * (i - j) ** 2,
    "rotating": lambda s, b, h, i, j: s * np.cos((i - j) * 0.1),
    "clipped": lambda s, b, h, i, j: attn.maximum(attn.minimum(s, 1.5), -1.5),
    "numpy_where": lambda s, b, h, i, j: np.where(j > i, s - 3.0, s),
    "per_batch": lambda s, b, h, i, j: s + 0.25 * b,
    "power": lambda s, b, h, i, j: s - abs(i - j) ** 0.5,
    "array_of_one": lambda s, b, h, i, j: attn.where((NUMBER == 3) & (NUMBER != 2), s * 2, +NUMBER),
}
MASKS = {
    "causal": causal,
    "window": lambda b, h, i, j: (i >= j) & (i - j < 128),
    "both_sides": lambda b, h, i, j: _near(i, j),
    "prefix": lambda b, h, i, j: (j < 40) | (j <= i),
    "chunks": lambda b, h, i, j: i // 128 == j // 128,
    "dilated": lambda b, h, i, j: (i - j) % 3 == 0,
    "checkerboard": lambda b, h, i, j: (i // 384 + j // 384) % 2 == 0,
    "not_diagonal": lambda b, h, i, j: ~(i == j),
    "sink_and_window": lambda b, h, i, j: (j < 4) | ((i - j >= 0) & (i - j < 128)),
}
# Their tiles depend on arrays and heads, which only a call knows.
MASKS_OF_ARRAYS = {
    "document": lambda b, h, i, j: (IDS[i] == IDS[j]) & (j <= i),
    "document_start": lambda b, h, i, j: j >= STARTS[IDS[i]],
    "prefix_per_batch": lambda b, h, i, j: (j < PREFIX[b]) | (j <= i),
    "keys": lambda b, h, i, j: ALLOWED[j] & (j <= i),
    "by_head": lambda b, h, i, j: i - j < 16 * (h + 1),
}


@pytest.fixture(scope="module")
def arrays():
    rng = np.random.default_rng(1)
    return (rng.standard_normal((2, HEADS, QUERIES, DIM), np.float32), rng.standard_normal((2, 2, KEYS, DIM), np.float32),
            rng.standard_normal((2, 2, KEYS, DIM), np.float32))


@pytest.mark.parametrize("name", SCORES)
def test_score_function(name, arrays):
    np.testing.assert_allclose(attn.flex_attention(*arrays, SCORES[name]), reference(*arrays, SCORES[name])[0], atol=2e-5, rtol=1e-4)


def skipped_tiles(function, rows, columns):
    """How many tiles of 2048 queries and keys have no pair, by looking."""
    i, j = np.ogrid[:2048, :2048]
    sees = np.zeros((-(-2048 // rows) * rows, -(-2048 // columns) * columns), bool)
    sees[:2048, :2048] = function(0, 0, i, j)
    return int((~sees.reshape(sees.shape[0] // rows, rows, -1, columns).any((1, 3))).sum())


@pytest.mark.parametrize("name", MASKS | MASKS_OF_ARRAYS)
def test_mask_function(name, arrays):
    function = (MASKS | MASKS_OF_ARRAYS)[name]
    out, lse = attn.flex_attention(*arrays, mask_mod=function, return_lse=True)
    expected, expected_lse = reference(*arrays, mask_mod=function)
    np.testing.assert_allclose(out, expected, atol=2e-6, rtol=1e-5)
    np.testing.assert_allclose(lse, expected_lse, atol=2e-5)
    if name in MASKS_OF_ARRAYS:
        return
    # The kernel of the call above, from the cache.
    kernel = attn.attention(function, heads=(HEADS, 2), dim=DIM, returns=("out", "lse"))
    tiles = re.search(r"tiles +\d+ of (\d+) queries and (\d+) keys: .*?, (\d+) skipped", kernel.explain(q2=2048, k2=2048))
    rows, columns, found = map(int, tiles.groups())
    assert found == skipped_tiles(function, rows, columns)


def test_score_and_mask_together(arrays):
    out = attn.flex_attention(*arrays, SCORES["alibi"], causal)
    np.testing.assert_allclose(out, reference(*arrays, SCORES["alibi"], causal)[0], atol=2e-6, rtol=1e-5)


def test_nested_functions_and_python_numbers(arrays):
    def make(width):
        def inner(i, j):
            return abs(i - j) <= width

        return lambda b, h, i, j: inner(i, j)

    for width in (3, 9):
        np.testing.assert_allclose(attn.flex_attention(*arrays, mask_mod=make(width)),
                                   reference(*arrays, mask_mod=make(width))[0], atol=2e-6, rtol=1e-5)


def test_functions_of_math_and_builtins(arrays):
    traced = attn.flex_attention(*arrays, lambda s, b, h, i, j: s - math.log1p(max(i - j, j - i)))
    np.testing.assert_allclose(traced, reference(*arrays, SCORES["distance"])[0], atol=2e-6, rtol=1e-5)


def test_constant_arrays_are_part_of_the_kernel(arrays):
    weights = np.linspace(0, 1, HEADS).astype(np.float32)
    kernel = attn.attention(heads=(HEADS, 2), dim=DIM, score_mod=lambda s, b, h, i, j: s * attn.constant(weights)[h])
    assert [a.name for a in kernel.arguments] == ["q", "k", "v"]
    np.testing.assert_allclose(kernel(*arrays), reference(*arrays, lambda s, b, h, i, j: s * weights[h])[0], atol=2e-6, rtol=1e-5)


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16, np.float64])
def test_constant_arrays_of_all_types(dtype, arrays):
    limits = np.array([0.1, -3, np.inf, 1e-3] * HEADS, np.float32)[:HEADS].astype(dtype)
    wide = limits.astype(np.float64)
    if dtype == np.float64:
        arrays = [a.astype(dtype) for a in arrays]
    out = attn.flex_attention(*arrays, lambda s, b, h, i, j: attn.minimum(s, attn.constant(limits)[h]))
    np.testing.assert_allclose(out, reference(*arrays, lambda s, b, h, i, j: np.minimum(s, wide[h]))[0], atol=2e-6, rtol=1e-5)


@pytest.mark.parametrize("dtype", [np.float16, np.float64])
def test_types(dtype, arrays):
    arrays = [a.astype(dtype) for a in arrays]
    bound = 3e-3 if dtype == np.float16 else 1e-12
    out = attn.flex_attention(*arrays, SCORES["relative_bias"], causal)
    assert out.dtype == dtype
    np.testing.assert_allclose(out, reference(*arrays, SCORES["relative_bias"], causal)[0], atol=bound)


@pytest.mark.parametrize("shape", [(5, 32), (2, 5, 32), (1, 1, 1, 32)])
def test_ranks(shape, rng):
    q, k, v = (rng.standard_normal(shape, np.float32) for _ in range(3))
    np.testing.assert_allclose(attn.flex_attention(q, k, v, None, causal), reference(q, k, v, None, causal)[0], atol=2e-6)


def test_no_features(rng):
    q, k, v = np.empty((1, 2, 3, 0), np.float32), np.empty((1, 2, 4, 0), np.float32), rng.standard_normal((1, 2, 4, 8), np.float32)
    np.testing.assert_allclose(attn.flex_attention(q, k, v), np.broadcast_to(v.mean(2, keepdims=True), (1, 2, 3, 8)), atol=1e-6)


def test_same_meaning_same_text():
    def text(score, mask):
        return attn.attention(mask, score_mod=score, heads=2, dim=16).mlir

    first = text(lambda s, b, h, i, j: s - 0.5 * abs(i - j), lambda b, h, i, j: (i >= j) & (i - j < 9))
    second = text(lambda x, _0, _1, row, column: x - abs(row - column) * 0.5, lambda b, h, q, k: (q - k < 9) & (k <= q))
    assert first == second
    assert first != text(lambda s, b, h, i, j: s - 0.25 * abs(i - j), lambda b, h, i, j: (i >= j) & (i - j < 9))


REFUSED = {
    "if": (lambda s, b, h, i, j: s if i < j else -s, "write & | ~"),
    "chain": (lambda s, b, h, i, j: attn.where(0 < i < j, s, -s), "write & | ~"),
    "float()": (lambda s, b, h, i, j: s * float(i), "no number of Python"),
    "loop": (lambda s, b, h, i, j: s + sum(range(i)), "can index arrays"),
    "rank": (lambda s, b, h, i, j: s + TABLE[h], "TABLE has 2 dimensions, but is read with 1"),
    "slice": (lambda s, b, h, i, j: s + TABLE[h, :], "one element at a time"),
    "unknown function": (lambda s, b, h, i, j: np.cbrt(s), "cbrt has no traced form"),
    "hidden array": (lambda s, b, h, i, j: s + HIDDEN["table"][h, i], "attn.array"),
    "float index": (lambda s, b, h, i, j: s + TABLE[h, s], "expected an integer"),
    "division by 0": (lambda s, b, h, i, j: s + i // 0, "other than 0"),
    "string": (lambda s, b, h, i, j: s + "1", "expected a number"),
}
HIDDEN = {"table": TABLE}


@pytest.mark.parametrize("name", REFUSED)
def test_refusals_name_file_and_line(name, arrays):
    function, text = REFUSED[name]
    with pytest.raises(attn.Error, match=rf"test_flex\.py:{function.__code__.co_firstlineno}: .*{text}"):
        attn.flex_attention(*arrays, function)


def test_mask_that_answers_with_a_float(arrays):
    with pytest.raises(attn.Error, match="answers true or false"):
        attn.flex_attention(*arrays, mask_mod=lambda b, h, i, j: i * 0.5)
