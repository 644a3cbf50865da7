# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Layers that are written out, as exporters and newcomers write them, beside ONNX's own reference: rotary embedding, softmax, heads behind the
sequence. What they are must be found: each has the ops that are listed, and none of those that were written out."""
import pathlib
import subprocess
import tempfile

import numpy as np

from models import ATTN_OPT, Failure, main
from operators import GRAPHS, ROUNDED, add, check as check_values, floats, node, rng

FOUND = {}
HEADS, FEATURES = 2, 8
WIDTH = HEADS * FEATURES
LARGE = 2**63 - 1


class Layer:
    """Nodes and constants of one graph."""

    def __init__(self, dtype=np.float32):
        self.nodes, self.constants, self.dtype = [], {}, dtype

    def __call__(self, op, *inputs, out=None, **attributes):
        """A node, and the name of its output; arrays become constants."""
        names = []
        for x in inputs:
            if not isinstance(x, str):
                self.constants[f"c{len(self.constants)}"] = np.asarray(x)
                x = f"c{len(self.constants) - 1}"
            names.append(x)
        out = out or f"n{len(self.nodes)}"
        self.nodes.append(node(op, names, [out], **attributes))
        return out

    def linear(self, x, rows=WIDTH, columns=WIDTH):
        return self("MatMul", x, floats(rows, columns, dtype=self.dtype) / self.dtype(4))

    def heads(self, x):
        return self("Transpose", self("Reshape", x, np.array([0, 0, HEADS, FEATURES])), perm=[0, 2, 1, 3])

    def merged(self, x, out=None):
        return self("Reshape", self("Transpose", x, perm=[0, 2, 1, 3]), np.array([0, 0, WIDTH]), out=out)

    def softmax(self, x, most=True, product=False):
        moved = self("Sub", x, self("ReduceMax", x, np.array([-1]))) if most else x
        powers = self("Exp", moved)
        total = self("ReduceSum", powers, np.array([-1]))
        return self("Mul", powers, self("Reciprocal", total)) if product else self("Div", powers, total)

    def attention(self, q, k, v, softmax=None):
        scores = self("Mul", self("MatMul", q, self("Transpose", k, perm=[0, 1, 3, 2])), self.dtype(FEATURES**-0.5))
        return self("MatMul", softmax(scores) if softmax else self("Softmax", scores, axis=-1), v)

    def part(self, x, begin, end, step=1):
        return self("Slice", x, np.array([begin]), np.array([end]), np.array([-1]), np.array([step]))

    def angles(self, size, twice):
        """Cosines and sines of the positions in input `p`."""
        frequencies = (10.0 ** -np.arange(size // 2)).astype(np.float32).reshape(1, -1, 1)
        places = self("Cast", self("Unsqueeze", "p", np.array([1])), to=1)
        rows = self("Transpose", self("MatMul", frequencies, places), perm=[0, 2, 1])
        rows = self("Concat", rows, rows, axis=-1) if twice else rows
        pair = [self("Unsqueeze", self(op, rows), np.array([1])) for op in ("Cos", "Sin")]
        return [self("Cast", x, to=10) for x in pair] if self.dtype == np.float16 else pair

    def rotated(self, x, cos, sin, size=FEATURES):
        """As Hugging Face writes it: x * cos + (-x1, x0) * sin."""
        a, b = self.part(x, 0, size // 2), self.part(x, size // 2, LARGE)
        turned = self("Concat", self("Neg", b), a, axis=-1)
        return self("Add", self("Mul", x, cos), self("Mul", turned, sin))

    def rotated_pairs(self, x, cos, sin, size=FEATURES, neighbours=False):
        """Each feature of a pair on its own."""
        a = self.part(x, 0, LARGE, 2) if neighbours else self.part(x, 0, size // 2)
        b = self.part(x, 1, LARGE, 2) if neighbours else self.part(x, size // 2, LARGE)
        one = self("Sub", self("Mul", a, cos), self("Mul", b, sin))
        two = self("Add", self("Mul", b, cos), self("Mul", a, sin))
        if not neighbours:
            return self("Concat", one, two, axis=-1)
        both = self("Concat", *[self("Unsqueeze", y, np.array([-1])) for y in (one, two)], axis=-1)
        return self("Reshape", both, np.array([0, 0, 0, size]))


def case(name, layer, inputs, found, shapes=None, outputs=("y",)):
    add(name, layer.nodes, inputs, outputs, layer.constants, 18, shapes)
    FOUND[name] = found
    if layer.dtype == np.float16:
        ROUNDED[name] = (2e-3, 2e-3)


UNKNOWN = {"x": ["batch", "seq", WIDTH], "p": ["batch", "seq"]}


def rope(name, batch=2, rows=5, pairs=None, size=FEATURES, dtype=np.float32, shapes=UNKNOWN, layers=1, residual=False, first=False):
    """Self attention with rotary embedding, once or in a chain."""
    layer, x = Layer(dtype), "x"
    cos, sin = layer.angles(size, twice=pairs is None)
    for _ in range(layers):
        q, k, v = (layer.heads(layer.linear(x)) for _ in "qkv")
        turned = []
        for y in (q, k):
            head = layer.part(y, 0, size) if size < FEATURES else y
            z = layer.rotated(head, cos, sin, size) if pairs is None else layer.rotated_pairs(head, cos, sin, size, pairs == "neighbours")
            turned.append(layer("Concat", z, layer.part(y, size, LARGE), axis=-1) if size < FEATURES else z)
        y = layer.linear(layer.merged(layer.attention(*turned, v)))
        x = layer("Add", x, y) if residual else y
    layer("Identity", x, out="y")
    if first:  # the rotated queries as well
        layer("Identity", turned[0], out="q")
    case(name, layer, {"x": floats(batch, rows, WIDTH, dtype=dtype), "p": rng.integers(0, 50, (batch, rows))},
         {"attn.rope": 2 * layers, "attn.sdpa": layers}, shapes, ("y", "q") if first else ("y",))


rope("rope")
rope("rope-pairs", pairs="halves")
rope("rope-neighbours", pairs="neighbours")
rope("rope-part", size=4)
rope("rope-batch-1", batch=1, shapes=None)
rope("rope-one-row", rows=1)
rope("rope-known", shapes=None)
rope("rope-half", dtype=np.float16)
rope("rope-chained", layers=2, residual=True)
rope("rope-two-results", first=True)


def written_softmax(name, **how):
    layer = Layer()
    q, k, v = (layer.heads(layer.linear("x")) for _ in "qkv")
    layer.merged(layer.attention(q, k, v, lambda scores: layer.softmax(scores, **how)), out="y")
    case(name, layer, {"x": floats(2, 5, WIDTH)}, {"attn.sdpa": 1}, UNKNOWN)


written_softmax("softmax-written")
written_softmax("softmax-without-maximum", most=False)
written_softmax("softmax-by-reciprocal", product=True)


def sequence_first(name, batch=2, rows=5, shapes={"x": ["seq", "batch", WIDTH]}):
    """As nn.MultiheadAttention: (S, B, H*D) as (S, B*H, D) as (B*H, S, D)."""
    layer = Layer()
    shape = layer("Shape", "x")
    s, b = (layer("Slice", shape, np.array([i]), np.array([i + 1])) for i in range(2))
    apart = layer("Concat", s, layer("Mul", b, np.array([HEADS])), np.array([FEATURES]), axis=0)
    q, k, v = (layer("Transpose", layer("Reshape", layer.linear("x"), apart), perm=[1, 0, 2]) for _ in "qkv")
    scores = layer("MatMul", layer("Mul", q, np.float32(FEATURES**-0.5)), layer("Transpose", k, perm=[0, 2, 1]))
    out = layer("Transpose", layer("MatMul", layer("Softmax", scores, axis=-1), v), perm=[1, 0, 2])
    rows_of = layer("Reshape", out, np.array([-1, WIDTH]))
    y = layer("Gemm", rows_of, floats(WIDTH, WIDTH), floats(WIDTH))
    layer("Reshape", y, layer("Concat", s, b, np.array([WIDTH]), axis=0), out="y")
    case(name, layer, {"x": floats(rows, batch, WIDTH)}, {"attn.sdpa": 1}, shapes)


sequence_first("sequence-first")
sequence_first("sequence-first-batch-1", batch=1)
sequence_first("sequence-first-one-row", rows=1)
sequence_first("sequence-first-known", shapes=None)


def packed(name, batch=2, rows=5, shapes={"x": ["batch", 5, WIDTH]}):
    """As nn.MultiheadAttention that was asked for its weights: one product for queries, keys and values, of which each is a part."""
    layer = Layer()
    x = layer("Transpose", "x", perm=[1, 0, 2])
    shape = layer("Shape", x)
    s, b = (layer("Slice", shape, np.array([i]), np.array([i + 1])) for i in range(2))
    three = layer("Reshape", layer.linear(x, columns=3 * WIDTH), layer("Concat", s, b, np.array([3]), np.array([WIDTH]), axis=0))
    three = layer("Squeeze", layer("Transpose", layer("Unsqueeze", three, np.array([0])), perm=[3, 1, 2, 0, 4]), np.array([3]))
    apart = layer("Concat", s, layer("Mul", b, np.array([HEADS])), np.array([FEATURES]), axis=0)
    q, k, v = (layer("Transpose", layer("Reshape", layer("Gather", three, np.int64(i), axis=0), apart), perm=[1, 0, 2]) for i in range(3))
    scores = layer("MatMul", layer("Mul", q, np.float32(FEATURES**-0.5)), layer("Transpose", k, perm=[0, 2, 1]))
    weights = layer("Softmax", scores, axis=-1)
    layer("Reshape", layer("Transpose", layer("MatMul", weights, v), perm=[1, 0, 2]), layer("Concat", s, b, np.array([WIDTH]), axis=0), out="y")
    layer("ReduceMean", layer("Reshape", weights, layer("Concat", b, np.array([HEADS]), s, s, axis=0)), np.array([1]), keepdims=0, out="z")
    case(name, layer, {"x": floats(batch, rows, WIDTH)}, {"attn.sdpa": 1, "returning(out, weights)": 1}, shapes, ("y", "z"))


packed("packed")
packed("packed-batch-1", batch=1)
packed("packed-one-row", rows=1, shapes={"x": ["batch", 1, WIDTH]})
packed("packed-unknown", rows=3, shapes=UNKNOWN)
packed("packed-known", shapes=None)


def batch_of_heads(name, batch=2, rows=5, keys=5, mask="add", shapes=UNKNOWN | {"m": ["batch", 1, "seq", "keys"], "z": ["batch", "keys", WIDTH]}):
    """As Bart, XGLM, OPT: (B, H, S, D) as (B*H, S, D); scores are (B, H, S, T) for the mask alone, and weights for nothing."""
    layer = Layer()
    b, s, t = (layer("Gather", layer("Shape", x), np.array([axis])) for x, axis in (("x", 0), ("x", 1), ("z", 1)))
    joined, apart = layer("Mul", b, np.array([HEADS])), lambda *sizes: layer("Concat", b, np.array([HEADS]), *sizes, axis=0)

    def heads(x, length):
        split = layer("Reshape", x, layer("Concat", b, length, np.array([HEADS]), np.array([FEATURES]), axis=0))
        return layer("Reshape", layer("Transpose", split, perm=[0, 2, 1, 3]), layer("Concat", joined, np.array([-1]), np.array([FEATURES]), axis=0))

    q = heads(layer("Mul", layer.linear("x"), np.float32(FEATURES**-0.5)), s)
    k, v = (heads(layer.linear("z"), t) for _ in "kv")
    scores = layer("MatMul", q, layer("Transpose", k, perm=[0, 2, 1]))
    flat = layer("Concat", joined, s, t, axis=0)
    if mask:
        scores = layer("Add", layer("Reshape", scores, apart(s, t)), "m")
        scores = layer("Reshape", layer("Max", scores, np.float32(-3.4e38)) if mask == "max" else scores, flat)
    weights = layer("Reshape", layer("Reshape", layer("Softmax", scores, axis=-1), apart(s, t)), flat)
    out = layer("Reshape", layer("MatMul", weights, v), apart(s, np.array([FEATURES])))
    layer("Reshape", layer("Transpose", out, perm=[0, 2, 1, 3]), layer("Concat", b, s, np.array([WIDTH]), axis=0), out="y")
    hidden = {"m": np.where(np.arange(batch * rows * keys).reshape(batch, 1, rows, keys) % 4 < 3, 0, -np.inf).astype(np.float32)} if mask else {}
    case(name, layer, {"x": floats(batch, rows, WIDTH), "z": floats(batch, keys, WIDTH), **hidden}, {"attn.sdpa": 1, f"tensor<?x{HEADS}x?x?xf32>": 0}, shapes)


batch_of_heads("batch-of-heads")
batch_of_heads("batch-of-heads-max", mask="max")
batch_of_heads("batch-of-heads-cross", keys=9)
batch_of_heads("batch-of-heads-batch-1", batch=1)
batch_of_heads("batch-of-heads-one-row", batch=3, rows=1, keys=7)
batch_of_heads("batch-of-heads-unmasked", keys=9, mask=None, shapes=UNKNOWN | {"z": ["batch", "keys", WIDTH]})
batch_of_heads("batch-of-heads-known", keys=9, shapes=None)


def one_more(name, moved=None, kept=1, shapes=UNKNOWN):
    """Softmax with one more score of 0 in each row, whose sum is below 1."""
    layer = Layer()
    q, k, v = (layer.heads(layer.linear("x")) for _ in "qkv")

    def softmax(scores):
        if not moved:
            powers, one = layer("Exp", scores), np.float32(1)
        else:
            most = layer("ReduceMax", scores, np.array([-1]))
            most = layer("Max", most, np.float32(0)) if moved == "zero" else most
            powers, one = layer("Exp", layer("Sub", scores, most)), layer("Exp", layer("Neg", most))
        return layer("Div", powers, layer("Add", *([one, layer("ReduceSum", powers, np.array([-1]))][::kept])))

    layer.merged(layer.attention(q, k, v, softmax), out="y")
    case(name, layer, {"x": floats(2, 5, WIDTH)}, {"attn.sdpa": 1, "sinks": 1}, shapes)


one_more("one-more")
one_more("one-more-behind", kept=-1)
one_more("one-more-moved", moved="most")
one_more("one-more-moved-from-zero", moved="zero")
one_more("one-more-known", moved="zero", shapes=None)


def orders(name, scores, context, axis, shapes=UNKNOWN):
    """Scores by Einsum in another order than (B, H, S, T)."""
    layer = Layer()
    q, k, v = (layer("Reshape", layer.linear("x"), np.array([0, 0, HEADS, FEATURES])) for _ in "qkv")
    products = layer("Mul", layer("Einsum", q, k, equation=scores), np.float32(FEATURES**-0.5))
    out = layer("Einsum", layer("Softmax", products, axis=axis), v, equation=context)
    layer("Reshape", out, np.array([0, 0, WIDTH]), out="y")
    case(name, layer, {"x": floats(2, 5, WIDTH)}, {"attn.sdpa": 1}, shapes)


for batch in (UNKNOWN, None):
    known = "" if batch else "-known"
    orders(f"order-nqkh{known}", "nqhd,nkhd->nqkh", "nqkh,nkhd->nqhd", 2, batch)
    orders(f"order-nqhk{known}", "nqhd,nkhd->nqhk", "nqhk,nkhd->nqhd", -1, batch)
    orders(f"order-hnqk{known}", "nqhd,nkhd->hnqk", "hnqk,nkhd->nqhd", -1, batch)
    orders(f"order-knqh{known}", "nqhd,nkhd->knqh", "knqh,nkhd->nqhd", 0, batch)


def grouped(name, scores, context, masked=False, rows=5, batch=2, apart=False, shapes=UNKNOWN):
    """Groups of queries that share keys, in five dimensions."""
    layer, groups = Layer(), 3
    q = layer("Reshape", layer.linear("x", columns=groups * WIDTH), np.array([0, 0, HEADS, groups, FEATURES]))
    k, v = (layer("Reshape", layer.linear("x"), np.array([0, 0, HEADS, FEATURES])) for _ in "kv")
    products = layer("Mul", layer("Einsum", q, k, equation=scores), np.float32(FEATURES**-0.5))
    if masked:
        place = layer("Range", np.int64(0), layer("Squeeze", layer("Shape", "x", start=1, end=2)), np.int64(1))
        seen = layer("LessOrEqual", layer("Unsqueeze", place, np.array([0])), layer("Unsqueeze", place, np.array([1])))
        products = layer("Where", seen, products, np.float32(-np.inf))
    out = layer("Einsum", layer("Softmax", products, axis=-1), v, equation=context)
    if apart:
        layer("Neg", out, out="z")
    layer("Reshape", out, np.array([0, 0, groups * WIDTH]), out="y")
    case(name, layer, {"x": floats(batch, rows, WIDTH)}, {"attn.sdpa": 1}, shapes, ("y", "z") if apart else ("y",))


for known, sizes in (("", UNKNOWN), ("-known", None)):
    grouped(f"grouped{known}", "btkgd,bskd->bkgts", "bkgts,bskd->btkgd", shapes=sizes)
    grouped(f"grouped-causal{known}", "btkgd,bskd->bkgts", "bkgts,bskd->btkgd", masked=True, shapes=sizes)
    grouped(f"grouped-behind{known}", "btkgd,bskd->btkgs", "btkgs,bskd->btkgd", shapes=sizes)
grouped("grouped-apart", "btkgd,bskd->bkgts", "bkgts,bskd->btkgd", apart=True)
grouped("grouped-one-row", "btkgd,bskd->bkgts", "bkgts,bskd->btkgd", rows=1, batch=1)


def einsum_layer(name, shapes=UNKNOWN):
    """Projections into heads, scores and context, all by Einsum."""
    layer = Layer()
    q, k, v = (layer("Einsum", "x", floats(WIDTH, HEADS, FEATURES) / 4, equation="bsd,dhe->bshe") for _ in "qkv")
    scores = layer("Mul", layer("Einsum", q, k, equation="bqhe,bkhe->bhqk"), np.float32(FEATURES**-0.5))
    out = layer("Einsum", layer("Softmax", scores, axis=-1), v, equation="bhqk,bkhe->bqhe")
    layer("Einsum", out, floats(HEADS, FEATURES, WIDTH), equation="bqhe,hed->bqd", out="y")
    case(name, layer, {"x": floats(2, 5, WIDTH)}, {"attn.sdpa": 1}, shapes)


einsum_layer("einsum-layer")
einsum_layer("einsum-layer-known", shapes=None)


def padded(name, batch=2, rows=5, shapes=UNKNOWN | {"m": ["batch", "seq"]}):
    """Keys that `mask[batch, key]` shows, as the older exporter of torch writes it: one index into the flattened mask, and its shape."""
    layer = Layer()
    shape = layer("Shape", "m")
    b, s = (layer("Gather", shape, np.int64(i)) for i in range(2))
    entry, key = (layer("Unsqueeze", layer("Range", np.int64(0), size, np.int64(1)), np.array(ones)) for size, ones in ((b, [1, 2, 3]), (s, [0, 1, 2])))
    at = layer("Add", key, layer("Mul", entry, s))
    row = layer("Reshape", layer("Gather", layer("Flatten", "m", axis=2), at), np.array([-1]))
    seen = layer("Reshape", row, layer("Shape", at))
    q, k, v = (layer.heads(layer.linear("x")) for _ in "qkv")
    hidden = layer("Where", seen, np.float32(0), np.float32(-np.inf))
    layer.merged(layer.attention(q, k, v, lambda scores: layer("Softmax", layer("Add", scores, hidden), axis=-1)), out="y")
    case(name, layer, {"x": floats(batch, rows, WIDTH), "m": np.arange(batch * rows).reshape(batch, rows) % 4 < 3}, {"attn.sdpa": 1, "attn.mask_fn": 0}, shapes)


def one_value(name, shapes=UNKNOWN):
    """Keys of each head, values of one head for all."""
    layer = Layer()
    q, k = (layer.heads(layer.linear("x")) for _ in "qk")
    v = layer("Unsqueeze", layer.linear("x", columns=FEATURES), np.array([1]))
    layer.merged(layer.attention(q, k, v), out="y")
    case(name, layer, {"x": floats(2, 5, WIDTH)}, {"attn.sdpa": 1}, shapes)


one_value("one-value")
one_value("one-value-known", shapes=None)
padded("padded")
padded("padded-batch-1", batch=1)
padded("padded-one-row", batch=3, rows=1)
padded("padded-known", shapes=None)


def buffered(name, rows=5, shapes=UNKNOWN):
    """A causal mask cut out of a square buffer, as nanoGPT has it and torch's exporter writes it: the rows behind it are min(16, rows)."""
    layer = Layer()
    q, k, v = (layer.heads(layer.linear("x")) for _ in "qkv")
    length = layer("Shape", "x", start=1, end=2)
    rows_of = layer("Slice", np.tril(np.ones((16, 16), bool)), np.array([0]), length, np.array([0]))
    seen = layer("Slice", rows_of, np.array([0]), length, np.array([1]))
    out = layer.attention(q, k, v, lambda scores: layer("Softmax", layer("Where", seen, scores, np.float32(-np.inf)), axis=-1))
    least = layer("Min", np.array([16]), length)
    shape = layer("Concat", layer("Shape", "x", end=1), least, np.array([WIDTH]), axis=0)
    layer("Reshape", layer("Transpose", out, perm=[0, 2, 1, 3]), shape, out="y")
    case(name, layer, {"x": floats(2, rows, WIDTH)}, {"attn.sdpa": 1}, shapes)


