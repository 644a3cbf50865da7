# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attention written in linalg, arith and tensor in many ways, compiled and compared with its definition in NumPy (f64).

Each program must become one attn.sdpa: no product, no softmax and no transpose that its line allows to vanish is left.

  raised.py --only causal --print     one of them, as text"""
import argparse
import subprocess
import sys
import tempfile

import numpy as np

from kernels import Kernel, attn_opt

LOWEST = "0xFF7FFFFF"
INF = "0xFF800000"


class Program:
    """Text of a function in the making; tensors are (name, shape, element)."""

    def __init__(self, seed, dynamic=()):
        self.rng, self.dynamic = np.random.default_rng(seed), dynamic
        self.arguments, self.arrays, self.lines, self.count = [], [], [], 0
        self.attributes = ""

    def type(self, shape, element="f32"):
        return f"tensor<{''.join(f'{n}x' for n in shape)}{element}>"

    def add(self, text):
        self.count += 1
        self.lines.append(f"  %t{self.count} = {text}")
        return f"%t{self.count}"

    def argument(self, shape, element="f32", array=None):
        name = f"%a{len(self.arguments)}"
        array = self.rng.standard_normal(shape).astype(np.float32) if array is None else array
        self.arguments.append(f"{name}: {self.type(shape, element)}")
        self.arrays.append(array)
        return name

    def empty(self, shape, element="f32"):
        return self.add(f"tensor.empty() : {self.type(shape, element)}")

    def splat(self, value, shape, element="f32"):
        return self.add(f"arith.constant dense<{value}> : {self.type(shape, element)}")

    def dense(self, array, element):
        text = np.array2string(array, threshold=10**9, separator=",", formatter={"float_kind": lambda x: INF if x == -np.inf else f"{x:.1f}",
                                                                                    "bool": lambda x: str(bool(x)).lower()})
        return self.add(f"arith.constant dense<{text}> : {self.type(array.shape, element)}".replace("\n", ""))

    def transpose(self, x, shape, order, element="f32"):
        new = [shape[i] for i in order]
        e = self.empty(new, element)
        return self.add(f"linalg.transpose ins({x} : {self.type(shape, element)}) outs({e} : {self.type(new, element)}) permutation = {order}")

    def broadcast(self, x, shape, new, dims, element="f32"):
        e = self.empty(new, element)
        return self.add(f"linalg.broadcast ins({x} : {self.type(shape, element)}) outs({e} : {self.type(new, element)}) dimensions = {dims}")

    def reshape(self, kind, x, old, new, groups, element="f32"):
        sizes = f" output_shape {list(new)}" if kind == "expand" else ""
        return self.add(f"tensor.{kind}_shape {x} {groups}{sizes} : {self.type(old, element)} into {self.type(new, element)}")

    def batch_matmul(self, a, b, m, k, n, batch):
        zero = self.add("arith.constant 0.0 : f32")
        e = self.empty((batch, m, n))
        z = self.add(f"linalg.fill ins({zero} : f32) outs({e} : {self.type((batch, m, n))}) -> {self.type((batch, m, n))}")
        return self.add(f"linalg.batch_matmul ins({a}, {b} : {self.type((batch, m, k))}, {self.type((batch, k, n))}) "
                        f"outs({z} : {self.type((batch, m, n))}) -> {self.type((batch, m, n))}")

    def contract(self, maps, a, sa, b, sb, shape):
        zero = self.add("arith.constant 0.0 : f32")
        e = self.empty(shape)
        z = self.add(f"linalg.fill ins({zero} : f32) outs({e} : {self.type(shape)}) -> {self.type(shape)}")
        texts = ", ".join(f"affine_map<({', '.join('bhqkdn')}) -> ({', '.join(m)})>" for m in maps)
        loops = sorted({c for m in maps for c in m})
        texts = texts.replace(", ".join("bhqkdn"), ", ".join(loops))
        return self.add(f"linalg.contract indexing_maps = [{texts}] ins({a}, {b} : {self.type(sa)}, {self.type(sb)}) "
                        f"outs({z} : {self.type(shape)}) -> {self.type(shape)}")

    def op(self, name, operands, shape, element="f32", types=None):
        return self.add(f"{name} {', '.join(operands)} : {types or self.type(shape, element)}")

    def softmax(self, x, shape):
        e = self.empty(shape)
        return self.add(f"linalg.softmax dimension({len(shape) - 1}) ins({x} : {self.type(shape)}) outs({e} : {self.type(shape)}) -> {self.type(shape)}")

    def generate(self, shape, element, body):
        """`body` has indices %i0 .. and ends with the element %r."""
        ids = ", ".join(f"d{i}" for i in range(len(shape)))
        e, parallel = self.empty(shape, element), ", ".join(['"parallel"'] * len(shape))
        indices = "\n".join(f"    %i{i} = linalg.index {i} : index" for i in range(len(shape)))
        return self.add(f"linalg.generic {{indexing_maps = [affine_map<({ids}) -> ({ids})>], iterator_types = [{parallel}]}} "
                        f"outs({e} : {self.type(shape, element)}) {{\n  ^bb0(%o: {element}):\n{indices}\n{body}\n    linalg.yield %r : {element}\n  }} -> {self.type(shape, element)}")

    def text(self, results):
        types = ", ".join(self.type(s) for _, s in results)
        return (f"func.func @kernel({', '.join(self.arguments)}) -> ({types}){self.attributes} {{\n" + "\n".join(self.lines) +
                f"\n  return {', '.join(n for n, _ in results)} : {types}\n}}\n")


def softmax(scores):
    """Rows that see nothing are 0."""
    largest = np.max(scores, axis=-1, keepdims=True)
    e = np.exp(scores - np.where(np.isinf(largest), 0, largest))
    total = e.sum(axis=-1, keepdims=True)
    return e / np.where(total == 0, 1, total)


class Attention(Program):
    """Four dimensions, and the same in NumPy on the way."""

    def __init__(self, seed, B=2, H=4, KH=None, S=9, T=13, D=16, E=16):
        super().__init__(seed)
        self.B, self.H, self.KH, self.S, self.T, self.D, self.E = B, H, KH or H, S, T, D, E
        self.shape = (B, H, S, T)

    def inputs(self):
        B, H, KH, S, T, D, E = self.B, self.H, self.KH, self.S, self.T, self.D, self.E
        self.q, self.k, self.v = self.argument((B, H, S, D)), self.argument((B, KH, T, D)), self.argument((B, KH, T, E))
        self.Q, self.K, self.V = (a.astype(np.float64) for a in self.arrays[:3])
        return self

    def repeat(self):
        """Key heads once for each query head, as exporters of GQA write it."""
        B, H, KH, T = self.B, self.H, self.KH, self.T
        for name, d in (("k", self.D), ("v", self.E)):
            wide = self.broadcast(getattr(self, name), (B, KH, T, d), (B, KH, H // KH, T, d), [2])
            setattr(self, name, self.reshape("collapse", wide, (B, KH, H // KH, T, d), (B, H, T, d), "[[0], [1, 2], [3], [4]]"))
        self.K, self.V = (np.repeat(x, H // KH, axis=1) for x in (self.K, self.V))
        return self

    def scores(self):
        """By a batch_matmul of joined heads and a transposed key."""
        B, H, S, T, D = self.B, self.H, self.S, self.T, self.D
        kt = self.transpose(self.k, (B, H, T, D), [0, 1, 3, 2])
        q3 = self.reshape("collapse", self.q, (B, H, S, D), (B * H, S, D), "[[0, 1], [2], [3]]")
        k3 = self.reshape("collapse", kt, (B, H, D, T), (B * H, D, T), "[[0, 1], [2], [3]]")
        s3 = self.batch_matmul(q3, k3, S, D, T, B * H)
        self.s = self.reshape("expand", s3, (B * H, S, T), self.shape, "[[0, 1], [2], [3]]")
        self.P = self.Q @ self.K.swapaxes(-1, -2)
        return self

    def direct(self):
        self.s = self.contract(("bhqd", "bhkd", "bhqk"), self.q, (self.B, self.H, self.S, self.D), self.k, (self.B, self.H, self.T, self.D), self.shape)
        self.P = self.Q @ self.K.swapaxes(-1, -2)
        return self

    def scale(self, factor, divide=False):
        c = self.splat(f"{1 / factor if divide else factor:e}", self.shape)
        self.s = self.op("arith.divf" if divide else "arith.mulf", (self.s, c), self.shape)
        self.P = self.P * factor
        return self

    def on_pairs(self, x, shape, element="f32"):
        """Broadcast from the right."""
        dims = list(range(4 - len(shape)))
        kept = [i for i, n in enumerate(shape) if n != 1 or self.shape[4 - len(shape) + i] == 1]
        if len(kept) != len(shape):
            groups, pending = [], []
            for i in range(len(shape)):
                pending.append(i)
                if i in kept:
                    groups.append(pending)
                    pending = []
            groups[-1] += pending
            x = self.reshape("collapse", x, shape, [shape[i] for i in kept], groups, element)
            dims = [i for i in range(4) if i - (4 - len(shape)) not in kept]
        return self.broadcast(x, [shape[i] for i in kept], self.shape, dims, element) if dims else x

    def bias(self, shape):
        b = self.argument(shape)
        self.s = self.op("arith.addf", (self.s, self.on_pairs(b, shape)), self.shape)
        self.P = self.P + self.arrays[-1].astype(np.float64)
        return self

    def exclude(self, seen, condition, low=INF, additive=False, negated=False):
        """`condition` is a tensor of the scores' shape."""
        low, pair = self.splat(low, self.shape), self.type(self.shape, "i1")
        kept = self.splat("0.0", self.shape) if additive else self.s
        choice = (condition, low, kept) if negated else (condition, kept, low)
        made = self.op("arith.select", choice, self.shape, types=f"{pair}, {self.type(self.shape)}")
        self.s = self.op("arith.addf", (self.s, made), self.shape) if additive else made
        self.P = np.where(seen, self.P, -np.inf)
        return self

    def indices(self):
        return np.arange(self.S)[:, None], np.arange(self.T)[None, :]

    def causal(self, offset=0, **how):
        i, j = self.indices()
        c = self.generate((self.S, self.T), "i1", f"    %c = arith.constant {offset} : index\n    %x = arith.addi %i0, %c : index\n"
                          "    %r = arith.cmpi sle, %i1, %x : index")
        return self.exclude(j <= i + offset, self.on_pairs(c, (self.S, self.T), "i1"), **how)

    def allowed(self, shape, **how):
        seen = self.rng.integers(0, 2, shape).astype(bool)
        m = self.argument(shape, "i1", seen)
        return self.exclude(~seen if how.get("negated") else seen, self.on_pairs(m, shape, "i1"), **how)

    def constant_mask(self, seen):
        values = np.where(seen, 0.0, -np.inf)
        c = self.dense(values, "f32")
        self.s = self.op("arith.addf", (self.s, self.on_pairs(c, seen.shape)), self.shape)
        self.P = np.where(seen, self.P, -np.inf)
        return self

    def map(self, names, function):
        for name in names:
            self.s = self.op(f"math.{name}", (self.s,), self.shape)
        self.P = function(self.P)
        return self

    def alibi(self):
        """slopes[h] * (j - i), by tensors of the scores' shape."""
        slopes = self.argument((self.H,))
        distance = self.generate((self.S, self.T), "f32", "    %d = arith.subi %i1, %i0 : index\n    %w = arith.index_cast %d : index to i64\n"
                                 "    %r = arith.sitofp %w : i64 to f32")
        wide = self.broadcast(slopes, (self.H,), self.shape, [0, 2, 3])
        bias = self.op("arith.mulf", (wide, self.on_pairs(distance, (self.S, self.T))), self.shape)
        self.s = self.op("arith.addf", (self.s, bias), self.shape)
        i, j = self.indices()
        self.P = self.P + self.arrays[-1].astype(np.float64)[:, None, None] * (j - i)
        return self

    def weights(self, guard=False):
        self.w = self.softmax(self.s, self.shape)
        if guard:
            nan = self.op("arith.cmpf uno,", (self.w, self.w), self.shape)
            zero = self.splat("0.0", self.shape)
            self.w = self.op("arith.select", (nan, zero, self.w), self.shape, types=f"{self.type(self.shape, 'i1')}, {self.type(self.shape)}")
        self.W = softmax(self.P)
        return self

    def context(self):
        B, H, S, T, E = self.B, self.H, self.S, self.T, self.E
        w3 = self.reshape("collapse", self.w, self.shape, (B * H, S, T), "[[0, 1], [2], [3]]")
        v3 = self.reshape("collapse", self.v, (B, H, T, E), (B * H, T, E), "[[0, 1], [2], [3]]")
        o3 = self.batch_matmul(w3, v3, S, T, E, B * H)
        self.o = self.reshape("expand", o3, (B * H, S, E), (B, H, S, E), "[[0, 1], [2], [3]]")
        self.O = self.W @ self.V
        return self

    def done(self):
        self.weights().context()
        return [(self.o, (self.B, self.H, self.S, self.E), self.O)]


