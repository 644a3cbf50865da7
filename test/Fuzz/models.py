# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Mutated ONNX models through attn-opt: whatever they hold, it compiles or says in one line per reason why not."""
import pathlib
import zipfile

import numpy as np
import onnx
import onnx.parser
from onnx import TensorProto, helper

from specifications import Specifications

DATA = pathlib.Path(__file__).parent.parent / "Import" / "ONNX" / "data"
SIZES = [0, 1, 2, 3, 7, 64, 1000, -1, -2, 2**31 - 1, 2**31, 2**40, 2**62, 2**63 - 1, -2**63]
NUMBERS = [0.0, -0.0, 1.0, -1.0, 1e-45, 3.4e38, float("inf"), float("-inf"), float("nan")]
PATHS = ["../secret", "/etc/passwd", "a/../../secret", "", ".", "..", "weights", "no\0name", "x" * 5000, "/dev/zero", "weights/"]
LARGEST = 40_000  # bytes of a model: what mutates is its structure


# One graph per kind of operator that the stored models lack.
GRAPHS = [
    "(float[b, 4, 3, 8] q, float[b, 5, 3, 8] k) => (float y) { y = Einsum <equation = \"bqhd,bkhd->bhqk\"> (q, k) }",
    "(float[b, 4, 6] x, float[6, 3, 5] w) => (float y) { y = Einsum <equation = \"...d,dhe->...he\"> (x, w) }",
    "(float[2, 3, 8, 8] x, float[5, 3, 4, 4] w) => (float y) { y = Conv <strides = [4, 4], pads = [0, 1, 2, 0]> (x, w) }",
    "(float[b, 3, n] x, float[5, 3, 3] w) => (float y) { y = Conv <pads = [1, 1], dilations = [1]> (x, w) }",
    "(float[b, 4, n] x, float[6, 2, 3] w) => (float y) { c = Conv <strides = [2], pads = [1, 1], group = 2> (x, w) one = Constant <value_ints = [1]> ()"
    " two = Constant <value_ints = [2]> () s = Shape <start = 2> (x) m = Sub(s, one) h = Div(m, two) n2 = Add(h, one) r = Mod(s, two)"
    " z = Constant <value_ints = [0, 2, 3]> () t = Concat <axis = 0> (z, n2) d = Reshape(c, t) y = Slice(d, r, n2, two) }",
    "(float[b, 4, n] x, float[4] g) => (float y) { i = InstanceNormalization(x, g, g) y = BatchNormalization(i, g, g, g, g) }",
    "(float[b, 4, n, 3] x, float[4] g) => (float y) { y = GroupNormalization <num_groups = 2> (x, g, g) }",
    "(float[5, 6] x, int64[3, 1] i, float[3, 6] u) => (float y) { y = ScatterND(x, i, u) }",
    "(float[5, 6] x, int64[2, 3] i, float[2, 3] u) => (float y) { y = ScatterElements <axis = 1> (x, i, u) }",
    "(float[b, 5, 6] x, int64[3, 2] i) => (float y) { r = Constant <value_ints = [1, 2, 1]> () t = Tile(x, r) y = GatherND(t, i) }",
    "(float[4, 5] x, int64[4, 3] i) => (float y) { g = GatherElements <axis = 1> (x, i) m = ArgMax(g) y = Cast <to = 1> (m) }",
    "(float[2, 3, 8, 4] c, float[2, 3, 2, 4] u, int64[2] i) => (float y) { y = TensorScatter <mode = \"circular\"> (c, u, i) }",
    "(int64[b, n] m) => (int64 y) { a = Constant <value_int = 1> () y = CumSum <reverse = 1> (m, a) }",
    "(float[b, 4] x) => (float y) { s = Shape(x) a = Constant <value_int = 1> () n = Gather(s, a) f = Constant <value_int = 4> () c = Equal(n, f)"
    " y = If (c) <then_branch = g () => (float p) { p = Neg(x) }, else_branch = h () => (float q) { q = Abs(x) }> }",
    "(float[b, 5, 16] x, float[16] g) => (float y, float s) { y, m, v, s = com.microsoft.SkipLayerNormalization (x, x, g) }",
    "(float[b, 4, 3, 3, 8] x, int32[b] n) => (float y) { y = com.microsoft.MultiHeadAttention <num_heads = 3> (x, , , , n) }",
    "(float[b, 4, 10] x, float[10, 72] w, float[72] c) => (float y) { y = com.microsoft.Attention <num_heads = 3, unidirectional = 1> (x, w, c) }",
    "(float[b, 3, 4, 8] x, int64[1] p, float[9, 4] c) => (float y) { y = com.microsoft.RotaryEmbedding (x, p, c, c) }",
    "(float[n, 4] x, int64 m) => (float y) { y, z = Loop (m, , x) <body: graph = b (int64 i, bool c, float[n, 4] h) => (bool d, float[n, 4] r, float[4] s)"
    " { d = Identity (c) r = Tanh (h) s = Gather (h, i) }> }",
    "(float[n, 4] x, bool c) => (float y) { y = Loop (, c, x) <body: graph = b (int64 i, bool g, float[n, 4] h) => (bool d, float[n, 4] r)"
    " { r = Add (h, h) t = ReduceMax <keepdims = 0> (r) d = Less (t, t) }> }",
    "(float[1, 4] x) => (float y) { m = Constant <value_int = 3> () y = Loop (m, , x) <body: graph = b (int64 i, bool c, float[k, 4] h) => (bool d, float[l, 4] r)"
    " { d = Identity (c) r = Concat <axis = 0> (h, x) }> }",
    "(float[b, n, 4] x, float[b, 4] h) => (float y, float z) { y, z = Scan <num_scan_inputs = 1, scan_input_axes = [1], scan_output_axes = [2], scan_output_directions = [1],"
    " body: graph = g (float[b, 4] s, float[b, 4] e) => (float[b, 4] r, float[b, 4] o) { r = Add (s, e) o = Mul (r, e) }> (h, x) }",
    "(float[n, 4] x, bool c) => (float y) { y = If (c) <then_branch: graph = t () => (float[n, 4] u) { u = Neg (x) }, else_branch: graph = e () => (float[n, 4] v) { v = Abs (x) }> }",
    "(float[b, n, 8] q, float[b, n, 4] k, float[b, 2, 2, 2] p, float[b, n, 2] g) => (float y, float s)"
    " { y, s = LinearAttention <q_num_heads = 4, kv_num_heads = 2> (q, k, k, p, g, g) }",
    "(float[b, 4, n] x, float[4, 1, 3] w, float[b, 4, 2] p) => (float y, float s) { y, s = CausalConvWithState <activation = \"silu\"> (x, w, , p) }",
]


