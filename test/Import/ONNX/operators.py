# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Single operators, and small graphs that people write around attention, beside ONNX's own reference."""
import tempfile

import numpy as np
import onnx
import onnx.parser
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

from models import DATA, TOLERANCE, Program, compare, main

rng = np.random.default_rng(11)
GRAPHS = {}


def normal(*shape, dtype=np.float32, rng=np.random.default_rng(23)):
    """What is added later leaves the numbers of earlier graphs."""
    return rng.normal(size=shape).astype(dtype)


def floats(*shape, dtype=np.float32):
    return rng.normal(size=shape).astype(dtype)


def images(*shape, dtype=np.float32, rng=np.random.default_rng(37)):
    return normal(*shape, dtype=dtype, rng=rng)


def channel_norm(x, scale, bias, epsilon):
    """Of each channel of (N, C, ..), in f64."""
    x, axes = x.astype(np.float64), tuple(range(2, x.ndim))
    normed = (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + epsilon)
    shape = (-1,) + (1,) * len(axes)
    return (normed * scale.reshape(shape) + bias.reshape(shape)).astype(np.float16)


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
for op in ("Exp", "Tanh", "Erf", "Sin", "Cos", "Tan", "Floor", "Ceil", "Round", "Reciprocal", "Sigmoid", "LeakyRelu", "Softplus", "Neg", "Abs", "Relu",
           "IsNaN", "Identity", "Sign", "Elu", "Selu", "Celu", "HardSigmoid", "HardSwish", "Mish", "Softsign", "ThresholdedRelu"):
    one(op, X)
one("PRelu", X, constants=[floats(3, 1)])
INFINITE = np.array([1, -np.inf, np.inf, np.nan], np.float32)
one("IsInf", INFINITE)
one("IsInf", INFINITE, name="-above", detect_negative=0)
one("Gelu", X, opset=20)
one("Gelu", X, name="-tanh", opset=20, approximate="tanh")
for exponent in (1.0, 2.0, 3.0, 0.5, -1.0, 1.7):
    one("Pow", np.abs(X) + 0.1, constants=[np.float32(exponent)], name=f"-{exponent}")
one("Celu", X, name="-wide", alpha=2.0)
one("Not", X > 0)
for op in ("And", "Or", "Xor"):
    one(op, X > 0, Y > 0)
one("Where", X > 0, X, Y)
one("Clip", X, constants=[np.float32(-0.5), np.float32(0.5)])
one("Clip", X, constants=[None, np.float32(0.5)], name="-above")
# Inference keeps all elements, and so does training with a ratio of 0.
one("Dropout", X, opset=11, ratio=0.5)
one("Dropout", X, name="-mask", constants=[np.float32(0.5)], outputs=2)
one("Dropout", X, name="-false", constants=[np.float32(0.5), np.bool_(False)], outputs=2)
one("Dropout", X, name="-none", constants=[np.float32(0), np.bool_(True)])
for source, target in ((np.float32, np.float16), (np.float32, np.float64), (np.float32, np.int32), (np.int64, np.float32), (bool, np.float32),
                       (np.float32, bool), (np.int32, np.int64), (np.int64, bool)):
    one("Cast", (X * 3).astype(source), name=f"-{source.__name__}-{target.__name__}", to=helper.np_dtype_to_tensor_dtype(np.dtype(target)))
INTS = rng.integers(-9, 9, (3, 4))
one("Mod", INTS, constants=[np.int64(3)])
one("Div", INTS, constants=[np.int64(3)], name="-int")
one("Mod", X, constants=[np.float32(0.7)], name="-fmod", fmod=1)
for keep in (0, 1):
    for op in ("ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1", "ReduceL2", "ReduceSumSquare", "ReduceLogSumExp"):
        one(op, X, constants=[np.array([-1, 0])], name=f"-{keep}", keepdims=keep)
one("ReduceMean", X, name="-all")
one("ReduceMean", X, name="-old", opset=13, axes=[1])
one("ReduceMax", X > 0, constants=[np.array([1])], name="-bool", opset=20)
one("ReduceMax", np.zeros((2, 0, 4), bool), constants=[np.array([1])], name="-no-bool", opset=20)
one("ReduceLogSum", np.abs(X))
one("ReduceLogSumExp", np.array([[1e4, -np.inf], [-np.inf, -np.inf]], np.float32), name="-far", constants=[np.array([1])])
one("ArgMax", X, axis=1)
one("ArgMin", rng.integers(0, 3, (4, 6)), axis=-1, keepdims=0)
one("ArgMax", rng.integers(0, 3, (4, 6)), name="-last", axis=1, select_last_index=1)
one("CumSum", X, constants=[np.int64(1)])
one("CumSum", rng.integers(0, 2, (2, 7)), constants=[np.int64(-1)], name="-int", reverse=1, exclusive=1)
one("Softmax", X, axis=1)
one("Softmax", X, name="-old", opset=11, axis=1)
# Before 13, all dimensions from the axis on are one; ONNX's reference has later meanings only.
OTHER = {"Softmax-old": [np.exp(X) / np.exp(X).sum((1, 2), keepdims=True)], "ReduceLogSumExp-far": [np.array([[1e4], [-np.inf]])]}
one("LogSoftmax", X)
one("LogSoftmax", X, opset=12, axis=-1, name="before-13")
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
one("MatMul", floats(2, 5, 1), floats(2, 1, 6), name="-outer")
one("MatMul", floats(4, 5), floats(5, 6), name="-computed")
one("Gemm", floats(4, 5), constants=[floats(6, 5), floats(6)], transB=1)
one("Gemm", floats(5, 4), constants=[floats(5, 6), floats(4, 1)], name="-scaled", transA=1, alpha=0.5, beta=2.0)
for i, (equation, *shapes) in enumerate([
    ("bhqd,bhkd->bhqk", (2, 3, 4, 8), (2, 3, 5, 8)), ("bqhd,bkhd->bhqk", (2, 4, 3, 8), (2, 5, 3, 8)), ("bhqk,bkhd->bqhd", (2, 3, 4, 5), (2, 5, 3, 8)),
    ("bsd,dhe->bshe", (2, 4, 6), (6, 3, 5)), ("bshe,hed->bsd", (2, 4, 3, 5), (3, 5, 6)), ("i,j->ij", (4,), (5,)), ("ij->ji", (4, 5)), ("ij->i", (4, 5)),
    ("ij,jk", (4, 5), (5, 6)), ("...ij,...jk->...ik", (2, 3, 4, 5), (2, 3, 5, 6)), ("bhid, bhjd, bhjk -> bhik", (2, 2, 4, 3), (2, 2, 5, 3), (2, 2, 5, 6)),
    ("ij,kj->", (4, 5), (3, 5)), ("bnd,d->bnd", (2, 3, 4), (4,)), ("abc,abd->c", (2, 3, 4), (2, 3, 5)), ("i,i->", (5,), (5,))]):
    one("Einsum", *[floats(*shape) for shape in shapes], name=f"-{i}", equation=equation)
