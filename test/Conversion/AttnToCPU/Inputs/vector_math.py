# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""vector_math.py FOLDER CPU: compiles each operation for the processor, without a feature of the pass, and bounds its
error over all exponents. Conversions must be exact: every pattern of the bits that stay meets those below that
round differently."""
import ctypes
import pathlib
import subprocess
import sys

import numpy as np

folder, cpu = pathlib.Path(sys.argv[1]), sys.argv[2]
folder.mkdir(parents=True, exist_ok=True)
LANES = 8
rng = np.random.default_rng(1)


def loop(name, operation, source, target):
    """A function that applies the operation to `n` groups of lanes; f16 and bf16 are kept as i16."""
    bits = {"f16": "i16", "bf16": "i16"}
    read, write = (f"vector<{LANES}x{bits.get(t, t)}>" for t in (source, target))
    x, y = f"vector<{LANES}x{source}>", f"vector<{LANES}x{target}>"
    cast = lambda a, b, old, new: f"%{b} = arith.bitcast %{a} : {old} to {new}"
    return f"""func.func @{name}(%from: !llvm.ptr, %to: !llvm.ptr, %n: i64) {{
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  scf.for %i = %zero to %n step %one : i64 {{
    %a = llvm.getelementptr %from[%i] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.array<{LANES} x {bits.get(source, source)}>
    %b = llvm.getelementptr %to[%i] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.array<{LANES} x {bits.get(target, target)}>
    %raw = llvm.load %a {{alignment = 1 : i64}} : !llvm.ptr -> {read}
    {cast("raw", "x", read, x)}
    {operation.format(x=x, y=y)}
    {cast("y", "result", y, write)}
    llvm.store %result, %b {{alignment = 1 : i64}} : {write}, !llvm.ptr
  }}
  return
}}
"""


def compiled(functions):
    command = [["attn-opt", "-", "--attn-lower-vector-math"],
               ["mlir-opt", "-", "--convert-scf-to-cf", "--convert-vector-to-llvm", "--convert-math-to-llvm",
                "--convert-arith-to-llvm", "--convert-func-to-llvm", "--convert-cf-to-llvm",
                "--reconcile-unrealized-casts"],
               ["mlir-translate", "--mlir-to-llvmir"],
               ["llc", f"-mcpu={cpu}", "-filetype=obj", "-relocation-model=pic", "-o", folder / "math.o"]]
    text = "".join(functions).encode()
    for step in command:
        text = subprocess.run(step, input=text, stdout=subprocess.PIPE, check=True).stdout
    # Nothing of the C library: -nostdlib and --no-undefined.
    subprocess.run(["cc", "-shared", "-nostdlib", "-Wl,--no-undefined", folder / "math.o", "-o", folder / "math.so"],
                   check=True)
    return ctypes.CDLL(str(folder / "math.so"))


library = compiled([
    loop("exp2_f32", "%y = math.exp2 %x : {x}", "f32", "f32"),
    loop("exp2_f64", "%y = math.exp2 %x : {x}", "f64", "f64"),
    loop("rough_f32", "%y = math.exp2 %x fastmath<afn> : {x}", "f32", "f32"),
    loop("log_f32", "%y = math.log %x : {x}", "f32", "f32"), loop("log_f64", "%y = math.log %x : {x}", "f64", "f64"),
    loop("widen_f16", "%y = arith.extf %x : {x} to {y}", "f16", "f32"),
    loop("widen_bf16", "%y = arith.extf %x : {x} to {y}", "bf16", "f32"),
    loop("narrow_f16", "%y = arith.truncf %x : {x} to {y}", "f32", "f16"),
    loop("narrow_bf16", "%y = arith.truncf %x : {x} to {y}", "f32", "bf16")])


def apply(name, x, result):
    assert x.size % LANES == 0
    y = np.empty(x.size, result)
    pointer = lambda a: ctypes.c_void_p(a.ctypes.data)
    getattr(library, name)(pointer(x), pointer(y), ctypes.c_int64(x.size // LANES))
    return y


def bound(name, x, exact, limit, smallest=0.0):
    """Requires results within `limit` ulp; of smaller ones, within `limit` ulp of `smallest`."""
    y = apply(name, x, x.dtype.type)
    unit = np.spacing(np.maximum(np.abs(exact), smallest).astype(x.dtype)).astype(np.longdouble)
    error = np.abs(y.astype(np.longdouble) - exact) / unit
    worst = int(np.argmax(error))
    print(f"{name}: {error[worst]:.3f} ulp at {x[worst]!r}")
    if not error[worst] <= limit:
        sys.exit(f"{name}: more than {limit} ulp")


def transcendental():
    count = 1 << 21
    for name, kind, lowest in (("f32", np.float32, -126), ("f64", np.float64, -1022)):
        x = np.concatenate([rng.uniform(lowest, -lowest, count), rng.uniform(-1, 1, count),
                            -(2.0 ** rng.uniform(-40, 6, count))]).astype(kind)
        bound(f"exp2_{name}", x, np.exp2(x.astype(np.longdouble)), 1.0 if cpu == "x86-64-v3" else 1.6)
        special = np.array([-np.inf, np.nan, 0, -0.0, lowest - 2, -1e30, -1, 1], kind)
        want = np.array([0, np.nan, 1, 1, 0, 0, 0.5, 2], kind)
        if not np.array_equal(apply(f"exp2_{name}", special, kind), want, equal_nan=True):
            sys.exit(f"exp2_{name}: {apply(f'exp2_{name}', special, kind)}, expected {want}")
        x = np.concatenate([2.0 ** rng.uniform(0, 120, count), 1 + rng.random(count)]).astype(kind)
        bound(f"log_{name}", x, np.log(x.astype(np.longdouble)), 2.0,
              smallest=1.0 if kind == np.float64 else 0.0)


def rough():
    """exp2 with a relative error that rounding to bf16 (2e-3) hides; what is exact stays so."""
    x = rng.uniform(-126, 126, 1 << 21).astype(np.float32)
    error = float(np.max(np.abs(apply("rough_f32", x, np.float32) / np.exp2(x.astype(np.longdouble)) - 1)))
    print(f"rough_f32: {error:.3g}")
    special = np.array([-np.inf, np.nan, 0, -0.0, -128, -1e30, -1, 1], np.float32)
    got = apply("rough_f32", special, np.float32)
    if not error <= 3.8e-6 or not np.array_equal(got, np.array([0, np.nan, 1, 1, 0, 0, 0.5, 2], np.float32), equal_nan=True):
        sys.exit(f"rough_f32: an error of {error} is more than 3.8e-6, or {got} is wrong")


def widenings():
    every = np.arange(1 << 16, dtype=np.uint16)
    with np.errstate(invalid="ignore"):
        exact = {"f16": every.view(np.float16).astype(np.float32),
                 "bf16": (every.astype(np.uint32) << 16).view(np.float32)}
    for name, want in exact.items():
        got = apply(f"widen_{name}", every, np.float32)
        number = ~np.isnan(want)
        require(f"widen_{name}", every, number, got.view(np.uint32), want.view(np.uint32), np.isnan(got))


def narrowings():
    for name, rest, infinity in (("f16", 13, 0x7C00), ("bf16", 16, 0x7F80)):
        half = 1 << (rest - 1)
        upper = np.arange(1 << (32 - rest), dtype=np.uint32) << rest
        bits = (upper[:, None] | np.array([0, 1, half - 1, half, half + 1, 2 * half - 1], np.uint32)).reshape(-1)
        x = bits.view(np.float32)
        with np.errstate(over="ignore", invalid="ignore"):
            want = (x.astype(np.float16).view(np.uint16) if name == "f16" else
                    ((bits.astype(np.uint64) + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16))
        got = apply(f"narrow_{name}", x, np.uint16)
        require(f"narrow_{name}", bits, ~np.isnan(x), got, want, (got & 0x7FFF) > infinity)


def require(name, inputs, number, got, want, is_nan):
    """Numbers become `want`, to the bit, and a NaN becomes a NaN."""
    wrong = np.flatnonzero(np.where(number, got != want, ~is_nan))
    if wrong.size:
        i = wrong[0]
        sys.exit(f"{name}: {wrong.size} differ, first {inputs[i]:#x} became {got[i]:#x}, expected {want[i]:#x}")
    print(f"{name}: {inputs.size} exact")


transcendental()
rough()
widenings()
narrowings()