def corpus():
    header = '<ir_version: 10, opset_import: ["": 27, "com.microsoft": 1]> g '
    models = [onnx.parser.parse_model(header + graph).SerializeToString() for graph in GRAPHS]
    for name in ("node", "torch"):
        with zipfile.ZipFile(DATA / f"{name}.zip") as archive:
            models += [archive.read(i) for i in archive.infolist() if i.filename.endswith(".onnx") and i.file_size < LARGEST]
    return models


class Models(Specifications):
    name, ending, source = "models", ".onnx", "input.onnx"

    def __init__(self, folder, tool=None):
        super().__init__(folder, tool)
        self.models = corpus()

    def make(self, seed, index):
        rng = np.random.default_rng([seed, index])
        data = self.models[int(rng.integers(len(self.models)))]
        if rng.random() < 0.75:
            data = Mutation(rng, self.models).mutant(data)
        if rng.random() < 0.35:
            data = bytes_of(rng, data)
        kind = rng.random()
        options = ["--compile-to=fused"] if kind < 0.7 else ["--emit=obj", "-O0"] if kind < 0.95 else ["--explain", "--compile-to=scheduled"]
        return data, options + ["--strict-import"] * (rng.random() < 0.1)

    def load(self, path):
        return path.read_bytes(), ["--emit=obj"]

    def stored(self, data, options):
        return data


