# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Plants mistakes in kernels and results and requires the harness to notice each of them."""
import os
import platform
import re
import subprocess
import sys
import tempfile

import numpy as np

import elements
import narrow
from differential import Differential
from kernels import Kernel, attn_opt, error_scale
from values import Case

BOTTOM = [("causal", "bottom_right")]
SIZES = (2, 21, 37)
PLAIN = "x86-64-v3" if platform.machine() == "x86_64" else "native"  # the same tiles wherever it runs, and no instructions for bf16
FEW = (2, 3, 1500)  # queries for the kind decode, keys of more than one part
UNOPTIMIZED = ("-O0",)  # by LLVM: mistakes are planted in front of it
unchanged = {}  # kernels without a mistake, by what they are compiled from
rng = np.random.default_rng(3)


def compiled(case, **mistake):
    """Whether the harness accepts a kernel compiled from the specification with a mistake in it."""
    with tempfile.TemporaryDirectory() as folder:
        kernel = Kernel(case.text(**mistake), folder, flags=UNOPTIMIZED)
        arrays = case.inputs(SIZES, np.random.default_rng(5))
        return accepted(case, arrays, kernel(list(arrays.values()), case.outputs(SIZES), 2))


def rewritten(text, accepts, phase, change, target="native", flags=()):
    """Whether the harness accepts a kernel whose IR after the phase is changed; it must accept the unchanged one."""
    def kernel_after(step):
        with tempfile.TemporaryDirectory() as folder:
            source = os.path.join(folder, "source.mlir")
            with open(source, "w") as f:
                f.write(text)
            command = [attn_opt(), source, "--compile-to=" + phase, "--target=" + target, *flags]
            module = subprocess.run(command, check=True, capture_output=True, text=True).stdout
            changed = step(module)
            assert step is same or changed != module, "there is nothing to change"
            return Kernel(changed, folder, target=target, flags=["--compile-from=" + phase, *UNOPTIMIZED, *flags])

    same = lambda module: module
    key = (text, phase, target, *flags)
    if key not in unchanged:
        unchanged[key] = kernel_after(same)
    assert accepts(unchanged[key]), "the harness refuses right results"
    return accepts(kernel_after(change))


def rewritten_case(case, phase, change, sizes=SIZES, target="native", flags=()):
    arrays = case.inputs(sizes, np.random.default_rng(5))
    run = lambda kernel: kernel(list(arrays.values()), case.outputs(sizes), 2)
    return rewritten(case.text(), lambda kernel: accepted(case, arrays, run(kernel), sizes), phase, change, target, flags)


def decode(phase, pattern, replacement, function=r"\w+", case=None, flags=()):
    """The same for few queries: in the functions of that name, the pattern is replaced."""
    def change(module):
        parts = re.split(r"(?=func\.func )", module)
        named = lambda part: re.match(rf"func\.func [^(]*@kernel(\.{function})?\(", part)
        return "".join(re.sub(pattern, replacement, part) if named(part) else part for part in parts)
    return rewritten_case(case or causal, phase, change, FEW, target=PLAIN, flags=flags)


def decode_block(case, processor, pattern, replacement, function):
    """The same for blocks of 8 queries, in the tiles of a processor that has registers for them."""
    return decode("vectors", pattern, replacement, function, case, ["--tiles-of=" + processor, "--generic-ops"])


def rewritten_rounding(element, change):
    exact = lambda kernel: not [*narrow.compare_all(kernel, element, narrow.flushes(element, PLAIN))]
    return rewritten(narrow.specification(element), exact, "vectors", change, PLAIN)


def truncated(text):
    """Floats lose their lower bits instead of being rounded."""
    return re.sub(r"%(\w+) = arith\.truncf (%\w+) : vector<(\d+)xf32> to vector<\d+xbf16>",
                  r"%bits_\1 = arith.bitcast \2 : vector<\3xf32> to vector<\3xi32>\n"
                  r"%half_\1 = arith.constant dense<16> : vector<\3xi32>\n"
                  r"%upper_\1 = arith.shrui %bits_\1, %half_\1 : vector<\3xi32>\n"
                  r"%narrow_\1 = arith.trunci %upper_\1 : vector<\3xi32> to vector<\3xi16>\n"
                  r"%\1 = arith.bitcast %narrow_\1 : vector<\3xi16> to vector<\3xbf16>", text)


