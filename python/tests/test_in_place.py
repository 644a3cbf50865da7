# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A cache that is written where it lies, one position for each sequence."""
import numpy as np
import pytest

import attn

STEP = """
func.func @step(%q: tensor<?x2x1x8xf32>, %k: tensor<?x2x1x8xf32>, %positions: tensor<?xi64>, %keys: tensor<?x2x?x8xf32> {attn.name = "keys"})
    -> (tensor<?x2x1x8xf32> {attn.name = "o"}, tensor<?x2x?x8xf32> {attn.name = "next", attn.in_place = "keys"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = tensor.dim %q, %c0 : tensor<?x2x1x8xf32>
  %r = scf.for %i = %c0 to %b step %c1 iter_args(%c = %keys) -> tensor<?x2x?x8xf32> {
    %a = tensor.extract %positions[%i] : tensor<?xi64>
    %p = arith.index_cast %a : i64 to index
    %row = tensor.extract_slice %k[%i, 0, 0, 0] [1, 2, 1, 8] [1, 1, 1, 1] : tensor<?x2x1x8xf32> to tensor<1x2x1x8xf32>
    %n = tensor.insert_slice %row into %c[%i, 0, %p, 0] [1, 2, 1, 8] [1, 1, 1, 1] : tensor<1x2x1x8xf32> into tensor<?x2x?x8xf32>
    scf.yield %n : tensor<?x2x?x8xf32>
  }
  %o = attn.sdpa %q, %r, %r scale 0.5 : (tensor<?x2x1x8xf32>, tensor<?x2x?x8xf32>, tensor<?x2x?x8xf32>) -> tensor<?x2x1x8xf32>
  return %o, %r : tensor<?x2x1x8xf32>, tensor<?x2x?x8xf32>
}
"""
ROWS, POSITIONS = 9, np.array([8, 0, 3])


@pytest.fixture(scope="module")
def step():
    return attn.compile(STEP)


def inputs():
    rng = np.random.default_rng(1)
    q, k = rng.normal(size=(2, 3, 2, 1, 8)).astype(np.float32)
    return q, k, POSITIONS, rng.normal(size=(3, 2, ROWS, 8)).astype(np.float32)


def written():
    _, k, positions, keys = inputs()
    for i, p in enumerate(positions):
        keys[i, :, p] = k[i, :, 0]
    return keys


def test_what_overlaps(step):
    assert [r.overlaps for r in step.results] == [(), ("keys",)]


@pytest.mark.parametrize("has_room", [False, True])
def test_in_place(step, has_room):
    q, k, positions, keys = inputs()
    fresh = step(q, k, positions, keys)
    np.testing.assert_array_equal(keys, inputs()[3])
    np.testing.assert_array_equal(fresh.next, written())
    room = np.empty_like(q) if has_room else None
    o, after = step(q, k, positions, keys, out=(room, keys))
    assert after is keys and (not has_room or o is room)
    np.testing.assert_array_equal(keys, written())
    np.testing.assert_array_equal(o, fresh.o)


def test_views_of_a_larger_cache(step):
    q, k, positions, keys = inputs()
    large = np.full((3, 2, 2 * ROWS, 8), 7, np.float32)
    large[:, :, :ROWS] = keys
    step(q, k, positions, large[:, :, :ROWS], out=(None, large[:, :, :ROWS]))  # two views of one place
    np.testing.assert_array_equal(large[:, :, :ROWS], written())
    assert (large[:, :, ROWS:] == 7).all()


def test_refused(step):
    q, k, positions, keys = inputs()
    for other in (keys[::-1], keys[:, ::-1]):
        with pytest.raises(ValueError, match="next: shares memory with keys; it may be all of that, in the same order"):
            step(q, k, positions, keys, out=(None, other))
    with pytest.raises(ValueError, match="o: shares memory with q; a result needs memory of its own"):
        step(q, k, positions, keys, out=(q, keys))
    with pytest.raises(ValueError, match=r"k: expected k: f32\[k0, 2, 1, 8\], but got shape \(3, 2\)"):
        step(q, k[:, :, 0, 0], positions, keys, out=(None, keys))


@pytest.mark.parametrize("place", [-1, ROWS, 1 << 40, -1 << 40])
@pytest.mark.parametrize("sequence", [0, 2])
def test_outside_of_the_cache(step, place, sequence):
    """A sequence beyond the end of its part of the cache is refused, and nothing is written."""
    q, k, positions, keys = inputs()
    positions = positions.copy()
    positions[sequence] = place
    with pytest.raises(attn.Error, match="a slice lies outside of its tensor"):
        step(q, k, positions, keys, out=(None, keys))
    np.testing.assert_array_equal(keys, inputs()[3])


def test_fewer_positions_than_sequences(step):
    q, k, positions, keys = inputs()
    with pytest.raises(attn.Error, match="a slice lies outside of its tensor"):
        step(q, k, positions[:2], keys, out=(None, keys))
