# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arrays in, arrays out: memory, strides, types, errors, threads."""
import concurrent.futures
import ctypes
import random

import ml_dtypes
import numpy as np
import pytest

import attn
from attn._call import _DLTensor
from reference import attention as reference


def make(rng, *shape, dtype=np.float32):
    return rng.standard_normal(shape).astype(dtype)


@pytest.fixture
def q(rng):
    return make(rng, 1, 2, 9, 16)


def test_names(plain):
    assert [str(a) for a in plain.arguments] == ["q: f32[q0, 2, q2, 16]", "k: f32[q0, 2, k2, 16]", "v: f32[q0, 2, k2, 16]"]
    assert [r.name for r in plain.results] == ["out"]
    assert "attention(q: f32[q0, 2, q2, 16]" in repr(plain)


def test_threads_are_any_integer(plain, q):
    np.testing.assert_array_equal(plain(q, q, q, threads=np.int64(2)), plain(q, q, q))


def test_by_name(plain, q):
    np.testing.assert_array_equal(plain(q, v=q, k=q), plain(q, q, q))


def test_no_copy_of_results(plain, q):
    """`out` is written in place, in the strides it has."""
    room = np.full((1, 9, 2, 16), np.nan, np.float32)
    out = room.transpose(0, 2, 1, 3)
    address = out.__array_interface__["data"][0]
    assert plain(q, q, q, out=out) is out
    assert out.__array_interface__["data"][0] == address
    np.testing.assert_allclose(room.transpose(0, 2, 1, 3), reference(q, q, q)[0], atol=1e-6)


def test_memory_of_large_results_serves_again(plain, rng):
    """Once nobody looks at a result, and not before; for a result that is a little longer, too."""
    address = lambda array: array.__array_interface__["data"][0]
    k = make(rng, 1, 2, 4, 16)
    q, longer = make(rng, 1, 2, 4090, 16), make(rng, 1, 2, 4095, 16)
    out = plain(q, k, k)
    first, want = address(out), out[0, 1].copy()
    view = out[0, 1:][:, ::2]
    del out
    other = plain(-q, k, k)
    assert address(other) != first and first % 64 == 0
    np.testing.assert_array_equal(view[0], want[::2])
    del view
    assert address(plain(q, k, k)) == first
    out = plain(longer, k, k)
    assert address(out) == first and out.flags.writeable
    np.testing.assert_allclose(out, reference(longer, k, k)[0], atol=1e-6)
    del out, other
    assert sum(m.size for m in plain.kernel._memory._free.values()) < 1.2 * 4 * longer.size


def test_no_copy_of_arguments(plain, q, monkeypatch):
    """The kernel sees the arrays' own addresses."""
    kernel, seen = plain.kernel, []
    run = kernel._run_capsules
    pointer_of = ctypes.PYFUNCTYPE(ctypes.POINTER(_DLTensor), ctypes.py_object, ctypes.c_char_p)(
        ("PyCapsule_GetPointer", ctypes.pythonapi))

    def watch(address, capsules, threads, check_overlap):
        seen.extend(pointer_of(c, b"dltensor").contents.data for c in capsules.value)
        return run(address, capsules, threads, check_overlap)

    monkeypatch.setattr(kernel, "_run_capsules", watch)
    monkeypatch.setattr(kernel, "_run_views", None)  # what is right is called the fast way
    k, v = q[:, :, ::2], q[:, ::-1]
    out = kernel(q, k, v[:, :, :5])
    assert kernel(q, k, v[:, :, :5], out=out) is out
    assert seen[:3] == seen[4:7] == [x.__array_interface__["data"][0] for x in (q, k, v)]
    assert seen[3] == seen[7] == out.__array_interface__["data"][0]


@pytest.mark.parametrize("view", [
    lambda x: x[:, :, ::2], lambda x: x[:, :, ::-1], lambda x: np.broadcast_to(x[:, :, :1], x.shape),
    lambda x: np.asfortranarray(x), lambda x: np.stack([x, x], -1)[..., 0], lambda x: x[:, :, :0]])
