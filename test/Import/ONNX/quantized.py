# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Quantized operators: those of ONNX against its own reference, those of ONNX Runtime against what they are in these and in numbers.

Scales are powers of 2, so that a rounding that is a tie in one place is one in all."""
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

from models import Failure, Program, compare, main

rng = np.random.default_rng(43)
CASES, REFUSED = {}, {}
node = helper.make_node
STEP, FINE = np.float32(1 / 16), np.float32(1 / 256)


def floats(*shape):
    return rng.normal(size=shape).astype(np.float32)


def integers(kind, *shape):
    limits = np.iinfo(kind)
    return rng.integers(limits.min, limits.max + 1, shape).astype(kind)


def small(number, kind, packed=None):
    """A tensor of 4 bits, which NumPy does not have; the low one of two is first."""
    flat = number.reshape(-1).astype(np.uint8) & 15
    flat = np.append(flat, np.zeros(len(flat) % 2, np.uint8))
    return helper.make_tensor("", kind, number.shape, (flat[::2] | flat[1::2] << 4).tobytes(), raw=True)


def model(nodes, inputs, outputs, constants, shapes, opset):
    infos = [helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(a.dtype), shapes.get(n, a.shape)) for n, a in inputs.items()]
    stored = []
    for name, one in constants.items():
        stored.append(one if isinstance(one, TensorProto) else numpy_helper.from_array(np.asarray(one), name))
        stored[-1].name = name
    graph = helper.make_graph(nodes, "g", infos, [onnx.ValueInfoProto(name=o) for o in outputs], stored)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset), helper.make_opsetid("com.microsoft", 1)], ir_version=10)


def add(name, nodes, inputs, constants, want=None, outputs=("y",), shapes=None, opset=21, tolerance=(1e-5, 1e-6)):
    """`want` is what the results are, nodes that give them, or none where ONNX's reference knows all nodes."""
    nodes = nodes if isinstance(nodes, list) else [nodes]
    made = model(nodes, inputs, outputs, constants, shapes or {}, opset)
    if want is None or isinstance(want, list) and isinstance(want[0], onnx.NodeProto):
        want = ReferenceEvaluator(model(want or nodes, inputs, outputs, constants, shapes or {}, opset)).run(list(outputs), inputs)
    CASES[name] = made, inputs, outputs, want, tolerance


def contrib(op, inputs, outputs, **attributes):
    return node(op, inputs, outputs, domain="com.microsoft", **attributes)


def plain(q, scale, zero=None, to="y"):
    return node("DequantizeLinear", [q, scale] + [zero] * (zero is not None), [to])


def real_numbers():
    x = np.concatenate([floats(3, 30) * 4, np.array([[0.5, 1.5, 2.5, -0.5, 100, -100] * 5], np.float32) / 16])
    for kind in (np.uint8, np.int8, np.uint16, np.int16):
        zero = np.array(3 if kind in (np.int8, np.int16) else 100, kind)
        add(f"there-and-back-{np.dtype(kind)}", [node("QuantizeLinear", ["x", "s", "z"], ["q"]), plain("q", "s", "z")], {"x": x}, {"s": STEP, "z": zero},
            shapes={"x": ["rows", 30]})
    add("no-zero", [node("QuantizeLinear", ["x", "s"], ["q"]), plain("q", "s")], {"x": x}, {"s": STEP})
    add("one-number", [node("QuantizeLinear", ["x", "s", "z"], ["q"]), plain("q", "s", "z")], {"x": np.array(0.7, np.float32)}, {"s": STEP, "z": np.int8(1)})
    add("half", [node("QuantizeLinear", ["x", "s", "z"], ["q"]), plain("q", "s", "z")], {"x": x.astype(np.float16)}, {"s": np.float16(STEP), "z": np.uint8(7)})
    moved = [node("QuantizeLinear", ["x", "s", "z"], ["q"]), node("Transpose", ["q"], ["t"]), node("Concat", ["t", "c"], ["u"], axis=1), plain("u", "s", "z")]
    add("moved", moved, {"x": x}, {"s": STEP, "z": np.uint8(100), "c": integers(np.uint8, 30, 2)})
    dynamic = [node("DynamicQuantizeLinear", ["x"], ["q", "s", "z"]), plain("q", "s", "z")]
    for name, data in (("", x), ("-above", np.abs(x)), ("-below", -np.abs(x)), ("-row", x[:1])):
        add("dynamic" + name, dynamic + [node("Identity", ["s"], ["scale"])], {"x": data}, {}, outputs=("y", "scale"), shapes={"x": ["rows", 30]}, tolerance=(1e-5, 1e-5))
    add("dynamic-zero", dynamic, {"x": np.zeros((2, 3), np.float32)}, {}, [np.zeros((2, 3), np.float32)])


