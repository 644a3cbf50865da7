# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Single operators, and small graphs that people write around attention, beside ONNX's own reference."""
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

from models import TOLERANCE, Program, compare, main

rng = np.random.default_rng(11)
GRAPHS = {}


def floats(*shape, dtype=np.float32):
    return rng.normal(size=shape).astype(dtype)


def kind(array):
    return helper.np_dtype_to_tensor_dtype(array.dtype)


def add(name, nodes, inputs, outputs=("y",), constants=None, opset=18, shapes=None):
    """A graph of `nodes`; the values of `inputs` are what it is run on."""
    assert name not in GRAPHS, name
    infos = [helper.make_tensor_value_info(n, kind(a), (shapes or {}).get(n, a.shape)) for n, a in inputs.items()]
    graph = helper.make_graph(nodes, "g", infos, [onnx.ValueInfoProto(name=o) for o in outputs],
                              [numpy_helper.from_array(np.asarray(a), n) for n, a in (constants or {}).items()])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)
    GRAPHS[name] = (model, inputs, outputs)


def one(op, *inputs, name="", constants=None, opset=18, outputs=1, **attributes):
    """A graph of one node; inputs come first, then constants."""
    given = {f"x{i}": a for i, a in enumerate(inputs)}
    fixed = {f"c{i}": a for i, a in enumerate(constants or [])}
    results = [f"y{i}" for i in range(outputs)]
    node = helper.make_node(op, [*given, *[c if fixed[c] is not None else "" for c in fixed]], results, **attributes)
    add(op + name, [node], given, results, {n: a for n, a in fixed.items() if a is not None}, opset)


X, Y = floats(2, 3, 5), floats(3, 1)
for op in ("Add", "Sub", "Mul", "Div", "Equal", "Less", "LessOrEqual", "Greater", "GreaterOrEqual", "Max", "Min", "Sum", "Mean"):
    one(op, X, Y)
for op in ("Sqrt", "Log"):
    one(op, np.abs(X) + 0.1)
for op in ("Exp", "Tanh", "Erf", "Sin", "Cos", "Floor", "Ceil", "Round", "Reciprocal", "Sigmoid", "LeakyRelu", "Softplus", "Neg", "Abs", "Relu",
           "IsNaN", "Identity"):
    one(op, X)
one("Gelu", X, opset=20)
one("Gelu", X, name="-tanh", opset=20, approximate="tanh")
for exponent in (1.0, 2.0, 3.0, 0.5, -1.0, 1.7):
    one("Pow", np.abs(X) + 0.1, constants=[np.float32(exponent)], name=f"-{exponent}")
one("Not", X > 0)
for op in ("And", "Or", "Xor"):
    one(op, X > 0, Y > 0)
one("Where", X > 0, X, Y)
one("Clip", X, constants=[np.float32(-0.5), np.float32(0.5)])
one("Clip", X, constants=[None, np.float32(0.5)], name="-above")
for source, target in ((np.float32, np.float16), (np.float32, np.float64), (np.float32, np.int32), (np.int64, np.float32), (bool, np.float32),
                       (np.float32, bool), (np.int32, np.int64), (np.int64, bool)):
    one("Cast", (X * 3).astype(source), name=f"-{source.__name__}-{target.__name__}", to=helper.np_dtype_to_tensor_dtype(np.dtype(target)))
INTS = rng.integers(-9, 9, (3, 4))
one("Mod", INTS, constants=[np.int64(3)])
one("Div", INTS, constants=[np.int64(3)], name="-int")
one("Mod", X, constants=[np.float32(0.7)], name="-fmod", fmod=1)
for keep in (0, 1):
    for op in ("ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL2", "ReduceSumSquare"):
        one(op, X, constants=[np.array([-1, 0])], name=f"-{keep}", keepdims=keep)
