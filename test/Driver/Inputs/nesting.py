# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes specifications that are deep or long."""
import pathlib

COUNT = 100000
FUNCTION = "func.func @f(%x: tensor<2xf32>) -> tensor<2xf32> {\n  return %x : tensor<2xf32>\n}\n"
MASK = ("func.func @f(%s: tensor<4x4xf32>) -> tensor<4x4xf32> {\n  %m = attn.mask %s where MASK : tensor<4x4xf32>\n"
        "  return %m : tensor<4x4xf32>\n}\n")


def module(attribute):
    return "module attributes {test.a = " + attribute + "} {\n" + FUNCTION + "}\n"


def nested(begin, middle, end, count=COUNT):
    return begin * count + middle + end * count


TEXTS = {
    "parentheses": "\n" + nested("(", "", ")"),
    "brackets": module(nested("[", "", "]")),
    "braces": nested("module {", FUNCTION, "}"),
    "types": FUNCTION + "func.func private @g(" + nested("tuple<", "f32", ">") + ")\n",
    "locations": FUNCTION + "#l = loc(" + nested('callsite("a" at ', '"b":1:1', ")") + ")\n",
    "mask": MASK.replace("MASK", nested("(", "causal(top_left)", ")")),
    "not": MASK.replace("MASK", nested("not\n", "causal(top_left)", "")),
    "minus": module("affine_map<(d0) -> (" + COUNT * "-" + "d0)>"),
    "most": module(nested("[", "", "]", 255)),
    "none": module('"' + COUNT * '([{< \\" ' + '"') + "// " + COUNT * "(" + "\n#m = affine_set<(d0) : (" + 300 * "d0 <= -1, " + "d0 >= 0)>\n",
    "sum": module("affine_map<(d0) -> (" + COUNT * "d0 + " + "d0)>"),
}

for name, text in TEXTS.items():
    pathlib.Path(name + ".mlir").write_text(text)
