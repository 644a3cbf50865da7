# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""mma.sync of all shapes and types against NumPy. Fragments are laid out by
the formulas of the manual's section on each shape: for lane = 4 g + t and
element i of A, B or C, the row and the column."""
import subprocess
import sys

import numpy as np

LANES = np.arange(32)
G, T = LANES // 4, LANES % 4

# m16n8k16 and m16n8k8 of 16 bits.
A16 = lambda i: (G + 8 * (i // 2 % 2), T * 2 + (i & 1) + 8 * (i // 4))
B16 = lambda i: (T * 2 + (i & 1) + 8 * (i // 2), G)
C = lambda i: (G + 8 * (i // 2), T * 2 + (i & 1))
# m16n8k8 and m16n8k4 of tf32.
A32 = lambda i: (G + 8 * (i % 2), T + 4 * (i // 2))
B32 = lambda i: (T + 4 * i, G)

FORMS = [("m16n8k16", 16, "f16", "f32"), ("m16n8k16", 16, "bf16", "f32"), ("m16n8k8", 8, "f16", "f32"), ("m16n8k8", 8, "bf16", "f32"),
         ("m16n8k8", 8, "tf32", "f32"), ("m16n8k4", 4, "tf32", "f32"), ("m16n8k16", 16, "f16", "f16"), ("m16n8k8", 8, "f16", "f16")]


def bits(x, kind):
    """Registers' halves or words that hold `x`, whose values they hold exactly."""
    if kind == "f16":
        return x.astype(np.float16).view(np.uint16)
    words = x.astype(np.float32).view(np.uint32)
    return (words >> 16).astype(np.uint16) if kind == "bf16" else words


def fragment(matrix, place, kind, registers):
    """An array of 32 lanes and 4 registers."""
    per = 1 if kind in ("f32", "tf32") else 2
    out = np.zeros((32, 4 * per), np.uint32 if per == 1 else np.uint16)
    for i in range(registers * per):
        out[:, i] = bits(matrix[place(i)], kind)
    return out.view(np.uint32)


def kernel():
    text = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry products(.param .u64 a, .param .u64 b, .param .u64 c, .param .u64 d)\n{\n"
    text += ".reg .b32 %a<4>, %b<4>, %c<4>, %d<4>, %lane;\n.reg .b64 %p<4>, %offset;\nmov.u32 %lane, %laneid;\nmul.wide.u32 %offset, %lane, 16;\n"
    for i, name in enumerate("abcd"):
        text += f"ld.param.u64 %p{i}, [{name}];\nadd.s64 %p{i}, %p{i}, %offset;\n"
    quad = lambda name, n=4: "{" + ", ".join(f"%{name}{i}" for i in range(n)) + "}"
    for f, (shape, k, kind, total) in enumerate(FORMS):
        registers = 16 * k * (4 if kind == "tf32" else 2) // 128
        n = 4 if total == "f32" else 2
        for i, name in enumerate("abc"):
            text += f"ld.global.v4.b32 {quad(name)}, [%p{i}+{512 * f}];\n"
        text += f"mma.sync.aligned.{shape}.row.col.{total}.{kind}.{kind}.{total} {quad('d', n)}, {quad('a', registers)}, {quad('b', registers // 2)}, {quad('c', n)};\n"
        text += f"st.global.v{n}.b32 [%p3+{512 * f}], {quad('d', n)};\n"
    return text + "ret;\n}\n"


rng = np.random.default_rng(7)
inputs, expected = [[], [], []], []
for shape, k, kind, total in FORMS:
    a, b, c = (rng.integers(-8, 9, size) / 4 for size in ((16, k), (k, 8), (16, 8)))
    registers = 16 * k * (4 if kind == "tf32" else 2) // 128
    places = (A32, B32) if kind == "tf32" else (A16, B16)
    inputs[0].append(fragment(a, places[0], kind, registers))
    inputs[1].append(fragment(b, places[1], kind, registers // 2))
    inputs[2].append(fragment(c, C, total, 4 if total == "f32" else 2))
    expected.append(fragment(a @ b + c, C, total, 4 if total == "f32" else 2))
# The low 13 bits of tf32 are not looked at.
inputs[0][4] |= 0x1fff

for name, array in zip("abc", inputs):
    np.save(f"{name}.npy", np.array(array).view(np.int32))
with open("products.ptx", "w") as file:
    file.write(kernel())
shape = "x".join(map(str, np.array(expected).shape))
subprocess.run(["ptxsim", "products.ptx", "a.npy", "b.npy", "c.npy", f"zeros=d.npy:i32:{shape}"], check=True)
found = np.load("d.npy").view(np.uint32)
wrong = [form for form, x, y in zip(FORMS, expected, found) if not np.array_equal(x, y)]
print("wrong:", wrong) if wrong else None
sys.exit(bool(wrong))
