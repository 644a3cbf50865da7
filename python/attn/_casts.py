# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Other element types of tensors of a traced function."""
from ._tensor import Program, tensor
from ._trace import refuse
from ._types import BITS, TensorType, known_type


def type_name(dtype):
    """f32 of attn.f32, np.float32, torch.float32, "float32"."""
    return known_type(dtype) or refuse(
        f"expected a type of elements, one of {', '.join(f'attn.{each}' for each in BITS)}, but got {dtype!r}")


def astype(x, dtype):
    """The same numbers in another type. Floats become integers towards 0; truth values are 0 and 1."""
    x, to = tensor(x, "x"), type_name(dtype)
    if x.dtype == to:
        return x
    if to == "i1":
        refuse("expected a type of numbers, but got attn.i1; write x != 0")
    if x.is_float and to[0] in "bf":
        if BITS[x.dtype] == BITS[to]:
            return astype(astype(x, "f32"), to)
        op = "arith.extf" if BITS[x.dtype] < BITS[to] else "arith.truncf"
    elif x.is_float:
        op = "arith.fptosi"
    elif to[0] in "bf":
        op = "arith.uitofp" if x.dtype == "i1" else "arith.sitofp"
    else:
        op = "arith.extui" if x.dtype == "i1" else "arith.extsi" if BITS[x.dtype] < BITS[to] else "arith.trunci"
    kind = TensorType(to, x.shape)
    return Program.now().op(f"{op} {x.value} : {x.type} to {kind}", kind, "cast")