def key_as_value(text):
    """Tile kernels read the key (their first operand behind the state) where they would read the value."""
    lines, inside = [], False
    for line in text.splitlines():
        if "func.func" in line:
            inside = "online_" in line
        narrow_load = inside and "vector.load %arg2[" in line
        lines.append(line.replace("%arg2[", "%arg1[") if narrow_load else line)
    return "\n".join(lines)


def accepted(case, arrays, got, sizes=SIZES):
    try:
        case.compare("planted", got, case.expected(arrays, sizes))
        return True
    except AssertionError:
        return False


def changed(change):
    """Whether the harness accepts right results after `change`."""
    case = Case("planted", 40, heads=4, group=2, mask=[("key_length", "len"), *BOTTOM])
    arrays = case.inputs(SIZES, np.random.default_rng(5))
    arrays["len"][:] = [17, 30]  # the first batch entry has empty rows
    got = [x.astype(np.float32) for x in case.expected(arrays, SIZES)]
    assert accepted(case, arrays, got), "the harness refuses right results"
    return accepted(case, arrays, change(got))


def at(index, value):
    def change(got):
        got[0][index] = value(got[0][index])
        return got
    return change


def regrouped(got):
    got[0] = got[0][:, [0, 2, 1, 3]]
    return got


def of_two_maps(change):
    """Whether the harness accepts what a kernel of two maps computes from changed inputs."""
    case = Differential("planted", 40, heads=4, group=2, mask=BOTTOM)
    arrays = case.inputs(SIZES, np.random.default_rng(5))
    with tempfile.TemporaryDirectory() as folder:
        kernel = Kernel(case.text(), folder)
        run = lambda inputs: kernel(list(inputs.values()), case.outputs(SIZES), 2)
        assert accepted(case, arrays, run(arrays)), "the harness refuses right results"
        return accepted(case, arrays, run({**arrays, **change(arrays)}))


def scale_of_product():
    """Whether a product of bf16 has the tolerance of attention."""
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, "product.mlir")
        x, w = "tensor<?x64xbf16>", "tensor<64x64xbf16>"
        with open(source, "w") as f:
            f.write(f"func.func @product(%x: {x}, %w: {w}) -> {x} {{\n"
                    f"  %y = attn.project %x, %w : ({x}, {w}) -> {x}\n  return %y : {x}\n}}\n")
        return error_scale(source, "znver5", ()) != 0


EXCHANGED = [("q", "q2"), ("q2", "q"), ("k", "k2"), ("k2", "k")]


def other_sign(arrays):
    return {"lambda": arrays["lambda"] * np.array([1, 1, -1, 1], np.float32)}


