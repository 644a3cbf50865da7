# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Results in the place of arguments: a cache of which each sequence writes a row of its own, and any other functions of an argument."""
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
    with pytest.raises(attn.Error, match="an element lies outside of its tensor"):
        step(q, k, positions[:2], keys, out=(None, keys))


# --- what is no cache: functions of X, Y of 4 x 4 and a row O, which return their results in the place of X, or of X and Y, or nowhere ---

T, ROW = "tensor<4x4xf32>", "tensor<1x4xf32>"
X = np.arange(16, dtype=np.float32).reshape(4, 4)
Y, O = X + 1000, np.full((1, 4), 7, np.float32)
INSERT = f"""
  %a = tensor.insert_slice %o into %x[0, 0] [1, 4] [1, 1] : {ROW} into {T}
  %b = tensor.insert_slice %o into %x[1, 0] [1, 4] [1, 1] : {ROW} into {T}"""
A, B = (np.concatenate([X[:i], O, X[i + 1:]]) for i in (0, 1))
EMPTY = f"""
  %e = tensor.empty() : {T}"""
TRANSPOSED = EMPTY + f"""
  %a = linalg.transpose ins(%x : {T}) outs(%e : {T}) permutation = [1, 0]"""
SUM = f"""
  %b = arith.addf %x, %x : {T}"""
FILLED = EMPTY + f"""
  %zero = arith.constant 0.0 : f32
  %a = linalg.fill ins(%zero : f32) outs(%e : {T}) -> {T}"""
REVERSED = EMPTY + f"""
  %c3 = arith.constant 3 : index
  %a = linalg.generic {{indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}} outs(%e : {T}) {{
  ^bb0(%out: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %k = arith.subi %c3, %i : index
    %v = tensor.extract %x[%k, %j] : {T}
    linalg.yield %v : f32
  }} -> {T}"""
NORM = f"""
  %n = attn.rms_norm %x eps 1.0e-6 : {T}
  %p = attn.project %n, %x : ({T}, {T}) -> {T}
  %a = arith.addf %x, %p : {T}"""
LOOP = f"""
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %a, %b = scf.for %i = %c0 to %c3 step %c1 iter_args(%s = %x, %t = %y) -> ({T}, {T}) {{
    %n = tensor.insert_slice %o into %s[%i, 0] [1, 4] [1, 1] : {ROW} into {T}
    scf.yield %t, %n : {T}, {T}
  }}"""
BRANCH = f"""
  %c0 = arith.constant 0 : index
  %first = tensor.extract %x[%c0, %c0] : {T}
  %zero = arith.constant 0.0 : f32
  %is = arith.cmpf ONE, %first, %zero : f32
  %a = scf.if %is -> {T} {{
    scf.yield %x : {T}
  }} else {{
    scf.yield %y : {T}
  }}"""


def turned():
    x, y = X.copy(), Y.copy()
    for i in range(3):
        x[i] = O[0]
        x, y = y, x
    return x, y


NORMED = X + X / np.sqrt((X.astype(np.float64) ** 2).mean(-1, keepdims=True) + 1e-6) @ X
# The body, and what is returned: values, numbers, and places.
PROGRAMS = {
    "two of one": (INSERT, ("a", A, "x"), ("b", B, None)),
    "two of one, turned": (INSERT, ("b", B, None), ("a", A, "x")),
    "two of one, two places": (INSERT, ("a", A, "x"), ("b", B, "y")),
    "two of one, places turned": (INSERT, ("b", B, "y"), ("a", A, "x")),
    "and what was there": (INSERT, ("a", A, "x"), ("x", X, None)),
    "exchanged": ("", ("y", Y, "x"), ("x", X, "y")),
    "transposed": (TRANSPOSED + SUM, ("a", X.T, "x"), ("b", X + X, None)),
    "filled": (FILLED + SUM, ("a", 0 * X, "x"), ("b", X + X, None)),
    "reversed": (REVERSED, ("a", X[::-1], "x")),
    "reversed in another's place": (REVERSED + SUM, ("a", X[::-1], "y"), ("b", X + X, "x")),
    "residual": (NORM, ("a", NORMED, "x")),
    "turned by a loop": (LOOP, ("a", turned()[0], "x"), ("b", turned()[1], "y")),
    "turned by a loop, in one place": (LOOP, ("a", turned()[0], "y"), ("b", turned()[1], None)),
    "one branch": (BRANCH.replace("ONE", "oeq"), ("a", X, "x"), ("x", X, "y")),
    "other branch": (BRANCH.replace("ONE", "une"), ("a", Y, "x"), ("x", X, "y")),
    "other branch, plain": (BRANCH.replace("ONE", "une"), ("a", Y, "x"), ("x", X, None)),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_any_function(name):
    """It gives the same where its results lie in the places that they may have, and where they do not."""
    body, *results = PROGRAMS[name]
    places = [f'{{attn.name = "r{i}"' + (f', attn.in_place = "{place}"' if place else "") + "}" for i, (_, _, place) in enumerate(results)]
    kernel = attn.compile(f"""
func.func @f(%x: {T} {{attn.name = "x"}}, %y: {T} {{attn.name = "y"}}, %o: {ROW}) -> ({", ".join(f"{T} {place}" for place in places)}) {{{body}
  return {", ".join(f"%{value}" for value, _, _ in results)} : {", ".join([T] * len(results))}
}}""")
    for is_there in (False, True):
        arguments = {"x": X.copy(), "y": Y.copy()}
        out = tuple(arguments[place] if is_there and place else None for _, _, place in results)
        got = kernel(arguments["x"], arguments["y"], O, out=out)
        for (_, want, _), array in zip(results, got):
            np.testing.assert_allclose(array, want, rtol=1e-5)