def weights():
    """Constants, which become what they stand for."""
    for kind in (np.uint8, np.int8, np.int16):
        q = integers(kind, 4, 6)
        add(f"weights-{np.dtype(kind)}", [plain("q", "s", "z", "w"), node("MatMul", ["x", "w"], ["y"])], {"x": floats(3, 4)}, {"q": q, "s": FINE, "z": np.array(5, kind)})
        for axis, size in ((0, 4), (1, 6)):
            scales = {"q": q, "s": 2.0 ** -rng.integers(4, 9, size).astype(np.float32), "z": integers(kind, size)}
            add(f"weights-{np.dtype(kind)}-{axis}", [node("DequantizeLinear", ["q", "s", "z"], ["w"], axis=axis), node("MatMul", ["x", "w"], ["y"])], {"x": floats(3, 4)}, scales)
    add("bias", [plain("q", "s", to="b"), node("Add", ["x", "b"], ["y"])], {"x": floats(2, 3)}, {"q": np.array([70000, -5, 1 << 20], np.int32), "s": FINE})
    q, scale = integers(np.int8, 6, 8), 2.0 ** -rng.integers(4, 9, (3, 8)).astype(np.float32)
    blocks = [node("DequantizeLinear", ["q", "s"], ["w"], axis=0, block_size=2), node("MatMul", ["x", "w"], ["y"])]
    add("blocks", blocks, {"x": x6}, {"q": q, "s": scale}, [x6 @ (q * np.repeat(scale, 2, 0))])
    for kind, low in ((TensorProto.UINT4, 0), (TensorProto.INT4, -8)):
        q = rng.integers(low, low + 16, (6, 3))
        add(f"four-bits-{low}", [plain("q", "s", to="w"), node("MatMul", ["x", "w"], ["y"])], {"x": x6}, {"q": small(q, kind), "s": FINE}, [x6 @ (q * FINE).astype(np.float32)])
    table = integers(np.uint8, 11, 4)
    add("table", [node("Gather", ["q", "i"], ["g"]), plain("g", "s", "z")], {"i": np.array([[1, 10, 3]])}, {"q": table, "s": FINE, "z": np.uint8(9)})