def layer(seed):
    """Heads split from rows and merged again, with transposes on both ways."""
    a = Attention(seed)
    B, H, S, T, D, E = a.B, a.H, a.S, a.T, a.D, a.E
    arrays = []
    for name, n, d in (("q", S, D), ("k", T, D), ("v", T, E)):
        x = a.argument((B, n, H * d))
        split = a.reshape("expand", x, (B, n, H * d), (B, n, H, d), "[[0], [1], [2, 3]]")
        setattr(a, name, a.transpose(split, (B, n, H, d), [0, 2, 1, 3]))
        arrays.append(a.arrays[-1].astype(np.float64).reshape(B, n, H, d).swapaxes(1, 2))
    a.Q, a.K, a.V = arrays
    a.scores().scale(0.25).causal().weights().context()
    back = a.transpose(a.o, (B, H, S, E), [0, 2, 1, 3])
    merged = a.reshape("collapse", back, (B, S, H, E), (B, S, H * E), "[[0], [1], [2, 3]]")
    return a, [(merged, (B, S, H * E), a.O.swapaxes(1, 2).reshape(B, S, H * E))]


def two_results(seed):
    a = Attention(seed).inputs().scores().scale(0.25).weights().context()
    return a, [(a.o, (a.B, a.H, a.S, a.E), a.O), (a.w, a.shape, a.W)]


