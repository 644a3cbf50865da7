# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Plants one mistake at a time in models, in what the importer makes of them, or in what they are given, and requires that a case notices it.

The mistakes are those that implementations of Attention have made. Each is tried on the cases it can touch; at least one must fail."""
import io
import re
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import helper, numpy_helper

import formula
import uncovered
from models import ATTN_OPT, Archive, Failure, Program, check_node, compare, load, run_all

archive = Archive("node")
CASES = {case["name"]: case for case in archive.cases if case["operator"] == "Attention"}


def edited(change):
    """A change of a model's one node as a change of its bytes."""
    def apply(data):
        model = onnx.load_from_string(data)
        change(model)
        return model.SerializeToString()
    return apply


def without(*names):
    def change(model):
        node = model.graph.node[0]
        kept = [a for a in node.attribute if a.name not in names]
        del node.attribute[:]
        node.attribute.extend(kept)
    return edited(change)


def without_input(place):
    def change(model):
        model.graph.node[0].input[place] = ""
    return edited(change)


def swapped_modes(model):
    for attribute in model.graph.node[0].attribute:
        if attribute.name == "qk_matmul_output_mode":
            attribute.i = {1: 2, 2: 1}.get(attribute.i, attribute.i)


def finite_mask(model):
    """A boolean mask as 0 and the lowest number, so that a row without keys gives the mean of the values."""
    node, graph = model.graph.node[0], model.graph
    low, zero = (numpy_helper.from_array(np.array(x, np.float32), name) for x, name in ((np.finfo(np.float32).min, "low"), (0, "zero")))
    graph.initializer.extend([low, zero])
    where = helper.make_node("Where", [node.input[3], "zero", "low"], ["finite"])
    node.input[3] = "finite"
    graph.node.insert(0, where)


def model_case(name, change, flags=("-O0",)):
    check_node(archive, CASES[name], change=change, flags=flags)


def rewritten(name, pattern, text):
    """The case with the importer's IR changed; not at all if `pattern` does not occur."""
    case = CASES[name]
    with tempfile.TemporaryDirectory() as folder:
        with open(f"{folder}/model.onnx", "wb") as file:
            file.write(archive.members[f"{name}/model.onnx"])
        command = [ATTN_OPT, f"{folder}/model.onnx", "--compile-to=input", "--emit=mlir", "-o", f"{folder}/model.mlir"]
        subprocess.run(command, check=True)
        with open(f"{folder}/model.mlir") as file:
            before = file.read()
        after = re.sub(pattern, text, before)
        assert after != before, f"{name} has no {pattern}"
        program = Program(b"", folder, source=after)
        results = program([archive.members[f"{name}/in_{i}.npy"] for i in case["inputs"]], case["outputs"])
    for output in case["outputs"]:
        compare(output, results[output], archive.array(f"{name}/want_{output}.npy"), (1e-3, 1e-7))


def tiled_heads(name):
    """Query head h reads key head h mod Hkv: the same as other places of the query heads."""
    case = CASES[name]
    arrays = {i: load(io.BytesIO(archive.members[f"{name}/in_{i}.npy"])) for i in case["inputs"]}
    heads, groups = arrays["Q"].shape[1], arrays["K"].shape[1]
    order = np.argsort(np.arange(heads) % groups, kind="stable")
    arrays["Q"] = arrays["Q"][:, order]
    with tempfile.TemporaryDirectory() as folder:
        results = Program(archive.members[f"{name}/model.onnx"], folder)(list(arrays.values()), case["outputs"])
    y = np.empty_like(results["Y"])
    y[:, order] = results["Y"]
    compare("Y", y, archive.array(f"{name}/want_Y.npy"), (1e-3, 1e-7))


def mask_before_softcap(name):
    """In ONNX's own expansion: the bias is added to the product, and softcap takes the sum."""
    def change(model):
        nodes = model.graph.node
        readers = {}
        for node in nodes:
            for i in node.input:
                readers.setdefault(i, []).append(node)
        tanh = next(node for node in nodes if node.op_type == "Tanh")
        divide = next(node for node in nodes if tanh.input[0] in node.output)
        multiply = readers[tanh.output[0]][0]
        capped = multiply.output[0]
        while readers[capped][0].op_type == "Identity":
            capped = readers[capped][0].output[0]
        add = readers[capped][0]
        assert add.op_type == "Add", add.op_type
        product, total = divide.input[0], add.output[0]
        add.input[list(add.input).index(capped)] = product
        add.output[0], divide.input[0] = "early", "early"
        for node in readers[total]:
            node.input[list(node.input).index(total)] = capped
        order = [node for node in nodes if node is not add]
        order.insert(order.index(divide), add)
        # The bias may be made behind: sort by what is needed.
        done, left = {i.name for i in model.graph.input} | {""} | {t.name for t in model.graph.initializer}, [onnx.NodeProto.FromString(n.SerializeToString()) for n in order]
        del nodes[:]
        while left:
            ready = next(node for node in left if set(node.input) <= done)
            left.remove(ready)
            done.update(ready.output)
            nodes.append(ready)
    check_node(archive, CASES[name], model="expanded.onnx", change=edited(change))