one("ReduceMean", X, name="-all")
one("ReduceMean", X, name="-old", opset=13, axes=[1])
one("ReduceMax", X > 0, constants=[np.array([1])], name="-bool", opset=20)
one("Softmax", X, axis=1)
one("Softmax", X, name="-old", opset=11, axis=1)
# Before 13, all dimensions from the axis on are one; ONNX's reference has later meanings only.
OTHER = {"Softmax-old": [np.exp(X) / np.exp(X).sum((1, 2), keepdims=True)]}
one("LogSoftmax", X)
one("LayerNormalization", X, constants=[floats(5), floats(5)])
one("LayerNormalization", X, constants=[floats(3, 5), floats(3, 5)], name="-two", axis=-2)
one("RMSNormalization", X, constants=[floats(5)], opset=23)
one("RMSNormalization", X, constants=[floats(3, 5)], name="-two", opset=23, axis=1)
one("MatMul", floats(2, 3, 4, 5), floats(2, 1, 5, 6))
one("MatMul", floats(2, 3, 4, 5), constants=[floats(5, 6)], name="-weight")
one("MatMul", floats(5), floats(5, 6), name="-row")
one("MatMul", floats(3, 4, 5), floats(5), name="-column")
one("MatMul", floats(5), floats(5), name="-dot")
one("MatMul", floats(4, 5), floats(3, 5, 6), name="-broadcast")
one("Gemm", floats(4, 5), constants=[floats(6, 5), floats(6)], transB=1)
one("Gemm", floats(5, 4), constants=[floats(5, 6), floats(4, 1)], name="-scaled", transA=1, alpha=0.5, beta=2.0)
one("Transpose", X, perm=[2, 0, 1])
one("Transpose", X, name="-reversed")
one("Reshape", X, constants=[np.array([0, -1])])
one("Reshape", floats(6, 4), constants=[np.array([8, 3])], name="-across")
one("Flatten", X, axis=2)
one("Squeeze", floats(1, 3, 1, 4), constants=[np.array([0, -2])])
one("Squeeze", floats(1, 3, 1, 4), name="-all")
one("Unsqueeze", X, constants=[np.array([0, -1])])
one("Expand", Y, constants=[np.array([2, 1, 4])])
one("Trilu", floats(2, 4, 5))
one("Trilu", floats(4, 4), constants=[np.int64(-1)], name="-lower", upper=0)
one("Slice", floats(6, 7), constants=[np.array([1, -5]), np.array([5, 99]), np.array([0, 1]), np.array([2, 1])])
one("Slice", floats(6, 7), constants=[np.array([-1]), np.array([-99]), np.array([1]), np.array([-2])], name="-backwards")
one("Split", floats(2, 7), constants=[np.array([3, 4])], axis=1, outputs=2)
one("Split", floats(2, 7), name="-uneven", axis=1, outputs=3, num_outputs=3)
one("Concat", X, floats(2, 1, 5), axis=1)
one("Gather", floats(7, 3), constants=[np.array([[0, -1], [3, 3]])])
one("Gather", floats(2, 7, 3), rng.integers(0, 7, (4,)), name="-indices", axis=1)
one("Gather", floats(2, 7, 3), constants=[np.int64(2)], name="-one", axis=1)
one("Pad", X, constants=[np.array([0, 1, 0, 0, 0, 2]), np.float32(1.5)])
one("Shape", X)
one("Size", X)

# What people write around attention. Names of sizes are unknown sizes.
node = helper.make_node
UNKNOWN = {"x": ["batch", "seq", 16]}
QKV = {"wq": floats(16, 16) / 4, "wk": floats(16, 16) / 4, "wv": floats(16, 16) / 4}
PROJECT = [node("MatMul", ["x", w], [p]) for w, p in (("wq", "q"), ("wk", "k"), ("wv", "v"))]
ATTEND = node("Attention", ["q", "k", "v"], ["a"], q_num_heads=2, kv_num_heads=2, is_causal=1)
for name, shape in (("", (2, 5, 16)), ("-batch-1", (1, 5, 16)), ("-one-row", (2, 1, 16))):
    x = {"x": floats(*shape)}
    add("layer-residual" + name, [*PROJECT, ATTEND, node("Add", ["x", "a"], ["y"])], x, constants=QKV, opset=23, shapes=UNKNOWN)