one("Conv", floats(2, 3, 8, 12), constants=[floats(5, 3, 4, 4), floats(5)], name="-patches", strides=[4, 4])
one("Conv", floats(2, 3, 9), constants=[floats(5, 3, 3), floats(5)], name="-sound", pads=[1, 1], strides=[2])
one("Conv", floats(1, 2, 7, 6), constants=[floats(3, 2, 3, 2)], name="-dilated", dilations=[2, 1], pads=[1, 0, 2, 1])
one("Conv", normal(2, 6, 9), constants=[normal(8, 3, 3), normal(8)], name="-grouped", pads=[1, 1], group=2)
one("Conv", normal(2, 6, 5, 7), constants=[normal(6, 1, 3, 2), normal(6)], name="-depthwise", strides=[2, 1], group=6)


def pooled(x, width, stride, pad, combine):
    """Windows along the last dimension, of which the last may reach behind the pads; `combine` takes elements and how many there are with pads."""
    begins = [b for b in range(-pad, x.shape[-1], stride) if b + width <= x.shape[-1] + pad + stride - 1]
    return np.stack([combine(x[..., max(b, 0):b + width], min(b + width, x.shape[-1] + pad) - b) for b in begins], -1)


for size in (7, 8, 9, 10):
    sound = normal(2, 3, size, rng=np.random.default_rng(size))
    for pad in (0, 1):
        window = {"kernel_shape": [3], "strides": [3 - pad], "pads": [pad, pad], "ceil_mode": 1}
        one("MaxPool", sound, name=f"-ceil-{size}-{pad}", **window)
        OTHER[f"MaxPool-ceil-{size}-{pad}"] = [pooled(sound, 3, 3 - pad, pad, lambda part, _: part.max(-1))]
        for counts in (0, 1):
            one("AveragePool", sound, name=f"-ceil-{size}-{pad}-{counts}", count_include_pad=counts, **window)
            OTHER[f"AveragePool-ceil-{size}-{pad}-{counts}"] = [
                pooled(sound, 3, 3 - pad, pad, lambda part, count, pads=counts: part.sum(-1) / (count if pads else part.shape[-1]))]
CONVOLVED = np.random.default_rng(43)
CHANNELS, TAPS, BIASES = (normal(*shape, dtype=np.float16, rng=CONVOLVED) for shape in ((2, 3, 9, 17), (6, 1, 3, 3), (6,)))
for dtype in (np.float64, np.float32, np.float16):
    one("Conv", CHANNELS.astype(dtype), constants=[TAPS.astype(dtype), BIASES.astype(dtype)], name=f"-depthwise-{dtype.__name__}", group=3, pads=[2, 1, 2, 1], dilations=[2, 1])
    one("Conv", CHANNELS.astype(dtype), constants=[TAPS[:, 0, :, :1, None].astype(dtype), BIASES.astype(dtype)], name=f"-pointwise-{dtype.__name__}")
    one("Conv", CHANNELS.astype(dtype), constants=[np.tile(TAPS, (1, 3, 1, 1)).astype(dtype), BIASES.astype(dtype)], name=f"-apart-{dtype.__name__}", strides=[3, 3])
for kind_of in ("depthwise", "pointwise", "apart"):
    exact, given, _ = GRAPHS[f"Conv-{kind_of}-float64"]
    OTHER[f"Conv-{kind_of}-float16"] = [ReferenceEvaluator(exact).run(None, given)[0].astype(np.float16)]  # the reference sums in f16
AMOUNTS = [helper.make_node("Cast", [f"a{i}"], [f"f{i}"], to=TensorProto.FLOAT) for i in range(2)]
add("pads-of-floats", [*AMOUNTS, helper.make_node("Concat", ["f0", "f1"], ["f"], axis=0), helper.make_node("Cast", ["f"], ["pads"], to=TensorProto.INT64),
                       helper.make_node("Pad", ["x", "pads"], ["y"])], {"x": normal(3, 4, rng=CONVOLVED)}, constants={"a0": np.array([1, 0]), "a1": np.array([0, 2])})
one("Conv", normal(2, 4, 11, rng=CONVOLVED), constants=[normal(4, 1, 5, rng=CONVOLVED)], name="-depthwise-sound", group=4, pads=[2, 2])
one("Conv", normal(1, 2, 4, 5, 6, rng=CONVOLVED), constants=[normal(2, 1, 2, 3, 2, rng=CONVOLVED)], name="-depthwise-volume", group=2, strides=[1, 1, 2])
one("Conv", normal(2, 2, 14, 15, rng=CONVOLVED), constants=[normal(2, 1, 12, 11, rng=CONVOLVED)], name="-depthwise-large", group=2)
one("Conv", normal(2, 4, 6, 7, rng=CONVOLVED), constants=[normal(3, 4, 1, 1, rng=CONVOLVED)], name="-pointwise-strided", strides=[2, 3])
one("Conv", normal(1, 4, 5, rng=CONVOLVED), constants=[normal(6, 2, 1, rng=CONVOLVED), normal(6, rng=CONVOLVED)], name="-pointwise-grouped", group=2)
one("Conv", normal(2, 4, 8, 8, rng=CONVOLVED), constants=[normal(6, 2, 2, 2, rng=CONVOLVED), normal(6, rng=CONVOLVED)], name="-patches-grouped", group=2, strides=[2, 2])
for batch in (1, 3):
    add(f"convolved-batch-{batch}", [helper.make_node("Conv", ["x", "v"], ["a"], group=3, pads=[1, 1, 1, 1]), helper.make_node("Conv", ["a", "w"], ["y"])],
        {"x": normal(batch, 3, 1, 9, rng=CONVOLVED)}, constants={"v": normal(3, 1, 3, 3, rng=CONVOLVED), "w": normal(2, 3, 1, 1, rng=CONVOLVED)}, shapes={"x": ["n", 3, "h", "w"]})
one("Conv", normal(2, 3, 9), constants=[normal(4, 3, 2)], name="-same-upper", auto_pad="SAME_UPPER", dilations=[3])
one("Conv", normal(2, 3, 10, 9), constants=[normal(4, 3, 4, 3)], name="-same-lower", auto_pad="SAME_LOWER", strides=[3, 2])
def transposed_convolution(x, w, bias, strides=None, dilations=None, pads=None, output_padding=None, group=1):
    """By its definition: each element of x adds w times itself to a window. ONNX's reference refuses groups."""
    dims = x.ndim - 2
    strides, dilations, more = strides or [1] * dims, dilations or [1] * dims, output_padding or [0] * dims
    pads, kernel = pads or [0] * 2 * dims, w.shape[2:]
    sizes = [(n - 1) * s + (k - 1) * d + 1 + m for n, s, k, d, m in zip(x.shape[2:], strides, kernel, dilations, more)]
    y = np.zeros((x.shape[0], group, w.shape[1], *sizes))
    grouped = x.astype(np.float64).reshape(x.shape[0], group, -1, *x.shape[2:])
    weights = w.astype(np.float64).reshape(group, -1, *w.shape[1:])
    for at in np.ndindex(*kernel):
        places = tuple(slice(k * d, k * d + (n - 1) * s + 1, s) for k, d, n, s in zip(at, dilations, x.shape[2:], strides))
        y[(slice(None),) * 3 + places] += np.einsum("ngc...,gcm->ngm...", grouped, weights[(slice(None),) * 3 + at])
    y = y.reshape(x.shape[0], -1, *sizes) + bias.astype(np.float64).reshape(-1, *[1] * dims)
    return y[(slice(None),) * 2 + tuple(slice(a, n - b) for n, a, b in zip(sizes, pads, pads[dims:]))].astype(x.dtype)


