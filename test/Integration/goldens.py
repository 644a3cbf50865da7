# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles every golden case whose features the dialect has and compares with its expected arrays.

The cases and their definition were made elsewhere (data/goldens/README.md); a case that is left out is named with the
feature that it needs.
usage: goldens.py DATA [--target=TARGET] [--every=N]    one case in N"""
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
    while word == "and" and any("and" in t for t in value):  # one conjunction: its terms know of each other
        value = [inner for t in value for inner in t.get("and", [t])]
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
    if word == "window":
        return f"window(left = {value['left']}, right = {value['right']}, {value['align']})"
    if word == "prefix":
        if isinstance(value, int):
            return f"prefix({value})"
        operands.append(value)
        return f"prefix(%{value} : tensor<{case['b']}xi32>)"
    if word == "chunked":
        return f"chunked({value})"
    if word == "same":
        operands.extend(value)
        row = lambda name: f"%{name} : tensor<{'x'.join(map(str, case['inputs'][name]['shape']))}xi32>"
        return f"document({', '.join(map(row, dict.fromkeys(value)))})"
    raise NotBuilt(f"the mask term {word}")


# The score functions of the cases, as ops on %s, %h, %q and %k; TABLE stands for the captured tensor's type.
FUNCTIONS = {
    "score - 0.125 * |q - k| * (h + 1)": """
      %d = arith.subi %q, %k : index
      %i = arith.index_cast %d : index to i32
      %a = math.absi %i : i32
      %f = arith.sitofp %a : i32 to f32
      %one = arith.constant 1 : index
      %n = arith.addi %h, %one : index
      %j = arith.index_cast %n : index to i32
      %m = arith.sitofp %j : i32 to f32
      %c = arith.constant -0.125 : f32
      %x = arith.mulf %f, %c : f32
      %y = arith.mulf %x, %m : f32
      %mod = arith.addf SCORE, %y : f32""",
    "score + table[h, q - k + 14]": """
      %d = arith.subi %q, %k : index
      %c = arith.constant 14 : index
      %i = arith.addi %d, %c : index
      %x = tensor.extract %table[%h, %i] : TABLE
      %mod = arith.addf SCORE, %x : f32""",
    "score * |score| * 0.5": """
      %a = math.absf SCORE : f32
      %x = arith.mulf SCORE, %a : f32
      %c = arith.constant 0.5 : f32
      %mod = arith.mulf %x, %c : f32""",
    "score * gain[h]": """
      %g = tensor.extract %gain[%h] : TABLE
      %mod = arith.mulf SCORE, %g : f32""",
}
CAPTURES = {"score + table[h, q - k + 14]": "table", "score * gain[h]": "gain"}


def score_function(case, types, operands):
    """Softcap, score function and ALiBi of the case as one region, and what it captures."""
    body, score, captures = "", "%s", []
    if case.get("softcap"):
        body += f"""
      %cap = arith.constant {case['softcap']!r} : f32
      %s0 = arith.divf %s, %cap : f32
      %s1 = math.tanh %s0 : f32
      %capped = arith.mulf %s1, %cap : f32"""
        score = "%capped"
    if case.get("score_mod"):
        name = CAPTURES.get(case["score_mod"])
        captures += [name] if name else []
        body += FUNCTIONS[case["score_mod"]].replace("SCORE", score).replace("TABLE", types.get(name, ""))
        score = "%mod"
    if case.get("alibi"):
        captures.append(case["alibi"]["slopes"])
        start = f"%start = arith.constant {case['skv'] - case['sq'] if case['alibi']['align'] == 'bottom_right' else 0} : index"
        if "kv_len" in case["inputs"]:
            captures.append("kv_len")
            start = f"""%l = tensor.extract %kv_len[%b] : {types['kv_len']}
      %live = arith.index_cast %l : i32 to index
      %sq = arith.constant {case['sq']} : index
      %start = arith.subi %live, %sq : index"""
        body += f"""
      {start}
      %d0 = arith.subi %k, %q : index
      %d1 = arith.subi %d0, %start : index
      %d2 = arith.index_cast %d1 : index to i64
      %d3 = arith.sitofp %d2 : i64 to f32
      %slope = tensor.extract %slopes[%h] : {types['slopes']}
      %far = arith.mulf %slope, %d3 : f32
      %alibi = arith.addf {score}, %far : f32"""
        score = "%alibi"
    if not body:
        return ""
    operands.extend(captures)
    bound = ", ".join(f"%{n} = %{n} : {types[n]}" for n in captures)
    return (f" score_mod (%s: f32, %b, %h, %q, %k){f' with ({bound})' if bound else ''} {{{body}\n"
            f"      attn.yield {score} : f32\n  }}")


def specification(case):
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
    names_of = {"bool": "i1", "int32": "i32", "float32": "f32", "f32": "f32"}
    types = {name: f"tensor<{'x'.join(map(str, i['shape']))}x{names_of.get(i['dtype'], narrow)}>" for name, i in inputs.items()}
    function = score_function(case, types, operands)
    for name in dict.fromkeys(operands):
        arguments.append(f"%{name}: {types[name]}")
        names.append(name)
    layout = ""
    if case["layout"] == "bshd":
        layout = " {" + ", ".join(f"{n}_layout = #attn<layout bshd>" for n in ("query", "key", "value", "out")) + "}"
    wanted = ["out", "lse"] + (["weights"] if "expected_weights" in case["expected"] else [])
    types = [tensor(out), tensor(lse, wide), tensor([*lse, case["skv"]], wide)][:len(wanted)]
    results = ", ".join(f"%{n}" for n in wanted)
    text = (f"func.func @kernel({', '.join(arguments)}) -> ({', '.join(types)}) {{\n"
            f"  {results} = attn.sdpa %q, %k, %v{bias} scale {case['scale']!r}{function}{where}"
            f" returning({', '.join(wanted)}){layout} : ({q}, {k}, {v}) -> ({', '.join(types)})\n"
            f"  return {results} : {', '.join(types)}\n}}\n")
    shapes = [out, lse, [*lse, case["skv"]]]
    return text, names, wanted, [elements.empty(s, narrow if s is out else wide) for s in shapes][:len(wanted)]


def run(case, data, folder, target):
    if target.startswith("sm_") and case["dtype"] == "f64":
        raise NotBuilt("f64 on a GPU")
    text, names, wanted, empty = specification(case)
    kernel = Kernel(text, folder, target=target)
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
    options = dict(option.lstrip("-").split("=") for option in sys.argv[2:])
    passed, failed, left_out = 0, [], {}
    for case in load_cases(os.path.join(data, "cases.json"))[:: int(options.get("every", 1))]:
        with tempfile.TemporaryDirectory() as folder:
            try:
                run(case, data, folder, options.get("target", "native"))
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
