# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles every golden case whose features the dialect has and compares with its expected arrays.

The cases and their definition were made elsewhere (data/goldens/README.md); a case that is left out is named with the
feature that it needs."""
import os
import sys
import tempfile

import numpy as np

import elements
from kernels import Kernel, compare, load_cases, reference


class NotBuilt(Exception):
    """The case needs a feature that the dialect does not have."""


def mask_text(tree, case, operands):
    (word, value), = tree.items()
    if word in ("and", "or"):
        return "(" + f" {word} ".join(mask_text(t, case, operands) for t in value) + ")"
    if word == "causal":
        if value["align"] != "offset":
            return f"causal({value['align']})"
        operands.append("q_offset")
        return f"causal(offset = %q_offset : tensor<{case['b']}xi32>)"
    if word == "kv_len":
        operands.append(value)
        return f"key_length(%{value} : tensor<{case['b']}xi32>)"
    if word == "mask":
        operands.append(value)
        return f"%{value} : tensor<{'x'.join(map(str, case['inputs'][value]['shape']))}xi1>"
    raise NotBuilt(f"the mask term {word}")


def specification(case):
    for feature in ("alibi", "softcap", "score_mod"):
        if case.get(feature):
            raise NotBuilt(feature)
    narrow = case["dtype"]
    wide = elements.statistics(narrow)
    tensor = lambda shape, of=narrow: f"tensor<{''.join(f'{n}x' for n in shape)}{of}>"
    inputs = case["inputs"]
    q, k, v = (tensor(inputs[n]["shape"]) for n in "qkv")
    out = [*inputs["q"]["shape"][:-1], case["dv"]]
    lse = [case["b"], case["hq"], case["sq"]]
    arguments = [f"%q: {q}", f"%k: {k}", f"%v: {v}"]
    names, operands, bias, where = ["q", "k", "v"], [], "", ""
    if case.get("bias"):
        bias = f" bias %bias : {tensor(inputs['bias']['shape'], wide)}"
        arguments.append(f"%bias: {tensor(inputs['bias']['shape'], wide)}")
        names.append("bias")
    if case.get("mask"):
        where = " where " + mask_text(case["mask"], case, operands)
    for name in dict.fromkeys(operands):
        element = "i1" if inputs[name]["dtype"] == "bool" else "i32"
        arguments.append(f"%{name}: tensor<{'x'.join(map(str, inputs[name]['shape']))}x{element}>")
        names.append(name)
    layout = ""
    if case["layout"] == "bshd":
        layout = " {" + ", ".join(f"{n}_layout = #attn<layout bshd>" for n in ("query", "key", "value", "out")) + "}"
    wanted = ["out", "lse"] + (["weights"] if "expected_weights" in case["expected"] else [])
    types = [tensor(out), tensor(lse, wide), tensor([*lse, case["skv"]], wide)][:len(wanted)]
    results = ", ".join(f"%{n}" for n in wanted)
    text = (f"func.func @kernel({', '.join(arguments)}) -> ({', '.join(types)}) {{\n"
            f"  {results} = attn.sdpa %q, %k, %v{bias} scale {case['scale']!r}{where}"
            f" returning({', '.join(wanted)}){layout} : ({q}, {k}, {v}) -> ({', '.join(types)})\n"
            f"  return {results} : {', '.join(types)}\n}}\n")
    shapes = [out, lse, [*lse, case["skv"]]]
    return text, names, wanted, [elements.empty(s, narrow if s is out else wide) for s in shapes][:len(wanted)]


def run(case, data, folder):
    text, names, wanted, empty = specification(case)
    kernel = Kernel(text, folder)
    inputs = [elements.load(os.path.join(data, case["name"], n + ".npy")) for n in names]
    outputs = kernel(inputs, empty, threads=2)
    for source, results in (("kernel", outputs), ("Reference", reference(kernel.source, inputs, len(wanted), folder))):
        for name, got in zip(wanted, results):
            want = np.load(os.path.join(data, case["name"], f"expected_{name}.npy"))
            if want.size == 0:
                continue
            bounds = case["lse_tolerance" if name == "lse" else "tolerance"]
            compare(f"{case['name']} {name} ({source})", got, want, **bounds)
    out, lse = elements.numbers(outputs[0]), outputs[1]
    if np.isnan(out).any(-1).sum() != case["nan_rows"]:
        raise AssertionError(f"{case['name']}: {np.isnan(out).any(-1).sum()} rows hold a NaN, not {case['nan_rows']}")
    if (lse == -np.inf).sum() != case["empty_rows"]:
        raise AssertionError(f"{case['name']}: {(lse == -np.inf).sum()} empty rows, not {case['empty_rows']}")


def main():
    data = sys.argv[1]
    passed, failed, left_out = 0, [], {}
    for case in load_cases(os.path.join(data, "cases.json")):
        with tempfile.TemporaryDirectory() as folder:
            try:
                run(case, data, folder)
                passed += 1
            except NotBuilt as reason:
                left_out.setdefault(str(reason), []).append(case["name"])
            except (AssertionError, RuntimeError) as error:
                failed.append(str(error))
    for reason, names in left_out.items():
        print(f"left out for want of {reason}: {' '.join(names)}")
    for failure in failed:
        print("FAILED", failure)
    print(f"{passed} passed, {len(failed)} failed, {sum(map(len, left_out.values()))} skipped")
    sys.exit(1 if failed or not passed else 0)


if __name__ == "__main__":
    main()
