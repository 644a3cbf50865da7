# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes the grid of kernels: each mask with each score, and with them element types, features,
heads and lengths in turn. attention.py runs what this writes.
usage: grid.py FILE: with the variable ATTN_TEST_SAMPLE=N one kernel in N, by a hash of its name."""
import os
import pathlib
import sys
import zlib

# Text behind `where`, and arguments.
MASKS = {
    "full": ("", ""),
    "causal": ("causal(top_left)", ""),
    "bottomRight": ("causal(bottom_right)", ""),
    "offset": ("causal(offset = -20)", ""),
    "window": ("window(left = 40, right = 3)", ""),
    "prefix": ("causal(top_left) or prefix(20)", ""),
    "sink": ("causal(bottom_right) and (sink(4) or window(left = 30, right = 0))", ""),
    "chunked": ("chunked(48) and causal(top_left)", ""),
    "dilated": ("dilated(3) and window(left = 70, right = 70)", ""),
    "not_": ("not window(left = 9, right = 9)", ""),
    "keyLength": ("causal(bottom_right) and key_length(%n : tensor<1xi32>)", "%n: tensor<1xi32>"),
    "boolean": ("%m : tensor<?x?xi1>", "%m: tensor<?x?xi1>"),
}
# Text in front of the scale, behind it, behind the mask; attributes; arguments. H stands for the number of heads.
FUNCTION = "score_mod (%s: f32, %b, %h, %i, %j) {{\n{}    attn.yield %y : f32\n  }}"
SCORES = {
    "plain": ("", "", "", "", ""),
    "biasRow": ("bias %b : tensor<1x?xf32>", "", "", "", "%b: tensor<1x?xf32>"),
    "biasPairs": ("bias %b : tensor<?x?xf32>", "", "", "", "%b: tensor<?x?xf32>"),
    "softcap": ("", FUNCTION.format("""    %cap = arith.constant 5.0 : f32
    %x = arith.divf %s, %cap : f32
    %t = math.tanh %x : f32
    %y = arith.mulf %t, %cap : f32
"""), "", "", ""),
    "distance": ("", FUNCTION.format("""    %d = arith.subi %i, %j : index
    %n = arith.index_cast %d : index to i32
    %r = arith.sitofp %n : i32 to f32
    %c = arith.constant 0.03 : f32
    %f = arith.mulf %r, %c : f32
    %y = arith.subf %s, %f : f32
"""), "", "", ""),
    "sinks": ("", "", "sinks %sinks : tensor<Hxf32>", "", "%sinks: tensor<Hxf32>"),
    "negative": ("", "", "", "", ""),
    "sigmoid": ("", "", "", " {normalization = #attn<normalization sigmoid>}", ""),
}
TYPES = ["f16", "bf16", "f32"]
FEATURES = [(32, 32), (64, 64), (40, 40), (128, 128), (16, 48), (80, 24), (33, 7)]  # of keys, and of values
HEADS = [(1, 1), (2, 1), (4, 2)]
LENGTHS = ["70,130", "1,1 5,0", "129,65", "1,200", "64,64", "3,127"]  # queries, keys


def function(name, mask, score, element, features, heads, lengths):
    where, mask_arguments = MASKS[mask]
    before, behind, sinks, attributes, score_arguments = (text.replace("tensor<H", f"tensor<{heads[0]}") for text in SCORES[score])
    query, key, value, out = (f"tensor<1x{h}x?x{d}x{element}>" for h, d in zip((heads[0], heads[1], heads[1], heads[0]), (features[0], features[0], features[1], features[1])))
    results = [("out", out)] + ([("lse", f"tensor<1x{heads[0]}x?xf32>")] if score != "sigmoid" else [])
    types = ", ".join(result for _, result in results)
    arguments = [f"%q: {query}", f"%k: {key}", f"%v: {value}", *filter(None, (mask_arguments, score_arguments))]
    clauses = [before, f"scale {'-' if score == 'negative' else ''}0.2", behind, where and f"where {where}", sinks, f"returning({', '.join(name for name, _ in results)}){attributes}"]
    values = ", ".join("%" + name for name, _ in results)
    return (f"// sizes: {lengths}\n// batch: 1\nfunc.func @{name}({', '.join(arguments)}) -> ({types}) {{\n"
            f"  {values} = attn.sdpa %q, %k, %v {' '.join(filter(None, clauses))} : ({query}, {key}, {value}) -> ({types})\n"
            f"  return {values} : {types}\n}}\n")


def grid():
    for i, mask in enumerate(MASKS):
        for j, score in enumerate(SCORES):
            yield (f"{mask}_{score}", mask, score, TYPES[(i + j) % 3], FEATURES[(3 * i + j) % len(FEATURES)], HEADS[(i + j // 3) % 3], LENGTHS[(i + 5 * j) % len(LENGTHS)])


def write(path, sample=1):
    """One kernel in `sample`; how many there are, of how many."""
    rows = list(grid())
    chosen = [row for row in rows if zlib.crc32(row[0].encode()) % sample == 0]
    assert len(rows) >= 80 and chosen
    pathlib.Path(path).write_text("\n".join(function(*row) for row in chosen))
    return len(chosen), len(rows)


if __name__ == "__main__":
    print("%d of %d kernels" % write(sys.argv[1], int(os.environ.get("ATTN_TEST_SAMPLE", "1"))))