# Windows side by side, ones that overlap, with gaps, of groups, cut off and enlarged.
ENLARGED = np.random.default_rng(31)
for name, x, w, options in [
    ("beside", (2, 6, 3, 5), (6, 4, 2, 3), dict(strides=[2, 3])), ("across", (2, 6, 3, 5), (6, 4, 3, 3), dict(strides=[2, 2], pads=[1, 1, 1, 1], output_padding=[1, 0])),
    ("sound", (2, 3, 7), (3, 4, 5), dict(strides=[3], pads=[2, 1])), ("grouped", (1, 4, 4, 3), (4, 3, 3, 2), dict(group=2, dilations=[2, 1])),
    ("volume", (1, 2, 2, 3, 2), (2, 3, 2, 2, 2), dict(strides=[2, 2, 2])), ("apart", (1, 3, 3, 2), (3, 2, 1, 2), dict(strides=[2, 3])), ("one", (1, 1, 1), (1, 1, 2), dict(strides=[2])),
    ("half", (1, 4, 3, 3), (4, 2, 2, 2), dict(strides=[2, 2]))]:
    values = [normal(*shape, rng=ENLARGED) for shape in (x, w, (w[1] * options.get("group", 1),))]
    values = [np.round(v * 4).astype(np.float16) for v in values] if name == "half" else values
    one("ConvTranspose", values[0], constants=values[1:], name=f"-{name}", **options)
    OTHER[f"ConvTranspose-{name}"] = [transposed_convolution(*values, **options)]
for mode in ("DCR", "CRD"):
    one("DepthToSpace", normal(2, 12, 2, 3, rng=ENLARGED), name=f"-{mode}", blocksize=2, mode=mode)
one("SpaceToDepth", normal(2, 3, 4, 6, rng=ENLARGED), blocksize=2)
image = np.arange(2 * 3 * 4 * 6, dtype=np.float32).reshape(2, 3, 4, 6)
one("SpaceToDepth", image, name="-CRD", blocksize=2, mode="CRD", opset=28)
OTHER["SpaceToDepth-CRD"] = [image.reshape(2, 3, 2, 2, 3, 2).transpose(0, 1, 3, 5, 2, 4).reshape(2, 12, 2, 3)]
for batch in (1, 3):
    add(f"enlarged-batch-{batch}", [helper.make_node("ConvTranspose", ["x", "v"], ["a"], strides=[2, 2]), helper.make_node("ConvTranspose", ["a", "w"], ["c"], strides=[2, 2], pads=[1, 1, 1, 1]), helper.make_node("DepthToSpace", ["c"], ["y"], blocksize=2)],
        {"x": normal(batch, 3, 1, 4, rng=ENLARGED)}, constants={"v": normal(3, 2, 2, 2, rng=ENLARGED), "w": normal(2, 8, 4, 4, rng=ENLARGED)}, shapes={"x": ["n", 3, "h", "w"]})
one("InstanceNormalization", normal(2, 4, 9), constants=[normal(4), normal(4)])
HALF = [normal(*shape, dtype=np.float16) for shape in ((2, 3, 5, 4), (3,), (3,))]
one("InstanceNormalization", HALF[0], constants=HALF[1:], name="-half", epsilon=1e-3)
OTHER["InstanceNormalization-half"] = [channel_norm(*HALF, 1e-3)]  # ONNX's reference rounds each step to f16
one("GroupNormalization", normal(2, 6, 5), constants=[normal(3), normal(3)], name="-per-group", num_groups=3)
one("GroupNormalization", normal(2, 6, 3, 4), constants=[normal(6), normal(6)], name="-per-channel", num_groups=2, opset=21)
one("BatchNormalization", normal(2, 4, 9), constants=[normal(4), normal(4), normal(4), np.abs(normal(4)) + 0.1])
one("Transpose", X, perm=[2, 0, 1])
one("Transpose", X, name="-reversed")
one("Reshape", X, constants=[np.array([0, -1])])
one("Reshape", floats(6, 4), constants=[np.array([8, 3])], name="-across")
one("Flatten", X, axis=2)
one("Squeeze", floats(1, 3, 1, 4), constants=[np.array([0, -2])])
one("Squeeze", floats(1, 3, 1, 4), name="-all")
one("Unsqueeze", X, constants=[np.array([0, -1])])
one("Expand", Y, constants=[np.array([2, 1, 4])])
one("Tile", X, constants=[np.array([2, 1, 3])])
one("Tile", X, constants=[np.array([1, 0, 3])], name="-none")
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
one("GatherElements", floats(4, 5), rng.integers(-4, 4, (3, 5)), axis=0)
one("GatherND", floats(4, 5, 6), rng.integers(0, 4, (3, 7, 2)))
one("GatherND", floats(2, 5, 6), rng.integers(-5, 5, (2, 3, 1)), name="-batch", batch_dims=1)
one("ScatterND", floats(6, 4), np.array([[4], [-6], [4]]), floats(3, 4))
one("ScatterND", floats(2, 3, 5, 4), np.stack([np.arange(6) % 2, np.arange(6) % 3, [4, 0, 1, 2, -2, 3]], -1).reshape(2, 3, 3), floats(2, 3, 4), name="-three")
one("ScatterElements", floats(2, 7, 3), np.array([4, -7, 2])[None, :, None].repeat(2, 0).repeat(3, 2), floats(2, 3, 3), axis=1)
one("ScatterElements", floats(5, 3), np.array([[4, 0, 1], [2, 2, -3]]), floats(2, 3), name="-rows")
SCATTER = np.random.default_rng(41)
one("ScatterND", normal(9, 4), SCATTER.integers(-9, 9, (14, 1)), normal(14, 4), name="-many")
one("ScatterElements", normal(2, 30), np.stack([SCATTER.permutation(30)[:20] - 30 for _ in range(2)]), normal(2, 20), name="-many", axis=1)
for places, columns in (("behind", [[3], [4], [5]]), ("column", [[0, 2], [1, 2], [2, 2], [3, 2], [4, 2], [5, 2]]), ("block", [[[2, 1], [2, 2]], [[3, 1], [3, 2]]]),
                        ("turned", [[[2, 1], [3, 1]], [[2, 2], [3, 2]]]), ("back", [[5], [4], [3]]), ("negative", [[-3], [-2], [-1]])):
    add("ScatterND-" + places, [helper.make_node("ScatterND", ["x", "c", "u"], ["y"])],
        {"x": normal(6, 4, 5), "u": normal(*np.shape(columns)[:-1], *(4, 5)[np.shape(columns)[-1] - 1:])}, constants={"c": np.array(columns)})