def matrices(seed):
    """Rank 2, with a key that is read transposed by the product."""
    a = Attention(seed, B=1, H=1)
    q, k, v = a.argument((a.S, a.D)), a.argument((a.T, a.D)), a.argument((a.T, a.E))
    Q, K, V = (x.astype(np.float64) for x in a.arrays)
    s = a.contract(("qd", "kd", "qk"), q, (a.S, a.D), k, (a.T, a.D), (a.S, a.T))
    w = a.softmax(s, (a.S, a.T))
    o = a.contract(("qk", "kd", "qd"), w, (a.S, a.T), v, (a.T, a.E), (a.S, a.E))
    return a, [(o, (a.S, a.E), softmax(Q @ K.T) @ V)]


def lowest(a, **how):
    a.attributes = " attributes {attn.lowest_excludes}"
    return a.causal(low=LOWEST, **how)


def of(make, **sizes):
    def build(seed):
        a = Attention(seed, **sizes)
        return a, make(a.inputs()).done()
    return build


def band(a):
    i, j = a.indices()
    return a.constant_mask((j <= i + 2) & (j >= i - 4))


def arbitrary(a):
    return a.constant_mask(a.rng.integers(0, 2, (a.S, a.T)).astype(bool))


CASES = {
    "plain": of(lambda a: a.scores()),
    "direct": of(lambda a: a.direct().scale(0.25)),
    "divided": of(lambda a: a.scores().scale(0.25, divide=True)),
    "gqa": of(lambda a: a.repeat().scores().scale(0.25).causal(), KH=2),
    "mqa": of(lambda a: a.repeat().scores().scale(0.25), KH=1),
    "one_head": of(lambda a: a.scores().scale(0.25).causal(), B=1, H=1),
    "one_row": of(lambda a: a.scores().scale(0.25).bias((4, 1, 13)), S=1),
    "one_key": of(lambda a: a.scores().scale(0.25), T=1),
    "causal": of(lambda a: a.scores().scale(0.25).causal()),
    "causal_offset": of(lambda a: a.direct().scale(0.25).causal(offset=-3, additive=True)),
    "negated": of(lambda a: a.scores().allowed((9, 13), negated=True)),
    "lowest": of(lambda a: lowest(a.scores().scale(0.25), offset=-2)),
    "lowest_added": of(lambda a: lowest(a.scores().scale(0.25), offset=4, additive=True)),
    "padding": of(lambda a: a.scores().scale(0.25).allowed((2, 1, 1, 13))),
    "both": of(lambda a: a.scores().scale(0.25).allowed((2, 1, 1, 13)).causal()),
    "bias": of(lambda a: a.scores().scale(0.25).bias((4, 9, 13)).causal()),
    "biases": of(lambda a: a.scores().scale(0.25).bias((4, 9, 13)).bias((13,)).causal()),
    "scale_behind_bias": of(lambda a: a.scores().bias((2, 1, 9, 13)).scale(0.5)),
    "scale_behind_mask": of(lambda a: a.scores().causal().scale(0.25)),
    "function": of(lambda a: a.scores().scale(0.05).map(["tanh"], np.tanh).scale(20.0).causal()),
    "function_behind_mask": of(lambda a: a.scores().scale(0.25).causal().map(["tanh"], np.tanh)),
    "alibi": of(lambda a: a.scores().scale(0.25).alibi().causal()),
    "band": of(lambda a: band(a.scores().scale(0.25))),
    "arbitrary": of(lambda a: arbitrary(a.scores().scale(0.25))),
    "layer": layer,
    "two_results": two_results,
    "matrices": matrices,
}


