# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Mask terms, one by one and joined, against what docs/SpecMasks.md says."""
import numpy as np
import pytest

import attn
from reference import attention as reference

SQ, SKV = 20, 26
LENGTHS = np.array([11, 26], np.int32)
IDS = np.sort(np.random.default_rng(2).integers(0, 4, SKV)).astype(np.int64)
STARTS = np.array([0, 7, 9, 26], np.int32)
ALLOWED = np.random.default_rng(3).random((SQ, SKV)) < 0.5
DOCUMENT = np.searchsorted(STARTS, np.arange(SKV), "right")
MASKS = {
    "causal": (attn.causal(), lambda b, h, i, j: j <= i),
    "bottom_right": (attn.causal("bottom_right"), lambda b, h, i, j: j <= i + SKV - SQ),
    "offset": (attn.causal(-3), lambda b, h, i, j: j <= i - 3),
    "offsets": (attn.causal(LENGTHS - 12), lambda b, h, i, j: j <= i + LENGTHS[b] - 12),
    "key_length": (attn.key_length(LENGTHS) & attn.causal("bottom_right"),
                   lambda b, h, i, j: (j < LENGTHS[b]) & (j <= i + LENGTHS[b] - SQ)),
    "one length": (attn.key_length(9), lambda b, h, i, j: j < 9),
    "window": (attn.window(3, 2), lambda b, h, i, j: (j >= i - 3) & (j <= i + 2)),
    "windows": (attn.window(left=LENGTHS), lambda b, h, i, j: j >= i - LENGTHS[b]),
    "prefix": (attn.prefix(5) | attn.causal(), lambda b, h, i, j: (j < 5) | (j <= i)),
    "sink": ((attn.sink(2) | attn.window(4, 0)) & attn.causal(), lambda b, h, i, j: ((j < 2) | (j >= i - 4)) & (j <= i)),
    "window array": (attn.window(3, 1, position=LENGTHS.copy()), lambda b, h, i, j: (j >= i + LENGTHS[b] - 3) & (j <= i + LENGTHS[b] + 1)),
    "chunked": (attn.chunked(8), lambda b, h, i, j: i // 8 == j // 8),
    "dilated": (attn.dilated(3) & ~attn.window(2, 2), lambda b, h, i, j: ((i - j) % 3 == 0) & (abs(i - j) > 2)),
    "block": (attn.block(10, 13, [[1, 0], [1, 1]]), lambda b, h, i, j: (i >= 10) | (j < 13)),
    "block array": (attn.block(10, 13, np.array([[0, 1], [1, 1]], bool)), lambda b, h, i, j: (i >= 10) | (j >= 13)),
    "document": (attn.document(IDS[:SQ].copy(), IDS) & attn.causal(), lambda b, h, i, j: (IDS[i] == IDS[j]) & (j <= i)),
    "cumulative": (attn.document(cumulative=(np.minimum(STARTS, SQ), STARTS)),
                   lambda b, h, i, j: DOCUMENT[i] == DOCUMENT[j]),
    "allowed": (attn.allowed(ALLOWED), lambda b, h, i, j: ALLOWED[i, j]),
    "array on the left": (ALLOWED & attn.causal(), lambda b, h, i, j: ALLOWED[i, j] & (j <= i)),
    "not allowed": (~attn.allowed(ALLOWED), lambda b, h, i, j: ~ALLOWED[i, j]),
    "with a function": (attn.causal() & (lambda b, h, i, j: (i + j) % (2 + h) == 0), lambda b, h, i, j: (j <= i) & ((i + j) % (2 + h) == 0)),
    "function on the left": ((lambda b, h, i, j: j > 3) | attn.causal(), lambda b, h, i, j: (j > 3) | (j <= i)),
}


@pytest.fixture(scope="module")
def arrays():
    rng = np.random.default_rng(1)
    return tuple(rng.standard_normal((2, 2, n, 16), np.float32) for n in (SQ, SKV, SKV))


@pytest.mark.parametrize("name", MASKS)
def test_mask(name, arrays):
    mask, sees = MASKS[name]
    kernel = attn.attention(mask, heads=2, dim=16)
    np.testing.assert_allclose(kernel(*arrays), reference(*arrays, mask_mod=sees)[0], atol=2e-6)
    assert repr(mask)


def test_arguments_by_name(arrays):
    kernel = attn.attention(attn.key_length("lengths") & attn.window(left="left"), heads=2, dim=16)
    assert [a.name for a in kernel.arguments] == ["q", "k", "v", "lengths", "left"]
    left = np.array([2, 30], np.int32)
    expected = reference(*arrays, mask_mod=lambda b, h, i, j: (j < LENGTHS[b]) & (j >= i - left[b]))[0]
    np.testing.assert_allclose(kernel(*arrays, LENGTHS, left), expected, atol=2e-6)
    np.testing.assert_allclose(kernel(*arrays, left=left, lengths=LENGTHS), expected, atol=2e-6)
    with pytest.raises(TypeError, match="needs left"):
        kernel(*arrays, LENGTHS)


def test_an_array_of_a_term_and_of_a_function(arrays):
    ids = IDS.copy()
    got = attn.flex_attention(*arrays, mask_mod=attn.document(ids[:SQ].copy(), ids) & (lambda b, h, i, j: ids[j] != 1),
                              score_mod=lambda s, b, h, i, j: s + 0.5 * ids[j])
    expected = reference(*arrays, lambda s, b, h, i, j: s + 0.5 * ids[j], lambda b, h, i, j: (ids[i] == ids[j]) & (ids[j] != 1))[0]
    np.testing.assert_allclose(got, expected, atol=2e-6)


def test_bias_sinks_and_layout(arrays, rng):
    bias = rng.standard_normal((2, 1, SKV)).astype(np.float32)
    kernel = attn.attention(heads=2, dim=16, bias=bias, layout="bshd")
    swapped = [np.ascontiguousarray(a.transpose(0, 2, 1, 3)) for a in arrays]
    expected = reference(*arrays, bias=bias)[0].transpose(0, 2, 1, 3)
    np.testing.assert_allclose(kernel(*swapped), expected, atol=2e-6)
    lse, out = attn.attention(heads=2, dim=16, bias=bias, returns=("lse", "out"))(*arrays)  # in the order of `returns`
    for got, want in zip((out, lse), reference(*arrays, bias=bias)):
        np.testing.assert_allclose(got, want, atol=2e-6)
    as_list = attn.attention(heads=2, dim=16, bias=bias.astype(np.float64).tolist(), returns=("lse", "out"))
    assert as_list.mlir == attn.attention(heads=2, dim=16, bias=bias.astype(np.float64), returns=("lse", "out")).mlir
    np.testing.assert_array_equal(as_list(*arrays)[0], lse)
    sinks = attn.attention(heads=2, dim=16, sinks=[-np.inf, -np.inf])
    np.testing.assert_allclose(sinks(*arrays), reference(*arrays)[0], atol=2e-6)


@pytest.mark.parametrize("wrong, text", [
    (lambda: attn.window(), "give left, right or both"),
    (lambda: attn.document(), "give ids or cumulative"),
    (lambda: attn.causal() & 3, "expected a mask"),
    (lambda: attn.attention(attn.key_length("q"), heads=2, dim=16), "'q' is no name for an argument, or is taken"),
    (lambda: attn.attention(attn.causal() & (lambda b, h, i, j: j > i), heads=2, dim=16), "admits no pair"),
    (lambda: attn.attention(dim=16, dtype="f8"), "expected f16, bf16, f32 or f64"),
    (lambda: attn.attention(dim=16, returns="lse"), "expected 'out' and others"),
    (lambda: attn.attention(dim=16, returns=("out", "out")), "each result once"),
    (lambda: attn.attention(dim=16, name="my-attention"), "name: expected a name of Python and C, but got 'my-attention'"),
    (lambda: attn.attention(dim=16, layout="sbhd"), "expected 'bhsd' or 'bshd'"),
    (lambda: attn.attention(dim=16, bias=np.zeros((3, 3), np.int32)), "bias: expected floats of f32, but got i32"),
    (lambda: attn.attention(dim=-8), "dim: expected a whole number of at least 0, but got -8"),
    (lambda: attn.attention(dim=8.0), "dim: expected a whole number of at least 0, but got 8.0"),
    (lambda: attn.attention(dim=8, heads=(1, 2, 3)), r"heads: expected a number, or a pair .*, but got \(1, 2, 3\)"),
    (lambda: attn.attention(dim=8, normalization="relu"), "normalization: expected softmax or sigmoid, but got 'relu'"),
    (lambda: attn.causal("bottom"), "expected 'top_left', 'bottom_right', .* but got 'bottom'"),
    (lambda: attn.window(left=3, position="botom_right"), "but got 'botom_right'"),
    (lambda: attn.causal() and attn.window(left=3), "a mask has no truth value; write & | ~"),
    (lambda: not attn.causal(), "a mask has no truth value"),
])
def test_wrong_masks(wrong, text):
    with pytest.raises((TypeError, ValueError, attn.Error), match=text):
        wrong()