causal = Case("planted", 40, heads=4, group=2, mask=BOTTOM)
biased = Case("planted", 64, bias="bhqk", mask=[("key_length", "len")])
bfloat = Case("planted", 64, types=("bf16", "bf16"))
eight = Case("planted", 40, heads=8, group=8, mask=BOTTOM)
eight_pairs = Case("planted", 64, heads=8, group=8, types=("bf16", "bf16"))
eight_pairs.error_scale = elements.TYPICAL
double = Case("planted", 64, types=("f64", "f64"))
allowed = Case("planted", 64, mask=[("allowed", "ok")], allowed="qk")
PLANTED = {
    "scale left out": lambda: compiled(causal, scale=1.0),
    "scale off by 1 in 10 000": lambda: compiled(causal, scale=causal.scale * 1.0001),
    "top left instead of bottom right": lambda: compiled(causal, mask=[("causal", "top_left")]),
    "causal one key too many": lambda: compiled(causal, mask=[("causal", SIZES[2] - SIZES[1] + 1)]),
    "causal one key too few": lambda: compiled(causal, mask=[("causal", SIZES[2] - SIZES[1] - 1)]),
    "mask left out": lambda: compiled(causal, mask=[]),
    "bias left out": lambda: compiled(biased, use_bias=False),
    "inverted mask": lambda: compiled(causal, mask=[("not_causal", 0)]),
    "one wrong element": lambda: changed(at((1, 3, 20, 39), lambda x: x + 1e-4)),
    "NaN where there is none": lambda: changed(at((1, 0, 20, 0), lambda x: np.nan)),
    "NaN in an empty row": lambda: changed(at((0, 0, 0), lambda x: np.nan)),
    "mean instead of 0 in an empty row": lambda: changed(at((0, 0, 0), lambda x: x + 0.1)),
    "heads grouped in turn": lambda: changed(regrouped),
    "last query not written": lambda: changed(at((slice(None), slice(None), -1), lambda x: 0 * x)),
    "logarithm to base 2": lambda: changed(lambda got: [got[0], got[1] / np.float32(np.log(2))]),
    "finite lse of an empty row": lambda: changed(lambda got: [got[0], np.maximum(got[1], -1e30)]),
    "a head too few": lambda: changed(lambda got: [got[0][:, :3], got[1]]),
    "bf16 cut instead of rounded": lambda: rewritten_rounding("bf16", truncated),
    "staged value taken from the key": lambda: rewritten_case(bfloat, "vectors", key_as_value, target=PLAIN),
    "exp2 of f32 with a wrong digit": lambda: rewritten_case(
        causal, "llvm", lambda text: text.replace("0.240222424", "0.240322424")),
    "exp2 of f64 with a wrong digit": lambda: rewritten_case(
        double, "llvm", lambda text: text.replace("0.055504108664821576", "0.055504108674821576")),
    "part of the keys one too short": lambda: decode(
        "tiled-queries", r"arith\.constant 960 : index", "arith.constant 959 : index"),
    "last part left out": lambda: decode(
        "tiled-queries", r"arith\.ceildivui (%\w+), %c960 : index", r"arith.divui \1, %c960 : index"),
    "parts combined without rescale": lambda: decode(
        "vectors", r"math\.exp2 %\w+ : (.*)", r"arith.constant dense<1.0> : \1", "combine"),
    "query of a row r / Sq": lambda: decode("vectors", "arith.remui", "arith.divui", "decode_online_edge"),
    "first head of a group for all": lambda: decode(
        "tiled-queries", r"= arith\.remui (%\w+), %c2 : index", r"= arith.muli \1, %c0 : index"),
    "statistics saved in the other order": lambda: decode(
        "vectors", r"(memref\.load %\w+)\[%c0, ", r"\1[%c1, ", "decode_save_state"),
    "keys for one of 4 queries in a vector turned": lambda: decode_block(
        eight, "x86-64-v4", r"shuffle (.*) \[0, 1, 2, 3, 0, 1, 2, 3, ", r"shuffle \1 [0, 1, 2, 3, 3, 2, 1, 0, ", "decode_online_full"),
    "sums of 4 queries exchanged": lambda: decode_block(
        eight, "x86-64-v4", r"\[0, 4, 8, 12, 1, 5, 9, 13, ", "[1, 5, 9, 13, 0, 4, 8, 12, ", "decode_online_full"),
    "features of values of pairs left unpacked": lambda: decode_block(
        eight_pairs, "znver5", r"\[0, 1, 2, 3, 16, 17, 18, 19, ", "[0, 1, 2, 3, 4, 5, 6, 7, ", "decode_save_state"),
    "tolerance of rounded weights for a product": scale_of_product,
    "sign of lambda wrong in one head": lambda: of_two_maps(other_sign),
    "lambda of the next head": lambda: of_two_maps(lambda arrays: {"lambda": np.roll(arrays["lambda"], 1)}),
    "second map left out": lambda: of_two_maps(lambda arrays: {"lambda": 0 * arrays["lambda"]}),
    "keys of the first map for both": lambda: of_two_maps(lambda arrays: {"k2": arrays["k"]}),
    "maps exchanged": lambda: of_two_maps(lambda arrays: {new: arrays[old] for new, old in EXCHANGED}),
    "nothing compared": lambda: changed(lambda got: [got[0][:0], got[1]]),
}


def main():
    missed = [name for name, plant in PLANTED.items() if plant()]
    for name in missed:
        print("NOT NOTICED", name)
    print(f"{len(PLANTED) - len(missed)} passed, {len(missed)} failed")
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()
