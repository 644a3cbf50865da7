# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Element types of tensors: how arrays hold them, how they are rounded, and how near a result must come.

NumPy has no bf16: an array of uint16 holds its bits."""
import numpy as np

STORED = {"f16": np.float16, "bf16": np.uint16, "f32": np.float32, "f64": np.float64}
# Bits behind the point, and the exponent of the smallest normal number.
FORMATS = {"f16": (10, -14), "bf16": (7, -126), "f32": (23, -126), "f64": (52, -1022)}

# What results of values from a normal distribution are of the size of.
TYPICAL = 0.5
# What lse may add to its bounds where exponentials are good enough for weights that are rounded to bf16.
ROUGH = 4e-6


def statistics(element):
    """The type of lse, scores, weights and biases."""
    return "f64" if element == "f64" else "f32"


def store(numbers, element):
    """Numbers rounded to nearest, ties to even."""
    if element != "bf16":
        with np.errstate(over="ignore"):
            return np.asarray(numbers).astype(STORED[element])
    bits = np.asarray(numbers).astype(np.float32).view(np.uint32).astype(np.uint64)
    rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16
    return np.where(np.isnan(numbers), 0x7FC0, rounded).astype(np.uint16)


def numbers(array):
    """The numbers of a stored array, in f64."""
    if array.dtype == np.uint16:
        array = (array.astype(np.uint32) << 16).view(np.float32)
    with np.errstate(invalid="ignore"):  # signalling NaN
        return array.astype(np.float64)


def empty(shape, element):
    """Room for results, filled with NaN."""
    return store(np.full(shape, np.nan), element)


def save(path, array):
    np.save(path, array.view("V2") if array.dtype == np.uint16 else array)


def load(path):
    array = np.load(path)
    return array.view(np.uint16) if array.dtype.kind == "V" else array


def ulp(numbers, element):
    """The distance between neighbours in the type at each number."""
    bits, smallest = FORMATS[element]
    size = np.maximum(np.abs(numbers), 2.0**smallest)
    return 2.0 ** (np.floor(np.log2(size)) - bits)


def tolerance(element, want, scale=0.0):
    """What `compare` allows: for f16 and bf16 1.5 ulp, besides the error of the f32 in which all is computed; 1.5 ulp
    of `scale` where weights are rounded too, since a sum that cancels keeps the errors of its terms."""
    if element == "f64":
        return {"atol": 1e-13, "rtol": 1e-13}
    if element == "f32":
        return {"atol": 2e-6, "rtol": 1e-6}
    finite = np.where(np.isfinite(want), want, 1)
    return {"atol": 1.5 * ulp(np.maximum(np.abs(finite), scale), element) + 2e-6, "rtol": 0}


def near(element, want, rtol=1e-5, atol=1e-6):
    """The given bounds, or those of a narrow type whose weights are rounded to it."""
    return {"rtol": rtol, "atol": atol} if element == "f32" else tolerance(element, want, TYPICAL)