add("layers-chained", [*PROJECT, ATTEND, node("MatMul", ["a", "wq"], ["q2"]), node("Attention", ["q2", "k", "v"], ["y"], q_num_heads=2,
    kv_num_heads=2)], {"x": floats(2, 5, 16)}, constants=QKV, opset=23, shapes=UNKNOWN)
add("one-head", [*PROJECT, node("Attention", ["q", "k", "v"], ["y"], q_num_heads=1, kv_num_heads=1)], {"x": floats(2, 5, 16)}, constants=QKV, opset=23)
add("two-results", [*PROJECT, ATTEND, node("Relu", ["a"], ["y"])], {"x": floats(2, 5, 16)}, ("y", "a"), QKV, 23, UNKNOWN)
add("same-result-twice", [*PROJECT, ATTEND, node("Identity", ["a"], ["y"])], {"x": floats(2, 5, 16)}, ("y", "a"), QKV, 23)
add("input-is-result", [node("Relu", ["x"], ["y"])], {"x": floats(2, 3)}, ("x", "y"))
PORTS = {"input-is-result": ("x_1", "y")}  # two tensors of one name
add("initializer-is-result", [node("Relu", ["x"], ["y"])], {"x": floats(2, 3)}, ("c", "y"), {"c": floats(4)})
add("half", [node("MatMul", ["x", "w"], ["m"]), node("Softmax", ["m"], ["y"])], {"x": floats(3, 8, dtype=np.float16)},
    constants={"w": floats(8, 8, dtype=np.float16)})
add("embedding", [node("Gather", ["table", "ids"], ["e"]), node("LayerNormalization", ["e", "s", "b"], ["y"])], {"ids": rng.integers(0, 50, (2, 6))},
    constants={"table": floats(50, 16), "s": floats(16), "b": floats(16)}, shapes={"ids": ["batch", "seq"]})
add("swiglu", [node("MatMul", ["x", "wq"], ["g"]), node("Sigmoid", ["g"], ["s"]), node("Mul", ["g", "s"], ["h"]), node("MatMul", ["x", "wk"], ["u"]),
    node("Mul", ["h", "u"], ["m"]), node("MatMul", ["m", "wv"], ["o"]), node("Add", ["o", "x"], ["y"])], {"x": floats(2, 5, 16)}, constants=QKV,
    shapes=UNKNOWN)
add("heads-by-hand", [node("Reshape", ["x", "heads"], ["r"]), node("Transpose", ["r"], ["h"], perm=[0, 2, 1, 3]),
    node("Transpose", ["h"], ["t"], perm=[0, 2, 1, 3]), node("Reshape", ["t", "joined"], ["y"])], {"x": floats(2, 5, 16)},
    constants={"heads": np.array([0, 0, 4, 4]), "joined": np.array([0, 0, -1])}, shapes=UNKNOWN)
add("mean-pooling", [node("ReduceMean", ["x", "axis"], ["y"], keepdims=0)], {"x": floats(2, 5, 16)}, constants={"axis": np.array([1])}, shapes=UNKNOWN)


def check(name):
    model, inputs, outputs = GRAPHS[name]
    want = OTHER.get(name) or ReferenceEvaluator(model).run(None, inputs)
    outputs = PORTS.get(name, outputs)
    with tempfile.TemporaryDirectory() as folder:
        results = Program(model.SerializeToString(), folder)(list(inputs.values()), outputs)
    for output, array in zip(outputs, want):
        array = np.asarray(array)
        compare(output, results[output], array, TOLERANCE.get(array.dtype.name, (2e-5, 2e-6)))


if __name__ == "__main__":
    main(GRAPHS, check)