one("TensorScatter", floats(2, 3, 8, 4), floats(2, 3, 2, 4), np.array([3, 6]), opset=24)
one("TensorScatter", floats(2, 8, 4), floats(2, 3, 4), np.array([6, 0]), name="-circular", opset=24, mode="circular")
one("TensorScatter", floats(2, 8, 4), floats(2, 3, 4), name="-begin", opset=24)
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


def branch(name, op):
    return helper.make_graph([node(op, ["x"], [name])], name, [], [onnx.ValueInfoProto(name=name)])


# A question about sizes chooses a branch when the model is read.
for name, rows in (("if-one-row", 1), ("if-rows", 5)):
    add(name, [node("Shape", ["x"], ["s"]), node("Gather", ["s", "i"], ["n"]), node("Equal", ["n", "i"], ["c"]),
        node("If", ["c"], ["y"], then_branch=branch("a", "Neg"), else_branch=branch("b", "Abs"))], {"x": floats(2, rows, 4)}, constants={"i": np.int64(1)})
add("if-past", [node("Shape", ["x"], ["s"]), node("Gather", ["s", "i"], ["n"]), node("Add", ["n", "i"], ["m"]), node("Greater", ["m", "zero"], ["c"]),
    node("If", ["c"], ["y"], then_branch=branch("a", "Neg"), else_branch=branch("b", "Abs"))], {"x": floats(2, 3, 16)},
    constants={"i": np.int64(1), "zero": np.int64(0)}, shapes=UNKNOWN)
# torch's expand: a size of -1 stays.
add("expand-minus-one", [node("Shape", ["x"], ["s"]), node("Equal", ["s", "none"], ["c"]), node("Where", ["c", "ones", "s"], ["w"]), node("Expand", ["t", "w"], ["y"])],
    {"x": floats(2, 3, 16)}, constants={"none": np.array([-1]), "ones": np.array([1, 1, 1]), "t": floats(16)}, shapes=UNKNOWN)
add("tile-unknown", [node("Shape", ["x"], ["s"]), node("Slice", ["s", "zero", "two"], ["b"]), node("Concat", ["b", "one"], ["r"], axis=0), node("Tile", ["t", "r"], ["y"])],
    {"x": floats(2, 3, 16)}, constants={"zero": np.array([0]), "two": np.array([2]), "one": np.array([1]), "t": floats(1, 1, 4)}, shapes=UNKNOWN)
add("vit-patches", [node("Conv", ["x", "w", "b"], ["c"], strides=[4, 4]), node("Reshape", ["c", "flat"], ["r"]), node("Transpose", ["r"], ["y"], perm=[0, 2, 1])],
    {"x": floats(2, 3, 8, 12)}, constants={"w": floats(16, 3, 4, 4), "b": floats(16), "flat": np.array([0, 16, -1])}, shapes={"x": ["batch", 3, 8, 12]})
add("whisper-frames", [node("Conv", ["x", "w", "b"], ["c"], pads=[1, 1]), node("Gelu", ["c"], ["g"]), node("Conv", ["g", "v", "b"], ["y"], pads=[1, 1])],
    {"x": floats(2, 3, 10)}, constants={"w": floats(6, 3, 3), "v": floats(6, 6, 3), "b": floats(6)}, shapes={"x": ["batch", 3, "frames"]}, opset=20)