def products():
    x, w, zero = integers(np.uint8, 2, 5, 16), integers(np.int8, 16, 7), {"s": STEP, "z": np.uint8(7)}
    first = node("QuantizeLinear", ["x", "s", "z"], ["q"])
    for name, wz in (("", []), ("-zero", ["wz"]), ("-zeros", ["wzs"])):
        constants = {**zero, "w": w, "wz": np.int8(-3), "wzs": integers(np.int8, 7)}
        product = node("MatMulInteger", ["q", "w", "z", *wz], ["n"])
        add(f"integers{name}", [first, product, node("Cast", ["n"], ["y"], to=TensorProto.FLOAT)], {"x": floats(2, 5, 16)}, constants, shapes={"x": ["b", "rows", 16]})
        add(f"integers-read{name}", [first, product, node("Add", ["n", "n"], ["y"])], {"x": floats(2, 5, 16)}, constants)
    parts = {"a": [x[0], "as", "az"], "b": [w, "bs", "bz"]}
    scales = {"as": STEP, "az": np.uint8(7), "bs": FINE, "bz": np.int8(2), "ys": np.float32(1 / 4), "yz": np.uint8(128)}
    real = {"x": floats(5, 16)}
    add("linear", [node("QuantizeLinear", ["x", "as", "az"], ["a"]), node("QLinearMatMul", ["a", "as", "az", "b", "bs", "bz", "ys", "yz"], ["q"]), plain("q", "ys", "yz")],
        real, {**scales, "b": w})
    columns = {**scales, "b": w, "bs": 2.0 ** -rng.integers(4, 9, 7).astype(np.float32), "bz": integers(np.int8, 7)}
    add("linear-columns", [node("QuantizeLinear", ["x", "as", "az"], ["a"]), node("QLinearMatMul", ["a", "as", "az", "b", "bs", "bz", "ys", "yz"], ["q"]), plain("q", "ys", "yz")],
        real, columns)
    back = [node("DequantizeLinear", ["b", "bs", "bz"], ["w"], axis=1)]
    rounded = [node("QuantizeLinear", ["x", "as", "az"], ["a"]), plain("a", "as", "az", "r"), *back, node("MatMul", ["r", "w"], ["p"])]
    bias = {"c": floats(7)}
    add("to-float", [rounded[0], contrib("MatMulIntegerToFloat", ["a", "b", "as", "bs", "az", "bz", "c"], ["y"])], real, {**columns, **bias},
        rounded + [node("Add", ["p", "c"], ["y"])])
    dynamic = [node("DynamicQuantizeLinear", ["x"], ["a", "s", "z"]), plain("a", "s", "z", "r"), *back, node("MatMul", ["r", "w"], ["p"])]
    add("dynamic-product", contrib("DynamicQuantizeMatMul", ["x", "b", "bs", "bz", "c"], ["y"]), real, {**columns, **bias}, dynamic + [node("Add", ["p", "c"], ["y"])],
        tolerance=(1e-4, 1e-4))
    turned = {**scales, "b": np.ascontiguousarray(w.T), "c": integers(np.int16, 7).astype(np.int32)}
    gemm = [rounded[0], plain("a", "as", "az", "r"), plain("b", "bs", "bz", "w"), node("Mul", ["as", "bs"], ["cs"]), plain("c", "cs", to="d"),
            node("Gemm", ["r", "w", "d"], ["p"], transB=1)]
    add("gemm", [rounded[0], contrib("QGemm", ["a", "as", "az", "b", "bs", "bz", "c"], ["y"], transB=1)], real, turned, gemm + [node("Identity", ["p"], ["y"])])
    add("gemm-quantized", [rounded[0], contrib("QGemm", ["a", "as", "az", "b", "bs", "bz", "c", "ys", "yz"], ["q"], transB=1), plain("q", "ys", "yz")], real, turned,
        gemm + [node("QuantizeLinear", ["p", "ys", "yz"], ["q"]), plain("q", "ys", "yz")])


def convolutions():
    how = {"pads": [1, 1, 1, 1], "strides": [2, 1]}
    first = node("QuantizeLinear", ["x", "xs", "xz"], ["q"])
    constants = {"xs": STEP, "xz": np.uint8(30), "w": integers(np.int8, 4, 3, 3, 3), "wz": np.int8(2)}
    add("conv", [first, node("ConvInteger", ["q", "w", "xz", "wz"], ["n"], **how), node("Cast", ["n"], ["y"], to=TensorProto.FLOAT)], {"x": floats(1, 3, 6, 5)}, constants)
    constants.update({"ws": 2.0 ** -rng.integers(6, 9, 4).astype(np.float32), "wz": np.zeros(4, np.int8), "ys": np.float32(1 / 8), "yz": np.uint8(128),
                      "b": integers(np.int16, 4).astype(np.int32)})
    constants["bs"] = STEP * constants["ws"]
    rounded = [first, plain("q", "xs", "xz", "r"), node("DequantizeLinear", ["w", "ws", "wz"], ["v"], axis=0), node("DequantizeLinear", ["b", "bs"], ["c"], axis=0),
               node("Conv", ["r", "v", "c"], ["p"], **how), node("QuantizeLinear", ["p", "ys", "yz"], ["o"]), plain("o", "ys", "yz")]
    add("conv-linear", [first, node("QLinearConv", ["q", "xs", "xz", "w", "ws", "wz", "ys", "yz", "b"], ["o"], **how), plain("o", "ys", "yz")], {"x": floats(2, 3, 6, 5)}, constants,
        rounded, shapes={"x": ["n", 3, 6, 5]})