def test_strides(plain, q, view):
    k = view(q)
    np.testing.assert_allclose(plain(q, k, k), reference(q, k, k)[0], atol=1e-6)


def test_read_only_arguments(plain, q):
    k = q.copy()
    k.flags.writeable = False
    np.testing.assert_array_equal(plain(k, k, k), plain(q, q, q))


def test_buffers_and_other_libraries(plain, q):
    class Lends:
        """An array library that knows DLPack alone."""

        def __init__(self, array):
            self.array, self.shape = array, array.shape

        def __dlpack__(self, **options):
            return self.array.__dlpack__()

        def __dlpack_device__(self):
            return self.array.__dlpack_device__()

    expected = plain(q, q, q)
    np.testing.assert_array_equal(plain(Lends(q), memoryview(q), Lends(q)), expected)


def test_bf16(rng):
    kernel = attn.attention(heads=2, dim=16, dtype="bf16")
    x = make(rng, 1, 2, 9, 16, dtype=ml_dtypes.bfloat16)
    out = kernel(x, x, x)
    assert out.dtype == ml_dtypes.bfloat16
    np.testing.assert_allclose(out.astype(np.float64), reference(x, x, x)[0], atol=2e-2)
    with pytest.raises(TypeError, match="q: expected bf16, but got uint16"):
        kernel(x.view(np.uint16), x, x)


def test_several_results(rng):
    kernel = attn.attention(heads=2, dim=16, returns=("out", "lse", "weights"))
    x = make(rng, 1, 2, 9, 16)
    results = kernel(x, x, x)
    assert results._fields == ("out", "lse", "weights")
    np.testing.assert_allclose(results.lse, reference(x, x, x)[1], atol=1e-5)
    np.testing.assert_allclose(results.weights.sum(-1), 1, atol=1e-5)
    room = tuple(np.empty_like(r) for r in results)
    assert kernel(x, x, x, out=room) is room
    np.testing.assert_array_equal(room[2], results.weights)