TIES = np.array([[3, 1, 3, 2, 3], [-np.inf, -np.inf, 0, -0.0, -np.inf]], np.float32)
one("TopK", normal(2, 3, 8), constants=[np.array([3])], outputs=2)
one("TopK", TIES, constants=[np.array([5])], name="-equal", outputs=2)
one("TopK", TIES.T.copy(), constants=[np.array([2])], name="-smallest", outputs=2, axis=0, largest=0)
one("TopK", np.array([[5, 1, 5, -7]]), constants=[np.array([2])], name="-integers", outputs=2)
one("Resize", normal(1, 2, 3, 4), constants=[None, np.array([1, 1, 2, 3], np.float32)], coordinate_transformation_mode="asymmetric", nearest_mode="floor")
one("Resize", normal(1, 2, 5), constants=[None, None, np.array([1, 2, 15])], name="-sizes")
for place in ("half_pixel", "pytorch_half_pixel", "asymmetric", "align_corners"):
    ways = {rounding: {"nearest_mode": rounding} for rounding in ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil")}
    ways |= {mode: {"mode": mode} for mode in ("linear", "cubic")}
    add(f"resize-{place}", [node("Resize", ["x", "", "", "sizes"], [way], coordinate_transformation_mode=place, **ways[way]) for way in ways],
        {"x": images(2, 3, 6, 5)}, ways, constants={"sizes": np.array([2, 3, 4, 8])})
    if place != "pytorch_half_pixel":  # the reference does not round 1.2 down before it asks whether the size is 1
        add(f"resize-{place}-to-one", [node("Resize", ["x", "", "scales"], [mode], mode=mode, coordinate_transformation_mode=place) for mode in ("linear", "cubic")],
            {"x": images(2, 1, 4)}, ("linear", "cubic"), constants={"scales": np.array([1, 1, 0.3], np.float32)})
for mode in ("linear", "cubic"):
    one("Resize", images(1, 2, 5, 7), constants=[None, np.array([1.7, 0.6], np.float32)], name=f"-{mode}-scales", mode=mode, axes=[2, 3])
    one("Resize", images(1, 2, 9), constants=[None, None, np.array([1, 2, 4])], name=f"-{mode}-antialias", mode=mode, antialias=1, exclude_outside=1)
    add(f"resize-{mode}-unknown", [node("Shape", ["like"], ["s"], start=2), node("Resize", ["x", "", "", "s"], ["z"], mode=mode, axes=[2, 3]),
        node("Resize", ["x", "", "twice"], ["up"], mode=mode), node("Resize", ["x", "", "half"], ["down"], mode=mode), node("Add", ["z", "like"], ["y"])],
        {"x": images(2, 3, 6, 4), "like": images(2, 3, 5, 7)}, ("y", "up", "down"),
        constants={"twice": np.array([1, 1, 2, 2], np.float32), "half": np.array([1, 1, 0.5, 0.5], np.float32)},
        shapes={"x": ["n", 3, "h", "w"], "like": ["n", 3, "rows", "columns"]})
one("Resize", images(2, 1, 4), constants=[None, None, np.array([2, 1, 1])], name="-pytorch-one", mode="linear", coordinate_transformation_mode="pytorch_half_pixel")
one("Resize", images(1, 2, 5, 7), constants=[None, None, np.array([1, 2, 3, 14])], name="-cubic-outside", mode="cubic", exclude_outside=1, cubic_coeff_a=-0.5)
one("Resize", images(1, 2, 5, dtype=np.float16), constants=[None, np.array([1, 1, 2], np.float32)], name="-linear-f16", mode="linear")
one("Resize", np.arange(8).reshape(1, 8), constants=[None, np.array([1, 0.5], np.float32)], name="-integers", coordinate_transformation_mode="asymmetric", nearest_mode="floor")
for op in ("MaxPool", "AveragePool"):
    one(op, images(2, 3, 7, 8), name="-stem", kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    one(op, images(1, 2, 9), name="-row", kernel_shape=[4], strides=[3])
    one(op, images(1, 2, 6, 5), name="-same", kernel_shape=[2, 3], auto_pad="SAME_UPPER")
    add(f"{op}-unknown", [node(op, ["x"], ["y"], kernel_shape=[2, 2], strides=[2, 2])], {"x": images(2, 3, 6, 7)}, shapes={"x": ["n", 3, "h", "w"]})
one("AveragePool", images(2, 2, 5, 5), name="-with-pads", kernel_shape=[3, 3], pads=[1, 0, 1, 1], count_include_pad=1)
one("AveragePool", images(2, 2, 6, dtype=np.float16), name="-half", kernel_shape=[2])
one("MaxPool", images(1, 2, 9, 9), name="-dilated", kernel_shape=[2, 3], dilations=[2, 3])
for op in ("GlobalMaxPool", "GlobalAveragePool"):
    one(op, images(2, 3, 4, 5))
for shift in (-1, 0, 2):
    add(f"eye-{shift}", [node("EyeLike", ["x"], ["e"], k=shift), node("Add", ["e", "x"], ["y"])], {"x": images(4, 6)}, shapes={"x": ["n", "m"]})
one("EyeLike", images(3, 3), name="-bool", dtype=TensorProto.BOOL)
one("OneHot", np.array([[1, -2, 4], [0, 7, -4]]), constants=[np.array(4), np.array([-1.5, 2], np.float32)], name="-outside")
one("OneHot", np.array([2, 0, 1]), constants=[np.array(3), np.array([0, 1], np.float32)], name="-first", axis=0)
# Angles of one batch entry for all, as torch writes them; ONNX's reference takes one per entry.
ANGLES = images(2, 1, 5, 4)
for batch in (1, 3):
    heads = images(batch, 2, 5, 8)
    add(f"rotary-{batch}", [node("RotaryEmbedding", ["x", "cos", "sin"], ["y"])], {"x": heads, "cos": ANGLES[0], "sin": ANGLES[1]}, opset=23,
        shapes={"x": ["batch", 2, "seq", 8], "cos": [1, "seq", 4], "sin": [1, "seq", 4]})
    (cos, sin), (first, second) = ANGLES[:, :, None], np.split(heads, 2, -1)
    OTHER[f"rotary-{batch}"] = [np.concatenate([first * cos - second * sin, first * sin + second * cos], -1)]
add("table-around-the-middle", [node("Shape", ["x"], ["n"], start=0, end=1), node("Sub", ["c64", "n"], ["begin"]), node("Add", ["c63", "n"], ["end"]),
    node("Slice", ["table", "begin", "end", "zero"], ["p"]), node("Neg", ["n"], ["back"]), node("Slice", ["table", "back", "c200", "zero"], ["last"]),
    node("Add", ["x", "last"], ["z"])], {"x": normal(5, 3)}, ("p", "z"),
    constants={"c64": np.array([64]), "c63": np.array([63]), "c200": np.array([200]), "zero": np.array([0]), "table": normal(127, 3)}, shapes={"x": ["rows", 3]})
# As many rows as both have, of a table and of the inputs; the last of the two is longer in one model.
for op, rows in (("Min", 3), ("Min", 5), ("Max", 3), ("Max", 5)):
    add(f"rows-{op}-{rows}", [node("Shape", ["x"], ["n"], end=1), node("Shape", ["z"], ["m"], end=1), node(op, ["n", "m"], ["rows"]), node("Slice", ["table", "zero", "rows"], ["t"]),
        node("Neg", ["rows"], ["back"]), node("Slice", ["table", "back", "far"], ["b"]), node("Add", ["t", "b"], ["s"]), node("ReduceSum", ["s", "zero"], ["p"]),
        node("Add", ["x", "p"], ["y"])], {"x": normal(rows, 4), "z": normal(4, 4)},
        constants={"zero": np.array([0]), "far": np.array([2**62]), "table": normal(9, 4)}, shapes={"x": ["n", 4], "z": ["m", 4]})
add("blocks-of-rows", [node("Reshape", ["x", "blocks"], ["r"]), node("ReduceMean", ["r", "two"], ["y"], keepdims=0)], {"x": normal(2, 12, 3)},
    constants={"blocks": np.array([0, -1, 4, 3]), "two": np.array([2])}, shapes={"x": ["batch", "rows", 3]})
# Sizes that are rounded down, as convolutions and exporters compute them.
for frames in (1, 2, 21, 22):
    add(f"strided-frames-{frames}", [node("Conv", ["x", "w"], ["c"], pads=[1, 1], strides=[2]), node("Shape", ["x"], ["s"], start=2),
        node("Sub", ["s", "one"], ["m"]), node("Div", ["m", "two"], ["h"]), node("Add", ["h", "one"], ["n"]), node("Concat", ["shape", "n"], ["t"], axis=0),
        node("Reshape", ["c", "t"], ["r"]), node("Slice", ["table", "zero", "n", "one"], ["p"]), node("Add", ["r", "p"], ["y"])],
        {"x": normal(2, 3, frames)}, constants={"w": normal(6, 3, 3), "one": np.array([1]), "two": np.array([2]), "zero": np.array([0]),
                                                "shape": np.array([0, 2, 3]), "table": normal(3, 16)}, shapes={"x": ["batch", 3, "frames"]})
add("strided-twice", [node("Unsqueeze", ["x", "one"], ["u"]), node("Conv", ["u", "w"], ["c"], strides=[2, 2]), node("Conv", ["c", "v"], ["d"], strides=[2, 2]),
    node("Shape", ["x"], ["s"], start=1, end=2), node("Sub", ["s", "three"], ["m"]), node("Div", ["m", "four"], ["n"]), node("Transpose", ["d"], ["t"], perm=[0, 2, 1, 3]),
    node("Concat", ["batch", "n", "all"], ["shape"], axis=0), node("Reshape", ["t", "shape"], ["y"])],
    {"x": normal(2, 31, 20)}, constants={"w": normal(4, 1, 3, 3) / 8, "v": normal(5, 4, 3, 3) / 8, "one": np.array([1]), "three": np.array([3]), "four": np.array([4]),
                                         "batch": np.array([0]), "all": np.array([-1])}, shapes={"x": ["batch", "frames", 20]})
add("whole-blocks", [node("Shape", ["x"], ["s"], end=1), node("Mod", ["s", "four"], ["r"]), node("Sub", ["s", "r"], ["n"]), node("Slice", ["x", "zero", "n"], ["w"]),
    node("Div", ["n", "four"], ["m"]), node("Concat", ["m", "four", "five"], ["shape"], axis=0), node("Reshape", ["w", "shape"], ["y"])],
    {"x": normal(14, 5)}, constants={"four": np.array([4]), "five": np.array([5]), "zero": np.array([0])}, shapes={"x": ["rows", 5]})
for name, place in (("first", ("one", "far")), ("last", ("zero", "minus")), ("both", ("one", "minus")), ("second-half", ("half", "far")), ("first-half", ("zero", "half"))):
    add(f"without-{name}", [node("Shape", ["x"], ["s"], start=1, end=2), node("Div", ["s", "two"], ["half"]), node("Slice", ["x", *place, "one"], ["y"])],
        {"x": normal(2, 7, 5)}, constants={"one": np.array([1]), "two": np.array([2]), "zero": np.array([0]), "minus": np.array([-1]), "far": np.array([2**62])},
        shapes={"x": ["batch", "rows", 5]})
# As long as the larger or the smaller one of two sizes, and empty where nothing is left.
for rows in (0, 1, 3, 4, 9):
    for name, begin, end in (("behind", 4, 2**62), ("last", -3, 2**62), ("between", 2, 6), ("without", 2, -2)):
        add(f"cut-{name}-{rows}", [node("Slice", ["x", "begin", "end", "one"], ["c"]), node("Neg", ["c"], ["y"])], {"x": normal(2, rows, 5)},
            constants={"one": np.array([1]), "begin": np.array([begin]), "end": np.array([end])}, shapes={"x": ["batch", "rows", 5]})
add("cut-by-minimum", [node("Shape", ["x"], ["s"], start=1, end=2), node("Min", ["s", "seven"], ["m"]), node("Sub", ["m", "one"], ["n"]), node("Slice", ["x", "one", "seven", "one"], ["c"]),
    node("Concat", ["copied", "n", "copied", "five"], ["shape"], axis=0), node("Unsqueeze", ["c", "two"], ["u"]), node("Reshape", ["u", "shape"], ["r"]), node("Add", ["r", "r"], ["y"])],
    {"x": normal(2, 9, 5)}, constants={"one": np.array([1]), "two": np.array([2]), "five": np.array([5]), "seven": np.array([7]), "copied": np.array([0])}, shapes={"x": ["batch", "rows", 5]})
# Rows that are filled up to whole windows of four, and elements around them from within.
for rows in (0, 1, 4, 6):
    add(f"windows-{rows}", [node("Shape", ["x"], ["s"], start=1, end=2), node("Mod", ["s", "four"], ["rest"]), node("Sub", ["four", "rest"], ["lack"]), node("Mod", ["lack", "four"], ["more"]),
        node("Concat", ["zero", "more"], ["pads"], axis=0), node("Pad", ["x", "pads", "", "one"], ["p"]), node("Reshape", ["p", "shape"], ["w"]), node("ReduceSum", ["w", "two"], ["y"], keepdims=0)],
        {"x": normal(2, rows, 5)}, constants={"zero": np.array([0]), "one": np.array([1]), "two": np.array([2]), "four": np.array([4]), "shape": np.array([0, -1, 4, 5])},
        shapes={"x": ["batch", "rows", 5]})
    add(f"last-eight-{rows}", [node("Shape", ["x"], ["s"], start=1, end=2), node("Sub", ["eight", "s"], ["lack"]), node("Concat", ["lack", "zero"], ["pads"], axis=0),
        node("Pad", ["x", "pads", "", "one"], ["p"]), node("Neg", ["p"], ["y"])], {"x": normal(2, 2 * rows, 5)},
        constants={"zero": np.array([0]), "one": np.array([1]), "eight": np.array([8])}, shapes={"x": ["batch", "rows", 5]})
    x = GRAPHS[f"last-eight-{rows}"][1]["x"]
    OTHER[f"last-eight-{rows}"] = [-np.concatenate([np.zeros((2, 8, 5), np.float32), x], 1)[:, -8:]]
for mode, pads, rows in (("edge", (2, 9), 4), ("reflect", (3, 2), 4), ("wrap", (3, 4), 4), ("edge", (3, 0), 1), ("reflect", (0, -2), 5), ("edge", (-1, 3), 5)):
    add(f"pad-{mode}-{rows}-{pads[0]}-{pads[1]}", [node("Pad", ["x", "pads", "", "axes"], ["p"], mode=mode), node("Neg", ["p"], ["y"])], {"x": normal(2, rows, 5)},
        constants={"pads": np.array([pads[0], 0, pads[1], 1]), "axes": np.array([1, 2])}, shapes={"x": ["batch", "rows", 5]})
    x = GRAPHS[f"pad-{mode}-{rows}-{pads[0]}-{pads[1]}"][1]["x"][:, max(-pads[0], 0):rows + min(pads[1], 0)]
    OTHER[f"pad-{mode}-{rows}-{pads[0]}-{pads[1]}"] = [-np.pad(x, ((0, 0), tuple(max(pad, 0) for pad in pads), (0, 1)), mode=mode)]
add("every-third", [node("Slice", ["x", "one", "far", "one", "three"], ["y"])], {"x": normal(2, 9, 5)},
    constants={"one": np.array([1]), "three": np.array([3]), "far": np.array([2**62])}, shapes={"x": ["batch", "rows", 5]})
# A decoder layer of OPT as transformers 4.57 and torch export it, with random weights: rows of all batch entries between reshapes.
GRAPHS["opt-layer"] = (onnx.load(DATA / "opt-layer.onnx"), {"input_ids": np.array([[5, 3, 7, 4], [6, 6, 2, 1]]), "attention_mask": np.array([[1, 1, 1, 1], [1, 1, 1, 0]])},
                       ("logits",))
add("product-of-unknown-sizes", [node("Transpose", ["x"], ["t"], perm=[1, 0]), node("MatMul", ["x", "t"], ["p"]), node("MatMul", ["p", "x"], ["y"])],
    {"x": floats(5, 7)}, shapes={"x": ["n", "d"]})
add("positions-of-a-mask", [node("CumSum", ["m", "axis"], ["c"]), node("Mul", ["c", "m"], ["p"]), node("Gather", ["table", "p"], ["y"])],
    {"m": (np.arange(6) < np.array([[4], [6]])).astype(np.int64)}, constants={"axis": np.int64(1), "table": floats(9, 4)}, shapes={"m": ["batch", "seq"]})
add("einsum-half", [node("Einsum", ["q", "k"], ["y"], equation="bqhd,bkhd->bhqk")], {"q": floats(2, 4, 3, 8, dtype=np.float16), "k": floats(2, 5, 3, 8, dtype=np.float16)},
    shapes={"q": ["batch", "s", 3, 8], "k": ["batch", "t", 3, 8]})

# Numbers that models count backwards, or in steps, over a size.
for name, limits, step in (("back", ("last", "minus"), -1), ("down-to-one", ("n", "zero"), -1), ("even", ("zero", "n"), 2), ("odd-back", ("last", "minus"), -2),
                           ("from-behind", ("n", "twice"), 3)):
    for rows in (7, 8, 1):
        add(f"range-{name}-{rows}", [node("Shape", ["x"], ["s"], end=1), node("Squeeze", ["s"], ["n"]), node("Sub", ["n", "one"], ["last"]), node("Add", ["n", "n"], ["twice"]),
            node("Range", [*limits, "step"], ["y"])], {"x": normal(rows)},
            constants={"one": np.int64(1), "zero": np.int64(0), "minus": np.int64(-1), "step": np.int64(step)}, shapes={"x": ["rows"]})
for begin, end, step in ((-1, -2**63, -1), (2**31 - 1, -2**63, -2), (-2, -2**63, -1), (4, -2**63, -1), (-1, 1, -1), (-1, -4, -2), (2, 0, -1)):
    for rows in (7, 3, 1):
        add(f"slice-back-{begin}-{end}-{step}-{rows}", [node("Slice", ["x", "begin", "end", "axis", "step"], ["s"]), node("CumSum", ["s", "one"], ["c"]), node("ReduceSum", ["c", "axis"], ["y"])],
            {"x": normal(2, rows, 3)}, constants={"begin": np.array([begin]), "end": np.array([end]), "axis": np.array([1]), "step": np.array([step]), "one": np.array(1)}, shapes={"x": ["batch", "rows", 3]})
add("flipped", [node("Slice", ["x", "minus", "first", "axis", "minus"], ["y"])], {"x": normal(2, 5, 3)},
    constants={"minus": np.array([-1]), "first": np.array([-2**63]), "axis": np.array([1])}, shapes={"x": ["batch", "rows", 3]})
add("elements-of-another-batch", [node("GatherElements", ["x", "i"], ["y"], axis=1)], {"x": normal(2, 5, 3), "i": np.array([[[4, 0, 1], [2, 2, 0]], [[1, 1, 1], [3, 0, 4]]])},
    shapes={"x": ["b0", "rows", 3], "i": ["b1", 2, 3]})
# ALiBi of a mask whose batch has a name of its own: (4*b1, 1, s) as (b0, -1, 1, s).
add("heads-of-another-batch", [node("Shape", ["x"], ["b"], end=1), node("Shape", ["m"], ["r"], start=1), node("Shape", ["m"], ["n"], end=1), node("Unsqueeze", ["m", "one"], ["u"]),
    node("Mul", ["u", "slopes"], ["h"]), node("Mul", ["n", "four"], ["k"]), node("Concat", ["k", "one", "r"], ["flat"], axis=0), node("Reshape", ["h", "flat"], ["f"]),
    node("Concat", ["b", "all", "one", "r"], ["shape"], axis=0), node("Reshape", ["f", "shape"], ["p"]), node("Add", ["x", "p"], ["y"])],
    {"x": normal(2, 4, 3, 5), "m": normal(2, 5)}, constants={"one": np.array([1]), "four": np.array([4]), "all": np.array([-1]), "slopes": normal(4, 1)},
    shapes={"x": ["b0", 4, "rows", "s"], "m": ["b1", "s"]})
# Keys whose batch has a name of its own, joined with the heads by that of the queries: (b1, 4, t, 8) as (4*b0, -1, 8).
add("joined-with-another-batch", [node("Shape", ["q"], ["b"], end=1), node("Mul", ["b", "four"], ["n"]), node("Concat", ["n", "rest"], ["flat"], axis=0),
    *(node("Reshape", [x, "flat"], [x + "3"]) for x in "qk"), node("Transpose", ["k3"], ["t"], perm=[0, 2, 1]), node("MatMul", ["q3", "t"], ["y"])],
    {"q": normal(2, 4, 3, 8), "k": normal(2, 4, 5, 8)}, constants={"four": np.array([4]), "rest": np.array([-1, 8])},
    shapes={"q": ["b0", 4, "s", 8], "k": ["b1", 4, "t", 8]})
# A rotation of places by one, the last of them as a remainder by the size.
for rows in (5, 1):
    add(f"roll-{rows}", [node("Shape", ["x"], ["n"], start=1, end=2), node("Mod", ["minus", "n"], ["last"]), node("Slice", ["x", "zero", "last", "one"], ["a"]),
        node("Slice", ["x", "last", "n", "one"], ["b"]), node("Concat", ["b", "a"], ["r"], axis=1), node("Add", ["x", "r"], ["y"])], {"x": normal(2, rows, 3)},
        constants={"minus": np.array([-1]), "zero": np.array([0]), "one": np.array([1])}, shapes={"x": ["batch", "rows", 3]})
# Integers that the inputs divide by; 0 has no quotient, and the call goes on.
for dtype in (np.int32, np.int64):
    NUMBERS, BY = (np.array(n, dtype) for n in ([[7, -7, 7, -7, np.iinfo(dtype).min], [0, 9, -9, 1, 6]], [[3, 3, -3, -3, -1], [5, -1, 4, -9, -2]]))
    for op in ("Div", "Mod"):
        if op == "Mod" or dtype == np.int32:
            NUMBERS = np.where(NUMBERS == np.iinfo(dtype).min, 8, NUMBERS).astype(dtype)
        one(op, NUMBERS, BY, name=f"-numbers-{dtype.__name__}")
one("Mod", np.array([7, -7, 7, -7, 0]), np.array([3, 3, -3, -3, -5]), name="-fmod-numbers", fmod=1)
one("Mod", np.array([7, -7, 6]), constants=[np.array([-3, -3, -3])], name="-by-negatives")
add("by-zero", [node("Div", ["a", "b"], ["q"]), node("Equal", ["b", "zero"], ["e"]), node("Where", ["e", "a", "q"], ["y"])], {"a": np.array([5, -6, 7]), "b": np.array([0, 4, 0])},
    constants={"zero": np.array([0])})
# What is so for any numbers is a constant of unknown size.
for op in ("Equal", "LessOrEqual", "Less"):
    add(f"itself-{op}", [node(op, ["x", "x"], ["y"])], {"x": np.array([[1, 2, 3]])}, shapes={"x": ["batch", "rows"]})
add("ones-of-a-shape", [node("Shape", ["x"], ["s"]), node("ConstantOfShape", ["s"], ["o"], value=numpy_helper.from_array(np.array([1]))), node("Equal", ["o", "one"], ["e"]),
    node("Not", ["e"], ["n"]), node("Where", ["n", "x", "o"], ["y"])], {"x": np.array([[4, 2, 3]])}, constants={"one": np.array(1)}, shapes={"x": ["batch", "rows"]})
# Axes summed in one block, in several, and in so many that their sums are summed in blocks; whole numbers, whose sums are exact.
for size in (64, 65, 1025, 2100):
    one("CumSum", np.round(4 * normal(2, size, 3)), constants=[np.int64(1)], name=f"-{size}", reverse=size % 2, exclusive=int(size > 1000))
for rows in (1, 32, 33, 1030):
    add(f"sums-of-unknown-{rows}", [node("CumSum", ["x", "axis"], ["c"], reverse=rows % 2), node("Add", ["x", "c"], ["y"])],
        {"x": normal(1, rows, 2, dtype=np.float64)}, constants={"axis": np.int64(1)}, shapes={"x": ["batch", "rows", 2]})
# Places inside, outside and at the ends of an image.
for mode in ("linear", "nearest", "cubic"):
    for padding in ("zeros", "border", "reflection"):
        corners = int(padding == "reflection")
        add(f"GridSample-{mode}-{padding}", [node("GridSample", ["x", "g"], ["y"], mode=mode, padding_mode=padding, align_corners=corners)],
            {"x": normal(2, 3, 5, 4), "g": 1.5 * normal(2, 3, 2, 2)}, opset=20, shapes={"x": ["n", 3, "h", "w"], "g": ["m", "i", "j", 2]})
# ONNX's reference moves the place itself to the border, PyTorch and ONNX Runtime each element that is read: as if the image went on.
wide, (image, grid) = np.array([4, 5]), GRAPHS["GridSample-cubic-border"][1].values()
OTHER["GridSample-cubic-border"] = ReferenceEvaluator(GRAPHS["GridSample-cubic-zeros"][0]).run(
    None, {"x": np.pad(image, ((0, 0), (0, 0), (9, 9), (9, 9)), "edge"), "g": ((grid + 1) * wide + 18) / (wide + 18) - 1})
add("GridSample-f16", [node("GridSample", ["x", "g"], ["y"])], {"x": normal(1, 2, 3, 3, dtype=np.float16), "g": normal(1, 2, 2, 2, dtype=np.float16)}, opset=20)
add("GridSample-one", [node("GridSample", ["x", "g"], ["y"], padding_mode="reflection")], {"x": normal(1, 2, 1, 1), "g": normal(1, 2, 2, 2)}, opset=20)
# The older name of linear, which ONNX's reference does not know.
add("GridSample-old", [node("GridSample", ["x", "g"], ["y"], mode="bilinear", padding_mode="reflection")], GRAPHS["GridSample-linear-zeros"][1], opset=16)
OTHER["GridSample-old"] = ReferenceEvaluator(GRAPHS["GridSample-one"][0]).run(None, GRAPHS["GridSample-old"][1])
add("GridSample-volume", [node("GridSample", ["x", "g"], ["y"])], {"x": normal(1, 2, 3, 4, 2), "g": normal(1, 2, 1, 3, 3)}, opset=20)
add("GridSample-line", [node("GridSample", ["x", "g"], ["y"])], {"x": normal(1, 2, 6), "g": normal(1, 5, 1)}, opset=20)
add("GridSample-far", [node("GridSample", ["x", "g"], ["y"]), ], {"x": np.array([[[[np.nan, 1], [2, 3]]]], np.float32),
    "g": np.array([[[[1e30, 0], [-np.inf, np.nan], [np.nan, np.nan], [0.5, 0.5]]]], np.float32)}, opset=20)
OTHER["GridSample-far"] = [np.array([[[[0, 0, 0, 3]]]], np.float32)]
for op in ("BitwiseAnd", "BitwiseOr", "BitwiseXor"):
    one(op, np.array([[-1, 12], [7, -9]]), np.array([10, 3]), opset=18)
one("BitwiseNot", np.array([-1, 0, 12], np.int32), opset=18)


# As exporters write what depends on sizes: repeats by a OneHot, a shape whose -1 stands for 1, numbers from 0.5 on, windows that reach behind the end.
add("repeats-of-a-size", [node("Shape", ["x"], ["n"], start=1, end=2), node("Concat", ["one", "n"], ["values"], axis=0), node("OneHot", ["place", "rank", "values"], ["times"]),
    node("Tile", ["x", "times"], ["y"])], {"x": normal(2, 3)}, constants={"one": np.array([1]), "place": np.array(-1), "rank": np.array([2])}, shapes={"x": ["b", "n"]})
OTHER["repeats-of-a-size"] = [np.tile(GRAPHS["repeats-of-a-size"][1]["x"], (1, 3))]
for rows in (3, 1):
    add(f"expanded-to-a-part-{rows}", [node("Slice", ["x", "one", "far", "one"], ["part"]), node("Shape", ["part"], ["shape"]), node("Equal", ["shape", "minus"], ["open"]),
        node("Where", ["open", "ones", "shape"], ["whole"]), node("Expand", ["two", "whole"], ["e"]), node("Mul", ["part", "e"], ["y"])], {"x": normal(2, rows + 1)},
        constants={"one": np.array([1]), "far": np.array([2**62]), "minus": np.array([-1, -1]), "ones": np.array([1, 1]), "two": np.array([[2]], np.float32)},
        shapes={"x": ["b", "n"]})
for begin, step in ((0.5, 1), (-1.25, 2), (7.5, -3)):
    add(f"range-from-{begin}", [node("Shape", ["x"], ["s"], end=1), node("Squeeze", ["s"], ["n"]), node("Cast", ["n"], ["f"], to=TensorProto.FLOAT), node("Range", ["begin", "f", "step"], ["y"])],
        {"x": normal(5)}, constants={"begin": np.float32(begin), "step": np.float32(step)}, shapes={"x": ["rows"]})
for op in ("MaxPool", "AveragePool"):
    for rows in (4, 5, 6):
        how = {"count_include_pad": rows % 2} if op == "AveragePool" else {}
        add(f"{op}-ceiling-{rows}", [node(op, ["x"], ["y"], kernel_shape=[3, 2], strides=[2, 2], pads=[1, 0, 1, 0], ceil_mode=1, **how)], {"x": normal(1, 2, rows, 5)},
            shapes={"x": ["n", 2, "h", "w"]}, opset=19)

for place, traced, given in (("first", [5, -1, 8], normal(5, 3, 32)), ("last", [-1, 1, 1, 5], normal(3, 5))):
    add(f"reshape-traced-{place}", [node("Reshape", ["x", "shape"], ["y"])], {"x": given}, constants={"shape": np.array(traced)},
        shapes={"x": ["a", "b", *given.shape[2:]]})
FUNCTIONS = """<ir_version: 10, opset_import: ["": 20, "mine": 1]>
g (float[N, 8] x, float[8] w) => (float[N, 8] y, float[N, 8] z) {
  [first] n = mine.norm <by = 0.5> (x, w)
  [second] m = mine.norm <by = 3.0> (n, w)
  y, z = mine.pair (m, x)
}
<domain: "mine", opset_import: ["": 20]>
norm <by: float = 2.0> (a, weight) => (b) {
  f = Constant <value_float: float = @by> ()
  b = Mul (a, f)
}
<domain: "mine", opset_import: ["": 20, "mine": 1]>
pair (a, b) => (c, b) {
  d = mine.norm <by = -1.0> (b, b)
  c = Add (a, d)
}"""
GRAPHS["functions"] = (onnx.parser.parse_model(FUNCTIONS), {"x": normal(3, 8), "w": normal(8)}, ("y", "z"))


ROUNDED = {}  # tolerances of graphs that round many times


def check(name):
    model, inputs, outputs = GRAPHS[name]
    want = OTHER.get(name) or ReferenceEvaluator(model).run(None, inputs)
    outputs = PORTS.get(name, outputs)
    with tempfile.TemporaryDirectory() as folder:
        results = Program(model.SerializeToString(), folder)(list(inputs.values()), outputs)
    for output, array in zip(outputs, want):
        array = np.asarray(array)
        compare(output, results[output], array, ROUNDED.get(name) or TOLERANCE.get(array.dtype.name, (2e-5, 2e-6)))


if __name__ == "__main__":
    main(GRAPHS, check)