def bytes_of(rng, data):
    """A few bits, a cut, or a piece twice or away."""
    data = bytearray(data)
    kind = rng.random()
    at = int(rng.integers(max(len(data), 1)))
    length = int(rng.integers(1, 60))
    if kind < 0.5:
        for _ in range(int(rng.integers(1, 8))):
            if data:
                data[int(rng.integers(len(data)))] ^= 1 << int(rng.integers(8))
    elif kind < 0.7:
        del data[at:]
    elif kind < 0.85:
        del data[at:at + length]
    else:
        data[at:at] = data[at:at + length]
    return bytes(data)


class Mutation:
    """Changes of the messages, so that the model comes past the parser."""

    def __init__(self, rng, models):
        self.rng, self.models = rng, models

    def pick(self, options):
        return options[int(self.rng.integers(len(options)))]

    def mutant(self, data):
        model = onnx.load_from_string(data)
        for _ in range(min(int(self.rng.geometric(0.5)), 5)):
            try:
                self.pick(STEPS)(self, model)
            except (ValueError, IndexError, TypeError):
                pass  # this model has nothing of the kind
        return model.SerializeToString()

    def node(self, model):
        return self.pick(model.graph.node)

    def names(self, model):
        return [i.name for i in model.graph.input] + [o for node in model.graph.node for o in node.output] + ["", "nobody"]

    def rename_input(self, model):
        node = self.node(model)
        node.input[int(self.rng.integers(len(node.input)))] = self.pick(self.names(model))

    def rename_output(self, model):
        node = self.node(model)
        node.output[int(self.rng.integers(len(node.output)))] = self.pick(self.names(model))

    def add_or_drop_input(self, model):
        node = self.node(model)
        if self.rng.random() < 0.5 and node.input:
            del node.input[int(self.rng.integers(len(node.input)))]
        else:
            node.input.append(self.pick(self.names(model)))

    def add_output(self, model):
        self.node(model).output.append(self.pick(["more", "", "present_key"]))

    def another_operator(self, model):
        self.node(model).op_type = self.pick([node.op_type for node in model.graph.node] + ["MatMul", "Add", "Softmax", "Gather", "Reshape", "Expand",
            "Range", "Slice", "Concat", "Attention", "If", "Loop", "Scan", "Tile", "Einsum", "Conv", "ArgMax", "CumSum", "GatherND", "TensorScatter", "ReduceMax", "Trilu", "LayerNormalization", "Pow", "Cast", "", "Nothing"])

    def inner_graphs(self, model):
        """The model's graph as a branch, in a branch, in a branch ..."""
        inner = model.graph
        for _ in range(self.pick([1, 3, 9, 30, 70])):
            node = helper.make_node("If", [self.pick(self.names(model))], [inner.output[0].name], then_branch=inner, else_branch=inner)
            inner = helper.make_graph([node], "outer", inner.input, inner.output)
            if inner.ByteSize() > 10 * LARGEST:
                break
        model.graph.CopyFrom(inner)

    def cycle(self, model):
        node = self.node(model)
        node.input[0] = node.output[0]

    def other_order(self, model):
        nodes = list(model.graph.node)
        self.rng.shuffle(nodes)
        del model.graph.node[:]
        model.graph.node.extend(nodes)

    def drop_initializer(self, model):
        del model.graph.initializer[int(self.rng.integers(len(model.graph.initializer)))]

    def initializer_sizes(self, model):
        tensor = self.pick(model.graph.initializer)
        if self.rng.random() < 0.5 and tensor.dims:
            tensor.dims[int(self.rng.integers(len(tensor.dims)))] = self.pick(SIZES)
        else:
            tensor.dims.append(self.pick(SIZES))

    def initializer_values(self, model):
        tensor = self.pick([t for t in model.graph.initializer if t.data_type == TensorProto.INT64])
        array = np.full([max(0, min(d, 9)) for d in tensor.dims], self.pick(SIZES), np.int64)
        tensor.raw_data = array.tobytes()
        tensor.int64_data[:] = []

    def initializer_type(self, model):
        self.pick(model.graph.initializer).data_type = int(self.rng.integers(-1, 28))

    def external(self, model):
        tensor = self.pick(model.graph.initializer)
        tensor.data_location = TensorProto.EXTERNAL
        for key, value in (("location", self.pick(PATHS)), ("offset", str(self.pick(SIZES))), ("length", str(self.pick([*SIZES, "many"])))):
            if self.rng.random() < 0.8:
                entry = tensor.external_data.add()
                entry.key, entry.value = key, value

    def input_sizes(self, model):
        shape = self.pick(model.graph.input).type.tensor_type.shape
        if self.rng.random() < 0.6 and shape.dim:
            dim = self.pick(shape.dim)
            if self.rng.random() < 0.5:
                dim.dim_param = self.pick(["n", "m", "batch", ""])
            else:
                dim.dim_value = self.pick(SIZES)
        elif self.rng.random() < 0.5 and shape.dim:
            del shape.dim[int(self.rng.integers(len(shape.dim)))]
        else:
            shape.dim.add().dim_value = self.pick(SIZES)

    def input_type(self, model):
        self.pick(model.graph.input).type.tensor_type.elem_type = int(self.rng.integers(-1, 28))

    def no_shape(self, model):
        self.pick(model.graph.input).type.tensor_type.ClearField("shape")

    def attribute(self, model):
        attribute = self.pick(self.pick([node for node in model.graph.node if node.attribute]).attribute)
        attribute.i = self.pick(SIZES)
        attribute.f = self.pick(NUMBERS)
        if attribute.ints:
            attribute.ints[int(self.rng.integers(len(attribute.ints)))] = self.pick(SIZES)

    def drop_attribute(self, model):
        node = self.pick([node for node in model.graph.node if node.attribute])
        del node.attribute[int(self.rng.integers(len(node.attribute)))]

    def add_attribute(self, model):
        name = self.pick(["axis", "scale", "softcap", "is_causal", "q_num_heads", "kv_num_heads", "qk_matmul_output_mode", "left_window_size",
                          "right_window_size", "softmax_precision", "num_heads", "rotary_embedding_dim", "to", "upper", "keepdims", "alpha", "equation",
                          "mode", "batch_dims", "strides", "pads", "dilations", "group"])
        self.node(model).attribute.append(helper.make_attribute(name, self.pick([*SIZES, *NUMBERS, "text", "ij,jk->ik", "...a,a->...", [1, 2], [0, 1], [-1, 3]])))

    def version(self, model):
        self.pick(model.opset_import).version = self.pick([*SIZES, 11, 12, 13, 17, 18, 22, 23, 24, 25, 26, 99])

    def domain(self, model):
        self.node(model).domain = self.pick(["", "ai.onnx", "com.microsoft", "ai.onnx.preview", "nobody"])

    def drop_node(self, model):
        del model.graph.node[int(self.rng.integers(len(model.graph.node)))]

    def nodes_of_another(self, model):
        other = onnx.load_from_string(self.pick(self.models)).graph
        model.graph.node.extend(other.node)
        model.graph.initializer.extend(other.initializer)

    def outputs(self, model):
        if self.rng.random() < 0.5:
            model.graph.output[0].name = self.pick(self.names(model))
        else:
            model.graph.output.append(model.graph.input[0])


STEPS = [step for name, step in vars(Mutation).items() if not name.startswith("_") and name not in ("pick", "mutant", "node", "names")]
