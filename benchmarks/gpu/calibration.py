# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Single instructions, each a kernel of one warp or a few, on inputs that reach its corners: what a GPU computes and
what ptxsim does. Those that approximate, and sums of products, whose order is not specified, have a tolerance; all others
must agree in every bit."""
import subprocess

import numpy as np

THREADS, BLOCKS = 128, 8
COUNT = THREADS * BLOCKS
HEAD = ".version 7.0\n.target sm_80\n.address_size 64\n"
# name: instruction of %r1 (and %r2), and the largest relative error.
UNARY = {
    "ex2": ("ex2.approx.ftz.f32 %r3, %r1;", 2 ** -21), "lg2": ("lg2.approx.ftz.f32 %r3, %r1;", 2 ** -20),
    "rcp": ("rcp.approx.ftz.f32 %r3, %r1;", 2 ** -22), "sqrt": ("sqrt.rn.f32 %r3, %r1;", 0), "tanh": ("tanh.approx.f32 %r3, %r1;", 2 ** -10),
    "bf16x2": ("cvt.rn.bf16x2.f32 %r3, %r1, %r2;", 0), "f16x2": ("cvt.rn.f16x2.f32 %r3, %r1, %r2;", 0),
    "fma": ("fma.rn.f32 %r3, %r1, %r2, %r1;", 0), "add": ("add.rn.f32 %r3, %r1, %r2;", 0), "max": ("max.f32 %r3, %r1, %r2;", 0),
    "div": ("div.rn.f32 %r3, %r1, %r2;", 0), "shfl": ("shfl.sync.bfly.b32 %r3, %r1, 2, 31, -1;", 0),
}
ACCUMULATES = 2 ** -21  # of the sum of magnitudes: the tensor cores keep fewer bits while they add


def unary(name, code):
    return f""".visible .entry {name}(.param .u64 a, .param .u64 b, .param .u64 out) {{
  .reg .b32 %r<9>; .reg .b64 %d<9>;
  mov.u32 %r4, %ctaid.x; mov.u32 %r5, %ntid.x; mov.u32 %r6, %tid.x; mad.lo.s32 %r4, %r4, %r5, %r6; mul.wide.u32 %d0, %r4, 4;
  ld.param.u64 %d1, [a]; ld.param.u64 %d2, [b]; ld.param.u64 %d3, [out];
  add.s64 %d1, %d1, %d0; add.s64 %d2, %d2, %d0; add.s64 %d3, %d3, %d0;
  ld.global.b32 %r1, [%d1]; ld.global.b32 %r2, [%d2];
  {code}
  st.global.b32 [%d3], %r3;
  ret;
}}
"""


def product(name, shape, types, left, right):
    """D = A B + C of one warp per block; registers of a thread lie side by side."""
    registers = [f"%r{i}" for i in range(left + right + 8)]
    a, b, c, d = registers[:left], registers[left:left + right], registers[-8:-4], registers[-4:]

    def lists(names):
        return "{" + ", ".join(names) + "}"

    loads = "".join(f"ld.global.b32 {r}, [%d{array}+{4 * i}]; " for array, names in ((1, a), (2, b), (3, c)) for i, r in enumerate(names))
    stores = "".join(f"st.global.b32 [%d4+{4 * i}], {r}; " for i, r in enumerate(d))
    addresses = "".join(f"ld.param.u64 %d{array}, [p{array}]; mul.wide.u32 %d0, %t0, {4 * count}; add.s64 %d{array}, %d{array}, %d0; "
                        for array, count in ((1, left), (2, right), (3, 4), (4, 4)))
    return f""".visible .entry {name}(.param .u64 p1, .param .u64 p2, .param .u64 p3, .param .u64 p4) {{
  .reg .b32 %r<{len(registers)}>; .reg .b32 %t<4>; .reg .b64 %d<9>;
  mov.u32 %t0, %ctaid.x; mov.u32 %t1, %tid.x; mad.lo.s32 %t0, %t0, 32, %t1; {addresses}
  {loads}
  mma.sync.aligned.{shape}.row.col.f32.{types}.{types}.f32 {lists(d)}, {lists(a)}, {lists(b)}, {lists(c)};
  {stores}
  ret;
}}
"""


def load_matrices(name, modifier):
    """Each thread copies 16 bytes to shared memory by cp.async, of which odd ones get 4 bytes and zeros."""
    return f""".visible .entry {name}(.param .u64 a, .param .u64 out) {{
  .reg .b32 %r<9>; .reg .b64 %d<5>; .shared .align 16 .b8 room[512];
  mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x; mad.lo.s32 %r1, %r1, 32, %r0; mul.wide.u32 %d0, %r1, 16;
  ld.param.u64 %d1, [a]; ld.param.u64 %d2, [out]; add.s64 %d1, %d1, %d0; add.s64 %d2, %d2, %d0;
  mov.u32 %r2, room; shl.b32 %r3, %r0, 4; add.s32 %r2, %r2, %r3; and.b32 %r4, %r0, 1; mul.lo.s32 %r4, %r4, 12; sub.s32 %r4, 16, %r4;
  cp.async.cg.shared.global [%r2], [%d1], 16, %r4; cp.async.commit_group; cp.async.wait_group 0; bar.sync 0;
  ldmatrix.sync.aligned.m8n8.x4{modifier}.shared.b16 {{%r5, %r6, %r7, %r8}}, [%r2];
  st.global.b32 [%d2], %r5; st.global.b32 [%d2+4], %r6; st.global.b32 [%d2+8], %r7; st.global.b32 [%d2+12], %r8;
  ret;
}}
"""


PRODUCTS = {"mma_bf16": ("m16n8k16", "bf16", 4, 2), "mma_f16": ("m16n8k16", "f16", 4, 2), "mma_tf32": ("m16n8k8", "tf32", 4, 2)}
MATRICES = {"ldmatrix": "", "ldmatrix_trans": ".trans"}


def text():
    return HEAD + "".join([*(unary(name, code) for name, (code, _) in UNARY.items()), *(product(name, *rest) for name, rest in PRODUCTS.items()),
                           *(load_matrices(name, modifier) for name, modifier in MATRICES.items())])


def to_bits(values, element):
    """Pairs of 16 bits in a register, or an f32, of which tf32 takes the upper bits."""
    if element == "f16":
        return np.ascontiguousarray(values.astype(np.float16)).view(np.uint32)
    bits = np.ascontiguousarray(values.astype(np.float32)).view(np.uint32)
    if element == "bf16":
        return np.ascontiguousarray((bits >> 16).astype(np.uint16)).view(np.uint32)
    return bits & np.uint32(0xFFFFE000) if element == "tf32" else bits


def inputs():
    """name: (grid, block, arrays of 32 bits, shape of the result, largest error; of products, the sums of magnitudes)"""
    rng = np.random.default_rng(11)
    corners = np.array([0, -0.0, 1, -1, np.inf, -np.inf, np.nan, 1e-40, -1e-40, 3e38, -3e38, 126, -126, -150, 65504, 65520, 1.00390625, 1e-8])
    a, b = (np.concatenate([corners, rng.standard_normal(COUNT - len(corners)) * 2.0 ** rng.integers(-30, 30, COUNT - len(corners))]) for _ in range(2))
    b = np.roll(b, 7)
    cases = {name: (BLOCKS, THREADS, [to_bits(a, "f32"), to_bits(b, "f32")], (COUNT,), error) for name, (_, error) in UNARY.items()}
    for name, (_, element, left, right) in PRODUCTS.items():
        per = 1 if element == "tf32" else 2
        operands = [to_bits(rng.standard_normal(BLOCKS * 32 * count * per), element) for count in (left, right)]
        sums = to_bits(rng.standard_normal(BLOCKS * 32 * 4), "f32")
        cases[name] = (BLOCKS, 32, [*operands, sums], (BLOCKS * 32 * 4,), ACCUMULATES)
    for name in MATRICES:
        cases[name] = (BLOCKS, 32, [rng.integers(0, 2 ** 32, BLOCKS * 32 * 4, dtype=np.uint32)], (BLOCKS * 32 * 4,), 0)
    return cases


def simulate(ptxsim, ptx, folder):
    """What ptxsim computes, by name."""
    expected = {}
    for name, (grid, block, arrays, shape, _) in inputs().items():
        paths = []
        for i, array in enumerate(arrays):
            paths.append(f"{folder}/{name}-{i}.npy")
            np.save(paths[-1], array.view(np.int32))
        result = f"{folder}/{name}-out.npy"
        subprocess.run([ptxsim, ptx, f"--entry={name}", f"--grid={grid}", f"--block={block}", *paths, f"out={result}:i32:{shape[0]}"], check=True,
                       capture_output=True)
        expected[name] = np.load(result).view(np.uint32)
    return expected


def compare(name, found, expected, error):
    """Numbers that differ by more than `error`, relatively, of products relative to 16, of logarithms of numbers near 1 relative to 1 (PTX ISA,
    lg2); NaN is NaN."""
    same = found == expected
    if name not in ("bf16x2", "f16x2", *MATRICES):
        with np.errstate(all="ignore"):
            x, y = found.view(np.float32).astype(np.float64), expected.view(np.float32).astype(np.float64)
            same |= np.isnan(x) & np.isnan(y)
            if error:
                same |= np.abs(x - y) <= error * np.maximum(np.abs(y), 16 if name in PRODUCTS else 1 if name == "lg2" else 2.0 ** -126)
    return int((~same).sum()), int((found != expected).sum())


def run(driver, ptx, expected):
    """A row per instruction: what differs from ptxsim beyond the tolerance, and in any bit."""
    module, rows, found = driver.load(ptx), [], {}
    for name, (grid, block, arrays, shape, error) in inputs().items():
        addresses = [driver.to_device(array) for array in arrays]
        result = driver.allocate(4 * shape[0])
        driver.launch(module, name, grid, block, [*addresses, result])
        found[name] = driver.to_host(result, shape, np.uint32)
        driver.free()
        wrong, differing = compare(name, found[name], expected[name], error)
        rows.append({"instruction": name, "numbers": shape[0], "wrong": wrong, "other_bits": differing, "tolerance": error})
    driver("cuModuleUnload", module)
    return rows, found