def short_mask_open(name):
    """What a short mask lacks is visible: the formula with such a mask must not agree."""
    arrays, outputs, shapes, tolerance, opset, attributes = uncovered.CASES[name]
    keys = arrays["K"].shape[2] + (arrays["past_key"].shape[2] if "past_key" in arrays else 0)
    mask = arrays["attn_mask"]
    open_mask = np.pad(mask, [(0, 0)] * (mask.ndim - 1) + [(0, keys - mask.shape[-1])], constant_values=mask.dtype.type(mask.dtype == bool))
    want = formula.attention({**arrays, "attn_mask": open_mask}, attributes)
    with tempfile.TemporaryDirectory() as folder:
        program = Program(formula.model(arrays, attributes, ["Y"], opset, shapes).SerializeToString(), folder)
        results = program([arrays[n] for n in formula.INPUTS if n in arrays], ["Y"])
    compare("Y", results["Y"], want["Y"], (1e-3, 1e-5))


def named(*texts):
    return [name for name in CASES if all(text in name for text in texts)]


NONPAD = ["attention_4d_gqa_causal_nonpad_decode", "attention_4d_causal_nonpad_continued_prefill", "attention_4d_causal_nonpad_batch_prefill"]
PAST = ["attention_4d_causal_with_past_and_present", "attention_local_window_with_past"]
MISTAKES = {
    "key heads tiled": (tiled_heads, ["attention_4d_gqa", "attention_4d_gqa_causal"]),
    "diagonal always at the first key, lengths": (lambda n: rewritten(n, r"causal\(bottom_right\)", "causal(top_left)"), NONPAD),
    "diagonal always at the first key, past": (lambda n: rewritten(n, r"offset = \d+", "top_left"), PAST),
    "diagonal always at the last key": (lambda n: rewritten(n, r"causal\(top_left\)", "causal(bottom_right)"),
                                        ["attention_4d_causal", "attention_3d_causal"]),
    "lengths do not hide keys": (lambda n: model_case(n, without_input(6)), ["attention_4d_diff_heads_mask4d_padded_kv", "attention_4d_padded_kv_bf16"]),
    "softcap behind the mask": (mask_before_softcap, ["attention_4d_softcap_neginf_mask", "attention_4d_softcap_neginf_mask_poison"]),
    "softcap ignored": (lambda n: model_case(n, without("softcap")), ["attention_4d_softcap", "attention_3d_softcap"]),
    "modes swapped": (lambda n: model_case(n, edited(swapped_modes)), ["attention_4d_with_qk_matmul_bias", "attention_4d_with_qk_matmul_softcap"]),
    "masked rows are the mean": (lambda n: model_case(n, edited(finite_mask), ("-O0", "--strict-import")),
                                 ["attention_23_boolmask_fullymasked_row_nan_robustness"]),
    "scale ignored": (lambda n: model_case(n, without("scale")), ["attention_4d_scaled", "attention_3d_scaled"]),
    "causal dropped beside a mask": (lambda n: model_case(n, without("is_causal")),
                                     ["attention_4d_attn_mask_3d_causal", "attention_4d_attn_mask_4d_causal"]),
    "windows ignored": (lambda n: model_case(n, without("left_window_size", "right_window_size")),
                        ["attention_local_window", "attention_bidirectional_window"]),
    "short masks open": (short_mask_open, ["mask-short-float", "mask-short-bool"]),
}


def main():
    jobs = []
    noticed = {mistake: [] for mistake in MISTAKES}
    for mistake, (check, names) in MISTAKES.items():
        def attempt(check=check, names=names, mistake=mistake):
            for name in names:
                try:
                    check(name)
                except Failure as failure:
                    if "differs" not in str(failure):
                        raise Failure(f"{name}: {failure}") from failure
                    noticed[mistake].append(name)
        jobs.append((mistake, attempt))
    failures = run_all(jobs)
    for mistake, names in noticed.items():
        print(f"{mistake}: noticed by {', '.join(names) or 'none'}")
    for name, reason in failures:
        print(f"{name}: {reason}")
    return bool(failures) or not all(noticed.values())


if __name__ == "__main__":
    sys.exit(main())
