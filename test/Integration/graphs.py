# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random graphs of the textbook ops, compiled and compared with their definition in NumPy (f64).

A graph takes scales, score functions, a bias, masks, sinks, layouts, second users of intermediate values and grouped
heads in any order that attn.sdpa has. Every result must lie within what f32 may be off: each step carries a bound on
the error of its f32 result (rounding.py), so that large scores need no guessed tolerance. And over all graphs together
the errors must be like those of the same steps done in f32 by NumPy: a bound alone would hide a lost digit.

  graphs.py --count 500 --seed 7     more of them, or others
  graphs.py --only 42 --print        one of them"""
import argparse
import sys
import tempfile

import numpy as np

import rounding
from kernels import load_kernel, reference
from rounding import Scores

# How much larger than those of the same steps in f32 by NumPy errors may be, in the mean.
MOST_WORSE = 1.5
LENGTHS = [(1, 1, 1), (2, 5, 9), (1, 33, 20), (2, 17, 70), (1, 100, 131)]


class Mask:
    """A mask as text, its operands (name -> (type, array)), and the pairs that it sees."""

    def __init__(self, text, seen, operands=None):
        self.text, self.seen, self.operands = text, seen, operands or {}

    def joined(self, word, other):
        seen = self.seen & other.seen if word == "and" else self.seen | other.seen
        return Mask(f"({self.text} {word} {other.text})", seen, {**self.operands, **other.operands})

    def negated(self):
        return Mask(f"not ({self.text})", ~self.seen, self.operands)


class Graph:
    def __init__(self, seed):
        self.rng = rng = np.random.default_rng(seed)
        self.batch, self.queries, self.keys = LENGTHS[rng.integers(len(LENGTHS))]
        self.sizes = {"B": self.batch, "Q": self.queries, "K": self.keys}
        self.group, self.key_heads = int(rng.choice([1, 1, 2, 3])), int(rng.choice([1, 2]))
        self.heads = self.group * self.key_heads
        self.dim, self.value_dim = int(rng.choice([8, 16, 24, 40, 64])), int(rng.choice([8, 16, 40]))
        self.dynamic = bool(rng.integers(2))
        while True:
            self.arguments, self.arrays, self.lines = [], [], []
            self.results, self.count = [], 0  # results: (name, type, f64, bound, f32)
            if self.make():
                break

    # --- text ---

    def name(self, stem):
        self.count += 1
        return f"%{stem}{self.count}"

    def tensor(self, *shape, of="f32"):
        text = ["?" if self.dynamic and n in self.sizes else str(self.sizes.get(n, n)) for n in shape]
        return f"tensor<{'x'.join([*text, of])}>"

    def argument(self, stem, type, array):
        name = self.name(stem)
        self.arguments.append(f"{name}: {type}")
        self.arrays.append(array)
        return name

    def op(self, stem, text):
        name = self.name(stem)
        self.lines.append(f"  {name} = {text}")
        return name

    @property
    def scores_type(self):
        return self.tensor("B", self.heads, "Q", "K")

    def text(self):
        types = ", ".join(type for _, type, *_ in self.results)
        return (f"func.func @kernel({', '.join(self.arguments)}) -> ({types}) {{\n" + "\n".join(self.lines) +
                f"\n  return {', '.join(name for name, *_ in self.results)} : {types}\n}}\n")

    # --- inputs ---

    def normal(self, *shape):
        return self.rng.standard_normal(shape).astype(np.float32)

    def heads_of(self, stem, length, heads, dim, size=1):
        """An input as it may stand in a model: with heads first, with the sequence first, or with joined heads."""
        array = self.normal(self.batch, heads, self.sizes[length], dim) * np.float32(size)
        final, form = self.tensor("B", heads, length, dim), self.rng.integers(3)
        if form == 0:
            return self.argument(stem, final, array), array
        by_row = np.ascontiguousarray(array.transpose(0, 2, 1, 3))
        if form == 1:
            joined = self.argument(stem, self.tensor("B", length, heads * dim), by_row.reshape(self.batch, self.sizes[length], -1))
            type = self.tensor("B", length, heads * dim)
            return self.op(stem, f"attn.split_heads {joined} into {heads} : {type} -> {final}"), array
        type = self.tensor("B", length, heads, dim)
        source = self.argument(stem, type, by_row)
        sizes = []
        for axis, name in enumerate(("B", length)):
            if self.dynamic:
                at = self.op("c", f"arith.constant {axis} : index")
                sizes.append(self.op("size", f"tensor.dim {source}, {at} : {type}"))
        empty = self.op("empty", f"tensor.empty({', '.join(sizes)}) : {final}")
        return self.op(stem, f"linalg.transpose ins({source} : {type}) outs({empty} : {final}) "
                             "permutation = [0, 2, 1, 3]"), array

    def scaled_input(self, name, type, factor):
        return self.op("scaled", f"attn.scale {name} by {factor!r} : {type}")

    # --- masks ---

    def random_term(self):
        rng, n = self.rng, self.tensor("B", of="i32")
        q, k = np.arange(self.queries)[:, None], np.arange(self.keys)[None, :]
        whole = lambda seen: np.broadcast_to(seen, (self.batch, self.heads, self.queries, self.keys))
        per_batch = lambda x: x[:, None, None, None]
        ints = lambda low, high: rng.integers(low, high + 1, self.batch).astype(np.int32)
        kind = rng.integers(9)
        if kind == 0:
            at, start = self.position()
            return Mask(f"causal({at})", whole(k <= q + start))
        if kind == 1:
            left, right = (int(x) for x in rng.integers(0, 40, 2))
            return Mask(f"window(left = {left}, right = {right})", whole((k >= q - left) & (k <= q + right)))
        if kind == 2:
            count = ints(0, self.keys)
            name = self.argument("count", n, count)
            return Mask(f"prefix({name} : {n})", whole(k < per_batch(count)))
        if kind == 3:
            sinks = int(rng.integers(1, 6))
            return Mask(f"sink({sinks})", whole(k < sinks))
        if kind == 4:
            size = int(rng.integers(2, 50))
            return Mask(f"chunked({size})", whole(q // size == k // size))
        if kind == 5:
            step = int(rng.integers(2, 5))
            return Mask(f"dilated({step})", whole((q - k) % step == 0))
        if kind == 6:
            m, w, bits = int(rng.integers(3, 40)), int(rng.integers(3, 40)), rng.integers(0, 2, (3, 4))
            bits[0, 0] = 1
            row, column = np.broadcast_arrays(q // m, k // w)
            seen = (row < 3) & (column < 4) & (bits[np.minimum(row, 2), np.minimum(column, 3)] != 0)
            return Mask(f"block({m}, {w}, bits = {bits.tolist()})", whole(seen))
        if kind == 7:
            ids_q, ids_k = (np.sort(rng.integers(0, 3, s)).astype(np.int32) for s in (self.queries, self.keys))
            tq, tk = self.tensor("Q", of="i32"), self.tensor("K", of="i32")
            a, b = self.argument("ids", tq, ids_q), self.argument("ids", tk, ids_k)
            return Mask(f"document({a} : {tq}, {b} : {tk})", whole(ids_q[q] == ids_k[k]))
        allowed = rng.random((self.heads, 1, self.keys)) < 0.7
        type = self.tensor(self.heads, 1, "K", of="i1")
        return Mask(f"{self.argument('allowed', type, allowed)} : {type}", whole(allowed))

    def position(self):
        offset = int(self.rng.integers(-5, 20))
        return [("top_left", 0), ("bottom_right", self.keys - self.queries),
                (f"offset = {offset}", offset)][self.rng.integers(3)]

    def random_mask(self, depth):
        if depth == 0:
            return self.random_term()
        mask = self.random_mask(depth - 1).joined(str(self.rng.choice(["and", "or"])), self.random_mask(0))
        return mask.negated() if self.rng.random() < 0.2 else mask

    def mask_step(self, s):
        if self.rng.random() < 0.2:
            return self.predicate_step(s)
        mask = self.random_mask(int(self.rng.integers(3)))
        text = mask.text[1:-1] if mask.text.startswith("(") else mask.text
        name = self.op("masked", f"attn.mask {s.name} where {text} : {self.scores_type}")
        return s.excluded(name, mask.seen)

    def predicate_step(self, s):
        width = self.rng.integers(0, 40, self.heads).astype(np.int32)
        type = self.tensor(self.heads, of="i32")
        name = self.op("masked", f"""attn.mask_fn {s.name} (%b, %h, %q, %k) with (%w = {self.argument("width", type, width)} : {type}) {{
    %distance = arith.subi %q, %k : index
    %narrow = tensor.extract %w[%h] : {type}
    %limit = arith.index_cast %narrow : i32 to index
    %near = arith.cmpi sle, %distance, %limit : index
    attn.yield %near : i1
  }} : {self.scores_type}""")
        q, k = np.arange(self.queries)[:, None], np.arange(self.keys)[None, :]
        return s.excluded(name, np.broadcast_to(q - k <= width[:, None, None], s.exact.shape))

    # --- steps on the scores ---

    def scale_step(self, s, factor):
        return s.scaled(self.op("scaled", f"attn.scale {s.name} by {factor!r} : {self.scores_type}"), factor)

    def bias_step(self, s):
        shape = [("B", self.heads, "Q", "K"), (self.heads, "Q", "K"), (1, "K"), ("B", 1, 1, "K"),
                 ("Q", 1)][self.rng.integers(5)]
        bias = self.normal(*(self.sizes.get(n, n) for n in shape))
        bias[self.rng.random(bias.shape) < 0.1] = -np.inf
        type = self.tensor(*shape)
        operand = self.argument("bias", type, bias)
        return s.biased(self.op("biased", f"attn.bias {s.name}, {operand} : {self.scores_type}, {type}"), bias)

    def function_step(self, s):
        return [self.softcap_step, self.alibi_step, self.table_step, self.square_step][self.rng.integers(4)](s)

    def softcap_step(self, s):
        cap = float(self.rng.choice([2.0, 30.0]))
        return s.capped(self.op("capped", f"attn.softcap {s.name} at {cap!r} : {self.scores_type}"), cap)

    def alibi_step(self, s):
        slopes = np.abs(self.normal(self.heads)) / 8
        type = self.tensor(self.heads)
        operand = self.argument("slopes", type, slopes)
        at = [("top_left", 0), ("bottom_right", self.keys - self.queries)][self.rng.integers(2)]
        name = self.op("sloped", f"attn.alibi {s.name}, {operand} aligned {at[0]} : {self.scores_type}, {type}")
        q, k = np.arange(self.queries)[:, None], np.arange(self.keys)[None, :]
        return s.plus_product(name, slopes[:, None, None], (k - q - at[1]).astype(np.float64))

    def table_step(self, s):
        table = self.normal(self.heads, 31)
        type = self.tensor(self.heads, 31)
        name = self.op("moved", f"""attn.score_mod {s.name} (%s: f32, %b, %h, %q, %k) with (%t = {self.argument("table", type, table)} : {type}) {{
    %middle = arith.constant 15 : index
    %distance = arith.subi %q, %k : index
    %at = arith.addi %distance, %middle : index
    %x = tensor.extract %t[%h, %at] : {type}
    %y = arith.addf %s, %x : f32
    attn.yield %y : f32
  }} : {self.scores_type}""")
        q, k = np.arange(self.queries)[:, None], np.arange(self.keys)[None, :]
        return s.plus_product(name, table[:, np.clip(q - k + 15, 0, 30)], np.ones(1))

    def square_step(self, s):
        name = self.op("bent", f"""attn.score_mod {s.name} (%s: f32, %b, %h, %q, %k) {{
    %size = math.absf %s : f32
    %c = arith.constant 0.125 : f32
    %x = arith.mulf %s, %size : f32
    %y = arith.mulf %x, %c : f32
    attn.yield %y : f32
  }} : {self.scores_type}""")
        return s.bent(name, 0.125)

    # --- the whole ---

    def make(self):
        rng = self.rng
        q, queries = self.heads_of("q", "Q", self.heads, self.dim, rng.choice([0.25, 1, 4]))
        k, keys = self.heads_of("k", "K", self.key_heads, self.dim)
        v, values = self.heads_of("v", "K", self.key_heads, self.value_dim)
        tq, tk = self.tensor("B", self.heads, "Q", self.dim), self.tensor("B", self.key_heads, "K", self.dim)
        factor = 1.0
        for name, type, chance in (("q", tq, 0.3), ("k", tk, 0.2)):
            if rng.random() < chance:
                part = float(rng.choice([self.dim**-0.5, self.dim**-0.25, 0.3]))
                factor *= part
                q, k = (self.scaled_input(q, type, part), k) if name == "q" else (q, self.scaled_input(k, type, part))
        s = Scores.of(self.op("scores", f"attn.scores {q}, {k} : ({tq}, {tk}) -> {self.scores_type}"), queries, keys,
                      self.group, factor)
        stages = [s]
        if rng.random() < 0.7:
            s = self.scale_step(s, float(rng.choice([self.dim**-0.5, 0.3, -0.2, 1.7])))
            stages.append(s)
        for chance, step in ((0.35, self.function_step), (0.2, self.function_step), (0.4, self.bias_step),
                             (0.6, self.mask_step), (0.2, self.mask_step)):
            if rng.random() < chance:
                s = step(s)
                stages.append(s)
        self.finish(s, stages, v, values)
        return not s.hidden.all()  # a mask that sees nothing may be refused

    def finish(self, s, stages, v, values):
        rng, sinks, text = self.rng, None, ""
        if rng.random() < 0.2:
            sinks = self.normal(self.heads)
            type = self.tensor(self.heads)
            text = f" sinks {self.argument('sinks', type, sinks)} : {type}"
        weights = self.op("weights", f"attn.softmax {s.name}{text} : {self.scores_type}")
        softmax = s.softmax(sinks)
        self.context(weights, softmax, v, values)
        if rng.random() < 0.2:
            v, values = self.heads_of("v", "K", self.key_heads, self.value_dim)
            self.context(weights, softmax, v, values)
        if rng.random() < 0.3:
            self.results.append((weights, self.scores_type, *softmax.weights()))
        if rng.random() < 0.3:
            stage = s if rng.random() < 0.5 else stages[0]
            self.results.append((stage.name, self.scores_type, *stage.result()))

    def context(self, weights, softmax, v, values):
        tv, to = self.tensor("B", self.key_heads, "K", self.value_dim), self.tensor("B", self.heads, "Q", self.value_dim)
        out = self.op("out", f"attn.context {weights}, {v} : ({self.scores_type}, {tv}) -> {to}")
        result = softmax.context(values, self.group)
        if self.rng.random() < 0.5:
            self.results.append((out, to, *result))
            return
        joined = self.tensor("B", "Q", self.heads * self.value_dim)
        out = self.op("joined", f"attn.merge_heads {out} : {to} -> {joined}")
        join = lambda x: x.transpose(0, 2, 1, 3).reshape(self.batch, self.queries, -1)
        self.results.append((out, joined, *map(join, result)))


def check(graph, folder, target):
    """Errors of the kernel and of NumPy's f32, per result."""
    kernel = load_kernel(graph.text(), folder, target=target)
    outputs = [np.full(exact.shape, np.nan, np.float32) for _, _, exact, _, _ in graph.results]
    outputs = kernel(graph.arrays, outputs, threads=2)
    errors = [rounding.check(name, got, exact, bound, plain)
              for got, (name, _, exact, bound, plain) in zip(outputs, graph.results)]
    if graph.queries * graph.keys < 1000:
        wanted = reference(kernel.source, graph.arrays, len(graph.results), folder)
        for want, (name, _, exact, bound, plain) in zip(wanted, graph.results):
            rounding.check(name + " of the Reference", want, exact, bound, plain)
    return errors


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--target", default="native")
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", type=int)
    parser.add_argument("--print", action="store_true", help="the graphs, too")
    options = parser.parse_args()
    seeds = [options.only] if options.only is not None else range(options.seed, options.seed + options.count)
    failures, used, worse = [], [], []
    for seed in seeds:
        graph = Graph(seed)
        if options.print:
            print(graph.text())
        try:
            with tempfile.TemporaryDirectory() as folder:
                for share, ratio in check(graph, folder, options.target):
                    used.append(share)
                    worse.append(ratio)
        except Exception as error:
            failures.append(f"graph {seed} ({graph.batch} x {graph.heads} x {graph.queries} x {graph.keys}): {error}")
    # The mean over all results: single ones may be lucky.
    ratio = np.exp(np.mean([np.log(ours / numpys) for ours, numpys in worse if ours and numpys] or [0]))
    if ratio > MOST_WORSE:
        failures.append(f"errors are {ratio:.2f} times those of NumPy's f32")
    for failure in failures:
        print("FAILED", failure)
    print(f"{len(seeds)} graphs, {len(failures)} failed; {len(used)} results, at most {max(used, default=0):.2f} of the "
          f"bound; errors {ratio:.2f} times those of NumPy's f32")
    sys.exit(1 if failures or not used else 0)


if __name__ == "__main__":
    main()
