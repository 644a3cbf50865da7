# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Results of each kernel at each of its lengths, beside float64."""
import numpy as np
from cells import CORRECT

# Of the largest result: weights are rounded to the values' type, and so is the result.
TOLERANCE = {"f16": 2e-3, "bf16": 1.6e-2}
BATCH = 2


def load(path):
    """The bits of an argument."""
    array = np.load(path)
    return array.view(np.uint16)


def widen(bits, dtype):
    if dtype == "bf16":
        return (bits.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    return bits.view(np.float16).astype(np.float64)


def difference(found, wanted):
    """The largest, of the largest expected number; infinite where NaN and infinities stand elsewhere."""
    finite = np.isfinite(wanted)
    if not np.array_equal(np.isfinite(found), finite) or not np.array_equal(found[~finite], wanted[~finite], equal_nan=True):
        return float("inf")
    return float(np.abs(found[finite] - wanted[finite]).max(initial=0) / max(1, np.abs(wanted[finite]).max(initial=0)))


def check(driver, kernels, folder, name, queries, keys):
    kernel = CORRECT[name]
    base = f"{folder}/{name}-{queries}-{keys}"
    inputs, outputs = kernel.shapes(BATCH, queries, keys)
    types = [np.uint16, np.float32][:len(outputs)]
    tensors = [(driver.to_device(load(f"{base}-{port}.npy")), shape) for port, shape in zip("qkv", inputs)]
    # NaN of every type: what is not written is wrong.
    tensors += [(driver.to_device(np.full(shape, -1, np.int64).astype(dtype) if dtype == np.uint16 else np.full(shape, np.nan, dtype)), shape)
                for shape, dtype in zip(outputs, types)]
    row = {"kernel": name, "queries": queries, "keys": keys, "tolerance": TOLERANCE[kernel.dtype]}
    try:
        kernels.prepare(name, tensors)()
        found = [driver.to_host(address, shape, dtype) for (address, shape), dtype in zip(tensors[3:], types)]
    except RuntimeError as error:
        return {**row, "error": str(error), "right": False}
    finally:
        driver.free()
    numbers = [widen(found[0], kernel.dtype), *(array.astype(np.float64) for array in found[1:])]
    row["difference"] = max(difference(x, np.load(f"{base}-out{i}.npy").astype(np.float64)) for i, x in enumerate(numbers))
    return {**row, "right": row["difference"] <= row["tolerance"]}


def run(driver, kernels, folder, names, lengths):
    for name in names:
        for queries, keys in CORRECT[name].lengths[:lengths]:
            yield check(driver, kernels, folder, name, queries, keys)