buffered("buffered")
buffered("buffered-one-row", rows=1)
buffered("buffered-whole", rows=16)


def counted(name, rows=5, past=3, shapes=None):
    """Positions that are floating-point numbers up to a size, and a mask of large numbers behind a diagonal that is a size."""
    layer = Layer()
    keys = layer("Concat", "past", "x", axis=1)
    new, all = (layer("Squeeze", layer("Shape", y, start=1, end=2)) for y in ("x", keys))
    place = layer("Range", np.float32(0), layer("Cast", all, to=1), np.float32(1))
    turned = layer("Add", keys, layer("Sin", layer("Unsqueeze", layer("Mul", place, np.float32(0.5)), np.array([0, 2]))))
    q, k, v = layer.heads(layer.linear("x")), layer.heads(layer.linear(turned)), layer.heads(layer.linear(turned))
    size = layer("Concat", layer("Unsqueeze", new, np.array([0])), layer("Unsqueeze", all, np.array([0])), axis=0)
    ones = layer("Expand", np.ones((1, 1), np.float32), size)
    hidden = layer("Mul", layer("Trilu", ones, layer("Add", layer("Sub", all, new), np.int64(1)), upper=1), np.float32(-1e4))
    layer.merged(layer.attention(q, k, v, lambda scores: layer("Softmax", layer("Add", scores, hidden), axis=-1)), out="y")
    case(name, layer, {"x": floats(2, rows, WIDTH), "past": floats(2, past, WIDTH)}, {"attn.sdpa": 1}, shapes)