def leftover(text, folder):
    """What of the specification is neither fused nor around it."""
    path = f"{folder}/spec.mlir"
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    fused = subprocess.run([attn_opt(), path, "--compile-to=fused"], check=True, capture_output=True, text=True).stdout
    body = fused[:fused.index("func.func private")] if "func.func private" in fused else fused
    found = [op for op in ("linalg.softmax", "linalg.batch_matmul", "linalg.contract", "linalg.transpose", "linalg.reduce") if op in body]
    return found if body.count("attn.sdpa") == 1 else [*found, "no attn.sdpa"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="cases whose name has this")
    parser.add_argument("--print", action="store_true", help="print the specifications")
    parser.add_argument("--target", default="native")
    options = parser.parse_args()
    failures = 0
    for number, (name, build) in enumerate(CASES.items()):
        if options.only not in name:
            continue
        program, results = build(number)
        text = program.text([(n, s) for n, s, _ in results])
        if options.print:
            print(text)
        with tempfile.TemporaryDirectory() as folder:
            left = leftover(text, folder)
            kernel = Kernel(text, folder, target=options.target)
            outputs = [np.empty(s, np.float32) for _, s, _ in results]
            kernel([np.ascontiguousarray(a) for a in program.arrays], outputs)
        worst = max(np.abs(o - e).max() for o, (_, _, e) in zip(outputs, results))
        good = not left and worst < 2e-5
        failures += not good
        if not good:
            print(f"FAILED {name}: largest error {worst:.2e}{', left: ' + ', '.join(left) if left else ''}")
    print(f"{len(CASES)} programs, {failures} failures")
    return failures > 0


if __name__ == "__main__":
    sys.exit(main())
