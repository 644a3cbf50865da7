# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Calls of accesses.mlir, each with what it gives, or None where it is refused."""
import ctypes
import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "Integration"))
from kernels import Kernel

x = np.arange(40, dtype=np.float32)
CALLS = [
    ("insert", [(2, 4), (6, 4), (2, 4)], (6, 4), lambda new, cache, q: np.concatenate([new, cache[2:]])),
    ("insert", [(5, 4), (2, 4), (1, 4)], (2, 4), None),
    ("insert", [(2, 4), (6, 4), (1, 4)], (6, 4), None),
    ("insert", [(2, 4), (1, 4), (2, 4)], (1, 4), None),
    ("pad", [(3, 4)], (8, 4), lambda x: np.pad(x, ((0, 5), (0, 0)))),
    ("pad", [(8, 4)], (8, 4), lambda x: x),
    ("pad", [(9, 4)], (8, 4), None),
    ("next", [(5,), (4,)], (4,), lambda x, like: x[1:]),
    ("next", [(0,), (0,)], (0,), lambda x, like: x),
    ("next", [(5,), (5,)], (5,), None),
    ("element", [(3, 4), (2, 4)], (1,), lambda x, q: x[2, :1]),
    ("element", [(3, 4), (3, 4)], (1,), None),
    ("element", [(0, 4), (0, 4)], (1,), None),
]

library, refused = ctypes.CDLL("./accesses.so"), 0
for name, shapes, result, define in CALLS:
    arrays = [x[:np.prod(shape)].reshape(shape) + i for i, shape in enumerate(shapes)]
    try:
        got = Kernel.of_library(library, name)(arrays, [np.full(result, -1, np.float32)])[0]
        assert define and np.array_equal(got, define(*arrays)), f"{name} {shapes}: {got}"
    except RuntimeError as error:
        refused += 1
        assert not define and str(error).startswith("arguments: ") and " at line " in str(error), f"{name} {shapes}: {error}"
print(f"{len(CALLS)} calls, {refused} refused")