def packed(q, bits):
    """Rows of numbers of so many bits in bytes, the low ones first."""
    each = 8 // bits
    q = np.concatenate([q, np.zeros((*q.shape[:-1], -q.shape[-1] % each), q.dtype)], -1).reshape(*q.shape[:-1], -1, each)
    return sum(q[..., i].astype(np.uint8) << i * bits for i in range(each)).astype(np.uint8)


def blocks():
    for bits in (2, 4, 8):
        for size, block in ((64, 32), (40, 16)):
            count, rows = -(-size // block), 5
            q, scale = rng.integers(0, 1 << bits, (rows, count, block)), 2.0 ** -rng.integers(4, 9, (rows, count)).astype(np.float32)
            zero, x = rng.integers(0, 1 << bits, (rows, count)), floats(3, size)
            how, constants = {"K": size, "N": rows, "bits": bits, "block_size": block}, {"b": packed(q, bits), "s": scale.reshape(-1)}

            def want(zero):
                return [x @ ((q - zero) * scale[..., None]).reshape(rows, -1)[:, :size].T.astype(np.float32)]

            name = f"product-{bits}-{size}"
            add(name, contrib("MatMulNBits", ["x", "b", "s"], ["y"], **how), {"x": x}, constants, want(1 << (bits - 1)), shapes={"x": ["rows", size]})
            add(name + "-zeros", contrib("MatMulNBits", ["x", "b", "s", "z"], ["y"], **how), {"x": x}, {**constants, "z": packed(zero, bits)}, want(zero[..., None]))
            add(name + "-real-zeros", contrib("MatMulNBits", ["x", "b", "s", "z"], ["y"], **how), {"x": x}, {**constants, "z": zero.astype(np.float32)}, want(zero[..., None]))
    bias = {**constants, "c": floats(rows)}
    add("product-bias", contrib("MatMulNBits", ["x", "b", "s", "", "", "c"], ["y"], **how), {"x": x}, bias, [want(128)[0] + bias["c"]])
    half = {n: a.astype(np.float16) if a.dtype == np.float32 else a for n, a in constants.items()}
    add("product-half", contrib("MatMulNBits", ["x", "b", "s"], ["y"], **how), {"x": x.astype(np.float16)}, half, want(128), tolerance=(2e-2, 5e-2))
    q, scale, i = rng.integers(0, 16, (11, 32)), 2.0 ** -rng.integers(4, 9, (11, 2)).astype(np.float32), np.array([[0, 10], [3, 3]])
    rows = lambda zero: [((q - zero) * np.repeat(scale, 16, 1))[i].astype(np.float32)]  # noqa: E731
    zero = rng.integers(0, 16, (11, 2))
    add("gather-packed", contrib("GatherBlockQuantized", ["q", "i", "s", "z"], ["y"], block_size=16, bits=4), {"i": i}, {"q": packed(q, 4), "s": scale, "z": packed(zero, 4)},
        rows(np.repeat(zero, 16, 1)))
    add("gather", contrib("GatherBlockQuantized", ["q", "i", "s"], ["y"], block_size=16), {"i": i}, {"q": small(q, TensorProto.UINT4), "s": scale}, rows(0))


def functions():
    scales = {"as": STEP, "az": np.uint8(100), "bs": np.float32(1 / 8), "bz": np.uint8(120), "ys": STEP, "yz": np.uint8(90)}
    first = [node("QuantizeLinear", ["a", "as", "az"], ["p"]), node("QuantizeLinear", ["b", "bs", "bz"], ["q"])]
    back = [plain("p", "as", "az", "u"), plain("q", "bs", "bz", "v")]
    last = [node("QuantizeLinear", ["r", "ys", "yz"], ["o"]), plain("o", "ys", "yz")]
    inputs = {"a": floats(2, 3, 4, 4), "b": floats(3, 1, 4)}
    for op in ("Add", "Mul"):
        add(f"function-{op}", [*first, contrib("QLinear" + op, ["p", "as", "az", "q", "bs", "bz", "ys", "yz"], ["o"]), last[1]], inputs, scales,
            [*first, *back, node(op, ["u", "v"], ["r"]), *last], shapes={"a": ["n", 3, 4, 4]})
    one = {"a": inputs["a"]}
    for op, how in (("Sigmoid", {}), ("LeakyRelu", {"alpha": 0.25}), ("Softmax", {"axis": -1}), ("GlobalAveragePool", {}), ("AveragePool", {"kernel_shape": [2, 2]})):
        add(f"function-{op}", [first[0], contrib("QLinear" + op, ["p", "as", "az", "ys", "yz"], ["o"], **how), last[1]], one, scales,
            [first[0], back[0], node(op, ["u"], ["r"], **how), *last])
    add("function-Concat", [*first, contrib("QLinearConcat", ["ys", "yz", "p", "as", "az", "q", "bs", "bz"], ["o"], axis=0), last[1]],
        {"a": floats(2, 4), "b": floats(3, 4)}, scales, [*first, *back, node("Concat", ["u", "v"], ["r"], axis=0), *last])


def refused():
    """What is not supported, and what is said of it."""
    x, first = {"x": floats(2, 3)}, node("QuantizeLinear", ["x", "s", "z"], ["q"])
    cases = {
        "rows": ([first, plain("q", "s", "z")], {"s": np.ones(3, np.float32), "z": np.zeros(3, np.uint8)}, "node 'of q' (QuantizeLinear): error: expects one scale"),
        "output": ([node("QuantizeLinear", ["x", "s", "z"], ["y"])], {"s": STEP, "z": np.uint8(0)}, "output 'y': elements of type UINT8 are not supported"),
        "short": ([plain("q", "s", to="y")], {"q": integers(np.int8, 2, 3), "s": np.ones(2, np.float32)}, "expects scales and zeros of 'q'"),
        "groups": ([contrib("MatMulNBits", ["x", "b", "s", "", "g"], ["y"], K=32, N=1, block_size=32)],
                   {"b": np.zeros((1, 1, 16), np.uint8), "s": np.ones(1, np.float32), "g": np.zeros(32, np.int32)}, "expects blocks of neighbours, without g_idx"),
        "bytes": ([contrib("MatMulNBits", ["x", "b", "s"], ["y"], K=64, N=1, block_size=32)], {"b": np.zeros((1, 1, 16), np.uint8), "s": np.ones(2, np.float32)},
                  "expects weights of 1 x 64 in blocks of 32"),
    }
    for name, (nodes, constants, text) in cases.items():
        made = model(nodes, x, ("y",), constants, {}, 21)
        if name == "output":
            made.graph.output[0].type.tensor_type.elem_type = TensorProto.UINT8
        REFUSED["refused-" + name] = made, text


x6 = floats(2, 6)
real_numbers()
weights()
products()
convolutions()
blocks()
functions()
refused()


def check(name):
    with tempfile.TemporaryDirectory() as folder:
        if name in REFUSED:
            made, text = REFUSED[name]
            try:
                Program(made.SerializeToString(), folder)
            except Failure as failure:
                if "ends with 1: " in str(failure) and text in str(failure):
                    return
                raise
            raise Failure("is not refused")
        made, inputs, outputs, want, tolerance = CASES[name]
        results = Program(made.SerializeToString(), folder)(list(inputs.values()), outputs)
    for output, array in zip(outputs, want):
        compare(output, results[output], np.asarray(array), tolerance)


if __name__ == "__main__":
    main({**CASES, **REFUSED}, check)
