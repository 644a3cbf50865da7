# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations on vectors, compiled by passes of attn-opt and called from NumPy."""
import ctypes
import subprocess
import sys

import numpy as np

LANES = 8


def loop(name, operation, source, target=None, inputs="x"):
    """A function that applies the operation to `n` groups of lanes, x or x and z; f16 and bf16 are kept as i16."""
    target = target or source
    bits = {"f16": "i16", "bf16": "i16"}
    stored = lambda element: f"{LANES}x{bits.get(element, element)}"
    array = lambda element: "!llvm.array<" + stored(element).replace("x", " x ") + ">"
    x, y = f"vector<{LANES}x{source}>", f"vector<{LANES}x{target}>"
    loads = "".join(f"""
    %at_{i} = llvm.getelementptr %from_{i}[%i] : (!llvm.ptr, i64) -> !llvm.ptr, {array(source)}
    %raw_{i} = llvm.load %at_{i} {{alignment = 1 : i64}} : !llvm.ptr -> vector<{stored(source)}>
    %{i} = arith.bitcast %raw_{i} : vector<{stored(source)}> to {x}""" for i in inputs)
    return f"""func.func @{name}({"".join(f"%from_{i}: !llvm.ptr, " for i in inputs)}%to: !llvm.ptr, %n: i64) {{
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  scf.for %i = %zero to %n step %one : i64 {{{loads}
    {operation.format(x=x, y=y)}
    %result = arith.bitcast %y : {y} to vector<{stored(target)}>
    %at = llvm.getelementptr %to[%i] : (!llvm.ptr, i64) -> !llvm.ptr, {array(target)}
    llvm.store %result, %at {{alignment = 1 : i64}} : vector<{stored(target)}>, !llvm.ptr
  }}
  return
}}
"""


class Library:
    """The functions, compiled for a processor after passes of attn-opt."""

    def __init__(self, folder, cpu, functions, *passes):
        folder.mkdir(parents=True, exist_ok=True)
        command = [["attn-opt", "-", *passes],
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
        self.dll = ctypes.CDLL(str(folder / "math.so"))

    def apply(self, name, result, *inputs):
        size = inputs[0].size
        assert size % LANES == 0
        y = np.empty(size, result)
        pointer = lambda a: ctypes.c_void_p(a.ctypes.data)
        getattr(self.dll, name)(*map(pointer, (*inputs, y)), ctypes.c_int64(size // LANES))
        return y

    def bound(self, name, exact, limit, *inputs):
        """Requires results within `limit` ulp, and returns the largest error."""
        y = self.apply(name, inputs[0].dtype.type, *inputs)
        with np.errstate(all="ignore"):
            unit = np.spacing(np.abs(exact).astype(y.dtype)).astype(np.longdouble)
            error = np.where(y == exact, 0, np.abs(y.astype(np.longdouble) - exact) / unit)
        worst = int(np.argmax(error))
        print(f"{name}: {error[worst]:.3f} ulp at {', '.join(repr(x[worst]) for x in inputs)}")
        if not error[worst] <= limit:
            sys.exit(f"{name}: more than {limit} ulp")
        return error[worst]
