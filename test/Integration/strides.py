# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tensors with any strides, through the C interface: transposed, every other element, backwards, repeated. What such a
call computes must be, bit for bit, what the same call computes of contiguous tensors, which is compared with the
definition in f64."""
import argparse
import tempfile

import numpy as np

from kernels import Kernel, attention, compare, finish, load_kernel
from values import BOTTOM, PADDED, Case


def transposed(x):
    """The two last dimensions swapped in memory: keys that lie as columns."""
    return np.ascontiguousarray(x.swapaxes(-1, -2)).swapaxes(-1, -2) if x.ndim > 1 else x


def every_other(x):
    room = np.zeros((*x.shape[:-1], 2 * x.shape[-1]), x.dtype)
    room[..., ::2] = x
    return room[..., ::2]


def backwards(x):
    return np.ascontiguousarray(np.flip(x)).__getitem__((slice(None, None, -1),) * x.ndim)


def rows_backwards(x):
    return np.ascontiguousarray(np.flip(x, 0))[::-1]


def fortran(x):
    return np.asfortranarray(x)


def batch_last(x):
    return np.moveaxis(np.ascontiguousarray(np.moveaxis(x, 0, -1)), -1, 0) if x.ndim > 1 else every_other(x)


PATTERNS = [transposed, every_other, backwards, rows_backwards, fortran, batch_last]
CASES = [
    Case("prefill", 64, heads=4, group=2, mask=BOTTOM), Case("odd", 17, dv=5, heads=2, mask=PADDED),
    Case("bias", 40, bias="bhqk"), Case("allowed", 24, mask=[("allowed", "ok")], allowed="hqk", bias="1k"),
    Case("one", 1, dv=1), Case("static", 32, sizes=(2, 70, 40)),
    *(Case(f"{q}_{v}", 40, dv=24, heads=4, group=2, mask=PADDED, bias="qk", types=(q, v))
      for q, v in [("f16", "f16"), ("bf16", "bf16"), ("f64", "f64"), ("bf16", "f32")]),
]
LENGTHS = [(1, 1, 1), (2, 1, 130), (2, 5, 97), (2, 130, 70), (1, 300, 20)]


def like(x, pattern, value=None):
    """`x` where `pattern` puts it; full of `value` if that is given."""
    moved = pattern(x)
    assert moved.shape == x.shape
    if value is not None:
        moved[...] = value
    return moved


def check(kernel, case, sizes, seed, threads):
    """Each pattern on all tensors, and then on one after the other; the number of calls."""
    arrays = list(case.inputs(sizes, np.random.default_rng(seed)).values())
    named = dict(zip(case.inputs(sizes, np.random.default_rng(seed)), arrays))
    want = kernel(arrays, case.outputs(sizes), threads)
    flops = getattr(kernel, "flops", lambda inputs, outputs: 0)  # in an emulator there is none
    pairs = flops(arrays, want)
    case.compare(f"{sizes} contiguous", want, case.expected(named, sizes))
    tensors = len(arrays) + len(want)
    choices = [[pattern] * tensors for pattern in PATTERNS]
    for i in range(tensors):
        chosen = [np.ascontiguousarray] * tensors
        chosen[i] = PATTERNS[(seed + i) % len(PATTERNS)]
        choices.append(chosen)
    for chosen in choices:
        inputs = [like(x, pattern) for x, pattern in zip(arrays, chosen)]
        results = [like(np.zeros_like(x), pattern, value=1) for x, pattern in zip(want, chosen[len(arrays):])]
        for got, expected in zip(kernel(inputs, results, threads), want):
            if got.tobytes() != expected.tobytes():
                raise AssertionError(f"{case.name} {sizes} {[p.__name__ for p in chosen]}: results differ")
        if (got := flops(inputs, results)) != pairs:
            raise AssertionError(f"{case.name} {sizes} {[p.__name__ for p in chosen]}: {got} operations, not {pairs}")
    return len(choices) + 1


def check_repeated(kernel, case):
    """Stride 0: one key for all keys, one feature for all features, one batch entry for all."""
    arrays = case.inputs((2, 20, 60), np.random.default_rng(3))
    for i, axis in enumerate([0, 2, 3]):
        for name in "qkv":
            first = np.take(arrays[name], [0], axis)
            repeated = {**arrays, name: np.broadcast_to(first, arrays[name].shape)}
            got = kernel(list(repeated.values()), case.outputs((2, 20, 60)))
            case.compare(f"axis {axis} of {name} repeated", got, case.expected(repeated, (2, 20, 60)))
    return 9


LAYERS = """func.func @kernel(%x: tensor<?x?x48xf32>, %wq: tensor<48x48xf32>, %bq: tensor<48xf32>) -> tensor<?x?x48xf32> {
  %y = attn.project %x, %wq, %bq : (tensor<?x?x48xf32>, tensor<48x48xf32>, tensor<48xf32>) -> tensor<?x?x48xf32>
  %h = attn.split_heads %y into 4 : tensor<?x?x48xf32> -> tensor<?x4x?x12xf32>
  %s = attn.scores %h, %h : (tensor<?x4x?x12xf32>, tensor<?x4x?x12xf32>) -> tensor<?x4x?x?xf32>
  %w = attn.softmax %s : tensor<?x4x?x?xf32>
  %c = attn.context %w, %h : (tensor<?x4x?x?xf32>, tensor<?x4x?x12xf32>) -> tensor<?x4x?x12xf32>
  %o = attn.merge_heads %c : tensor<?x4x?x12xf32> -> tensor<?x?x48xf32>
  return %o : tensor<?x?x48xf32>
}
"""


def check_layers():
    """Weights and inputs of a projection, in every pattern."""
    with tempfile.TemporaryDirectory() as folder:
        kernel = Kernel(LAYERS, folder)
    rng = np.random.default_rng(5)
    x, w, b = (rng.standard_normal(s).astype(np.float32) * 0.3 for s in ((2, 70, 48), (48, 48), (48,)))
    heads = (x.astype(np.float64) @ w + b).reshape(2, 70, 4, 12).swapaxes(1, 2)
    out = attention(heads, heads, heads, 1.0, np.ones((2, 4, 70, 70), bool))[0]
    for pattern in PATTERNS:
        result = like(np.zeros((2, 70, 48), np.float32), pattern)
        kernel([like(a, pattern) for a in (x, w, b)], [result])
        compare(f"layers {pattern.__name__}", result, out.swapaxes(1, 2).reshape(2, 70, 48), atol=5e-6)
    return len(PATTERNS)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    count, failures = 0, []
    for number, case in enumerate(CASES):
        if options.only not in case.name:
            continue
        with tempfile.TemporaryDirectory() as folder:
            kernel = load_kernel(case.text(), folder)
            case.error_scale = kernel.error_scale
            try:
                for i, sizes in enumerate([case.sizes] if case.sizes else LENGTHS):
                    count += check(kernel, case, sizes, 10 * number + i, 1 + (number + i) % 3)
                if case.name == "prefill":
                    count += check_repeated(kernel, case) + check_layers()
            except (AssertionError, RuntimeError) as error:
                failures.append(str(error))
    finish(count + len(failures), failures)


if __name__ == "__main__":
    main()
