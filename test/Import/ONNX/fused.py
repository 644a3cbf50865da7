# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operators that ONNX Runtime's optimizer writes for several nodes, against these in ONNX's own reference: products with transposes, a
factor or an activation, convolutions with an activation, and the embeddings in front of BERT."""
import tempfile

import numpy as np
import onnx
from onnx import helper, numpy_helper
from onnx.reference import ReferenceEvaluator

from models import Program, compare, main

rng = np.random.default_rng(41)
CASES = {}
node = helper.make_node


def floats(*shape):
    return rng.normal(size=shape).astype(np.float32)


def model(nodes, inputs, outputs, constants, shapes):
    infos = [helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(a.dtype), shapes.get(n, a.shape)) for n, a in inputs.items()]
    graph = helper.make_graph(nodes, "g", infos, [onnx.ValueInfoProto(name=o) for o in outputs], [numpy_helper.from_array(a, n) for n, a in constants.items()])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)], ir_version=8)


def add(name, fused, plain, inputs, outputs=("y",), constants=None, shapes=None):
    """One node, which is what `plain` is."""
    fused.domain = "com.microsoft"
    CASES[name] = [model(nodes, inputs, outputs, constants or {}, shapes or {}) for nodes in ([fused], plain)], inputs, outputs


def products():
    exchanged = {0: [0, 1, 2, 3], 1: [0, 1, 3, 2]}
    for a, b in ((0, 0), (0, 1), (1, 0), (1, 1)):
        plain = [node("Transpose", ["a"], ["u"], perm=exchanged[a]), node("Transpose", ["b"], ["v"], perm=exchanged[b]), node("MatMul", ["u", "v"], ["p"]),
                 node("Constant", [], ["half"], value_float=0.5), node("Mul", ["p", "half"], ["y"])]
        add(f"matmul-{a}{b}", node("FusedMatMul", ["a", "b"], ["y"], alpha=0.5, transA=a, transB=b), plain,
            {"a": floats(*np.transpose(floats(2, 3, 5, 4), exchanged[a]).shape), "b": floats(*np.transpose(floats(2, 3, 4, 6), exchanged[b]).shape)},
            shapes={"a": ["n", 3, None, None]})
    plain = [node("Transpose", ["a"], ["u"], perm=[1, 2, 3, 0]), node("Transpose", ["b"], ["v"], perm=[1, 2, 3, 0]), node("MatMul", ["u", "v"], ["y"])]
    add("matmul-batches", node("FusedMatMul", ["a", "b"], ["y"], transBatchA=1, transBatchB=1, transA=1, transB=1), plain, {"a": floats(4, 2, 3, 5), "b": floats(6, 2, 3, 4)})
    add("matmul-vector", node("FusedMatMul", ["a", "b"], ["y"], transA=1, transB=1),
        [node("Transpose", ["b"], ["v"]), node("MatMul", ["a", "v"], ["y"])], {"a": floats(4), "b": floats(6, 4)})


def activations():
    weights = {"w": floats(6, 4), "b": floats(6)}
    for op, given in (("Relu", {}), ("LeakyRelu", {"alpha": 0.3}), ("Sigmoid", {}), ("Tanh", {}), ("HardSigmoid", {"alpha": 0.3, "beta": 0.4})):
        how = {"alpha": 0.5, "beta": 2.0, "transB": 1}
        add(f"gemm-{op}", node("FusedGemm", ["x", "w", "b"], ["y"], activation=op, **{f"activation_{n}": v for n, v in given.items()}, **how),
            [node("Gemm", ["x", "w", "b"], ["p"], **how), node(op, ["p"], ["y"], **given)], {"x": floats(3, 4)}, constants=weights, shapes={"x": ["rows", 4]})
    weights, how = {"w": floats(4, 3, 3, 3), "b": floats(4)}, {"pads": [1, 1, 1, 1], "strides": [2, 1]}
    product = node("Conv", ["x", "w", "b"], ["p"], **how)
    add("conv-Relu", node("FusedConv", ["x", "w", "b"], ["y"], activation="Relu", **how), [product, node("Relu", ["p"], ["y"])], {"x": floats(1, 3, 6, 5)}, constants=weights)
    add("conv-HardSigmoid", node("FusedConv", ["x", "w", "b"], ["y"], activation="HardSigmoid", activation_params=[0.3, 0.4], **how),
        [product, node("HardSigmoid", ["p"], ["y"], alpha=0.3, beta=0.4)], {"x": floats(1, 3, 6, 5)}, constants=weights)
    limits = [node("Constant", [], ["low"], value_float=-0.5), node("Constant", [], ["high"], value_float=0.25)]
    add("conv-Clip", node("FusedConv", ["x", "w"], ["y"], activation="Clip", activation_params=[-0.5, 0.25], **how),
        [node("Conv", ["x", "w"], ["p"], **how), *limits, node("Clip", ["p", "low", "high"], ["y"])], {"x": floats(1, 3, 6, 5)}, constants={"w": weights["w"]})
    add("conv-sum", node("FusedConv", ["x", "w", "b", "z"], ["y"], activation="Relu", **how),
        [product, node("Add", ["p", "z"], ["s"]), node("Relu", ["s"], ["y"])], {"x": floats(1, 3, 6, 5), "z": floats(1, 4, 3, 5)}, constants=weights)


def embeddings():
    ids, mask = rng.integers(0, 11, (2, 5)).astype(np.int32), np.array([[1, 1, 1, 0, 0], [1] * 5], np.int32)
    tables = {"words": floats(11, 8), "places": floats(16, 8), "kinds": floats(2, 8), "scale": floats(8), "shift": floats(8), "axis": np.array([1])}
    shapes = {name: ["batch", "length"] for name in ("ids", "kind", "mask", "place")}

    def plain(*terms):
        names = ["words of", *(f"term{i}" for i in range(len(terms)))]
        nodes = [node("Gather", ["words", "ids"], ["words of"])] + [node(*term[:2], [name]) for term, name in zip(terms, names[1:])]
        sums = [node("Add", [f"sum{i}" if i else names[0], name], [f"sum{i + 1}"]) for i, name in enumerate(names[1:])]
        return [*nodes, *sums, node("LayerNormalization", [f"sum{len(terms)}", "scale", "shift"], ["y"], epsilon=1e-4), node("Identity", [f"sum{len(terms)}"], ["sum"])]

    first = [node("Shape", ["ids"], ["length"], start=1), node("Constant", [], ["zero"], value_ints=[0]), node("Slice", ["places", "zero", "length", "zero"], ["first"])]
    given = ["words", "places", "kinds", "scale", "shift"]
    add("embedding", node("EmbedLayerNormalization", ["ids", "kind", *given, "mask"], ["y", "count", "sum"], epsilon=1e-4),
        [*first, *plain(("Identity", ["first"]), ("Gather", ["kinds", "kind"])), node("ReduceSum", ["mask", "axis"], ["count"], keepdims=0)],
        {"ids": ids, "kind": (ids % 2).astype(np.int32), "mask": mask}, ("y", "count", "sum"), tables, shapes)
    add("embedding-places", node("EmbedLayerNormalization", ["ids", "", "words", "places", "", "scale", "shift", "", "place"], ["y"], epsilon=1e-4),
        plain(("Gather", ["places", "place"])), {"ids": ids, "place": ids[:, ::-1].copy()}, constants=tables, shapes=shapes)
    none = node("ConstantOfShape", ["rows"], ["count"], value=numpy_helper.from_array(np.zeros(1, np.int32)))
    add("embedding-unmasked", node("EmbedLayerNormalization", ["ids", "", "words", "places", "", "scale", "shift"], ["y", "count"], epsilon=1e-4),
        [*first, *plain(("Identity", ["first"])), node("Shape", ["ids"], ["rows"], end=1), none], {"ids": ids}, ("y", "count"), tables, shapes)


products()
activations()
embeddings()


def check(name):
    (fused, plain), inputs, outputs = CASES[name]
    want = ReferenceEvaluator(plain).run(list(outputs), inputs)
    with tempfile.TemporaryDirectory() as folder:
        results = Program(fused.SerializeToString(), folder)(list(inputs.values()), outputs)
    for output, array in zip(outputs, want):
        compare(output, results[output], np.asarray(array), (2e-5, 2e-6))


if __name__ == "__main__":
    main(CASES, check)