WRONG = {
    "dtype": (lambda q: dict(k=q.astype(np.float64)), TypeError, "k: expected f32, but got f64"),
    "unknown dtype": (lambda q: dict(k=q.astype(np.complex64)), TypeError, "k: expected f32, but got complex64"),
    "rank": (lambda q: dict(v=q[0]), ValueError, r"v: expected v: f32\[q0, 2, k2, 16\], but got shape \(2, 9, 16\)"),
    "heads": (lambda q: dict(k=q[:, :1]), ValueError, "k: dimension 1 is not 2"),
    "lengths": (lambda q: dict(v=q[:, :, :3]), ValueError, "v: dimension 2 is not the same as k's dimension 2"),
    "list": (lambda q: dict(q=q.tolist()), TypeError, "q: expected an array, .* but got list"),
    "none": (lambda q: dict(q=None), TypeError, "q: expected an array, .* but got NoneType"),
    "byte order": (lambda q: dict(v=q.astype(">f4")), TypeError, "v: its bytes are in the order of other machines"),
    "bytes": (lambda q: dict(v=b"12345678"), TypeError, "v: expected f32, but got uint8"),
    "missing": (lambda q: dict(k=...), TypeError, "needs k"),
    "unknown name": (lambda q: dict(x=q), TypeError, "got 'x' twice|has no argument 'x'"),
    "out dtype": (lambda q: dict(out=q.astype(np.float64)), TypeError, "out: expected f32, but got f64"),
    "out shape": (lambda q: dict(out=q[:, :, :3].copy()), ValueError, "out: dimension 2 is not the same as q's"),
    "out overlaps": (lambda q: dict(out=q), ValueError, "out: shares memory with q"),
    "out overlaps itself": (lambda q: dict(out=np.broadcast_to(q[:, :, :1].copy(), q.shape)), ValueError, "out: is read-only"),
    "out list": (lambda q: dict(out=[1, 2]), TypeError, "out: expected 1 arrays"),
    "out number": (lambda q: dict(out=3), TypeError, "out: expected an array"),
    "threads": (lambda q: dict(threads=1.5), TypeError, "threads: expected an int, but got float"),
    "threads as text": (lambda q: dict(threads="2"), TypeError, "threads: expected an int, but got str"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_calls_name_the_argument(plain, q, name):
    change, error, text = WRONG[name]
    arguments = dict(q=q, k=q, v=q) | change(q)
    with pytest.raises(error, match=text):
        plain.kernel(**{n: a for n, a in arguments.items() if a is not ...})


def test_device_memory_is_refused(plain, q):
    class Elsewhere:
        shape, device = q.shape, "cuda:0"

        def __dlpack__(self, **options):
            raise BufferError

        def __dlpack_device__(self):
            return 2, 0

    with pytest.raises(ValueError, match="v: is in the memory of the device cuda:0"):
        plain(q, q, Elsewhere())


def test_interleaved_memory_is_no_overlap(plain, q):
    """Ranges of addresses that meet without sharing an element."""
    room = np.zeros((1, 2, 9, 32), np.float32)
    room[..., :16] = q
    out = room[..., 16:]
    plain(room[..., :16], q, q, out=out)
    np.testing.assert_allclose(out, reference(q, q, q)[0], atol=1e-6)


def test_several_threads_call_one_kernel(plain, rng):
    arrays = [make(rng, 1, 2, n, 16) for n in range(1, 40)]
    expected = [plain(x, x, x, threads=1) for x in arrays]
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        for found, wanted in zip(pool.map(lambda x: plain(x, x, x, threads=2), arrays * 5), expected * 5):
            np.testing.assert_array_equal(found, wanted)


def test_random_wrong_calls_never_crash(plain):
    """10^4 calls with arguments of any kind: a result, or an exception that a
    caller can catch."""
    rng, pick = np.random.default_rng(11), random.Random(11)

    def something():
        kind = pick.randrange(12)
        shape = tuple(pick.choice([0, 1, 2, 3, 9, 16]) for _ in range(pick.randrange(6)))
        if kind < 6:
            shape = (1, 2, pick.choice([0, 5, 5]), 16)
        dtype = pick.choice(["f4", "f4", "f4", "f8", "f2", "i4", "i8", "?", "u1", ">f4", "c8", "O", "U3"])
        array = rng.standard_normal(shape).astype("f4").astype(dtype if kind > 2 else "f4")
        if kind in (5, 6) and array.ndim:
            array = array[..., ::pick.choice([-1, 2, 3])]
        if kind == 7 and array.ndim > 1:
            array = array.swapaxes(0, -1)
        if kind == 8:
            array = np.broadcast_to(array, (2, *shape))
        if kind == 9:
            array = np.frombuffer(bytes(array.nbytes + 1), "u1")[1:1 + array.nbytes // 4 * 4].view("f4")
        return pick.choice([None, 3, "x", [1], {}, object(), b"bytes"]) if kind == 11 else array

    outcomes = {"right": 0, "refused": 0}
    for _ in range(10_000):
        named = {} if pick.random() < 0.7 else {"out": something()}
        if pick.random() < 0.05:
            named["threads"] = pick.choice([-1, 0, 1, 3, 2**40, "two", None])
        try:
            plain.kernel(*[something() for _ in range(pick.choice([3, 3, 3, 3, 2, 4, 0]))], **named)
            outcomes["right"] += 1
        except (TypeError, ValueError, attn.Error) as error:
            assert str(error)
            outcomes["refused"] += 1
    assert outcomes["right"] > 20 and outcomes["refused"] > 5000


def test_sizes_that_are_computed():
    """Of arguments whose sizes have names like those of the computation, too."""
    from attn._call import size_of
    sizes = {"max": 9, "min_": 2, "s": 3, "b": 4}
    texts = {"max(max-4,0)": 5, "max(s-4,0)": 0, "min(s,7)*b": 12, "(b+s)/2": 3, "min(max(max,s),max(b,min_))-1": 3, "s-4": 0, 8: 8, "max": 9}
    assert {text: size_of(text, sizes) for text in texts} == texts
    with pytest.raises(ValueError, match="max and min"):
        size_of("max[s]", sizes)