def whole(name, rows, shapes=UNKNOWN):
    """Padded to a multiple of 4 rows, by widths that torch's exporter turns around as pairs; the number of rows by a product of sizes."""
    layer = Layer()
    length = layer("Shape", "x", start=1, end=2)
    lacking = layer("Mod", layer("Sub", np.array([4]), layer("Mod", length, np.array([4]))), np.array([4]))
    widths = layer("Concat", np.array([0, 0, 0]), lacking, np.array([0, 0]), axis=0)  # from the last dimension on, in front and behind
    pairs = layer("Slice", layer("Reshape", widths, np.array([-1, 2])), np.array([-1]), np.array([-LARGE]), np.array([0]), np.array([-1]))
    x = layer("Pad", "x", layer("Reshape", layer("Transpose", pairs, perm=[1, 0]), np.array([-1])), np.float32(0))
    count = layer("ReduceProd", layer("Shape", x, end=2))
    flat = layer("Reshape", x, layer("Concat", count, np.array([WIDTH]), axis=0))
    blocks = layer("Reshape", layer.linear(flat), np.array([-1, 4, WIDTH]))
    q, k, v = (layer.heads(layer.linear(blocks)) for _ in "qkv")
    layer("Reshape", layer.merged(layer.attention(q, k, v)), layer("Shape", x), out="y")
    case(name, layer, {"x": floats(2, rows, WIDTH)}, {"attn.sdpa": 1}, shapes)


COUNTED = {"x": ["batch", "seq", WIDTH], "past": ["batch", "past", WIDTH]}
counted("counted", shapes=COUNTED)
counted("counted-one-row", rows=1, past=1, shapes=COUNTED)
counted("counted-known")
whole("whole", 5)
whole("whole-fits", 8)
whole("whole-known", 7, shapes=None)


def check(name):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "model.onnx"
        path.write_bytes(GRAPHS[name][0].SerializeToString())
        done = subprocess.run([ATTN_OPT, path, "--compile-to=fused"], capture_output=True, text=True, timeout=300)
    if done.returncode:
        raise Failure(f"attn-opt ends with {done.returncode}: {done.stderr.strip()}")
    for op, count in {**FOUND[name], "math.exp": 0, "linalg.batch_matmul": 0}.items():
        if done.stdout.count(f" {op} ") != count:
            raise Failure(f"has {done.stdout.count(f' {op} ')} {op}, expected {count}")
    check_values(name)


if __name__ == "__main__":
    main(FOUND, check)
