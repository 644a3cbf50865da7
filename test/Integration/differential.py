# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Differential attention: the difference of two attentions in f64, computed map by map, and the project's Reference.
Masks, groups, biases, score functions, sinks, layouts, types, few and many queries; rows that see no key."""
import argparse
import tempfile

import numpy as np

import elements
from kernels import attention, compare, finish, load_kernel, reference, scores_of, weigh
from masks import TERMS, Sizes
from values import BOTTOM, CAUSAL, PADDED, Case, mask_text

FUNCTION = """attn.score_mod {of} (%s: f32, %b, %h, %i, %j) with (%t = %table : tensor<{heads}x41xf32>) {{
    %c = arith.constant 20 : index
    %d = arith.subi %j, %i : index
    %at = arith.addi %d, %c : index
    %x = tensor.extract %t[%h, %at] : tensor<{heads}x41xf32>
    %y = arith.addf %s, %x : f32
    attn.yield %y : f32
  }}"""


class Differential(Case):
    """The textbook steps of two maps; with `fused`, one attn.sdpa whose operands have the layout bshd. `term` is a mask of
    masks.py, `factors` the number of lambdas (0: a number without a dimension), `sinks` their size."""

    def __init__(self, name, dk=64, term=None, factors=None, function=False, sinks=None, fused=False, sigmoid=False, **options):
        super().__init__(name, dk, **options)
        self.sigmoid, self.sum_scale = sigmoid, 1
        self.term, self.function, self.sinks, self.fused = term and TERMS[term], function, sinks, fused
        self.factors = self.heads if factors is None else factors

    def types(self):
        b, sq, skv = self.sizes or ("?", "?", "?")
        dims = lambda *d: f"tensor<{''.join(f'{x}x' for x in d)}"
        four = lambda h, s, d: dims(b, s, h, d) if self.fused else dims(b, h, s, d)
        hkv, wide = self.heads // self.group, self.wide_type
        factors = dims(self.factors) if self.factors else "tensor<"
        types = {"q": four(self.heads, sq, self.dk) + self.query_type, "k": four(hkv, skv, self.dk) + self.query_type,
                 "v": four(hkv, skv, self.dv) + self.value_type, "out": four(self.heads, sq, self.dv) + self.value_type,
                 "scores": dims(b, self.heads, sq, skv) + wide, "lambda": factors + wide, "sinks": dims(self.heads) + wide}
        if self.bias:
            types["bias"] = dims(*(self.dims(d, (b, sq, skv)) for d in self.bias)) + wide
        return {name: of + ">" for name, of in types.items()}

    def operands(self):
        """Names and types of what the mask reads."""
        if self.term:
            return {name: of for name, (of, _) in self.term[1].items()}
        b = (self.sizes or "?")[0]
        return {value[1] if isinstance(value, tuple) else value: f"tensor<{b}xi32>" for term, value in self.mask
                if term == "key_length" or isinstance(value, tuple)}

    def where(self):
        return self.term[0] if self.term else mask_text(self.mask, (self.sizes or "?")[0])

    def steps(self, map, types):
        """The lines of one map, from its scores to its weights."""
        s, lines = types["scores"], []
        def step(text):
            lines.append(f"  %x{map}_{len(lines)} = {text}")
        last = lambda: f"%x{map}_{len(lines) - 1}"
        step(f"attn.scores %q{map}, %k{map} : ({types['q']}, {types['k']}) -> {s}")
        step(f"attn.scale {last()} by {float(self.scale)!r} : {s}")
        if self.function:
            step(FUNCTION.format(of=last(), heads=self.heads) + f" : {s}")
        if self.bias:
            step(f"attn.bias {last()}, %bias : {s}, {types['bias']}")
        if self.where():
            step(f"attn.mask {last()} where {self.where()} : {s}")
        sinks = f" sinks %sinks : {types['sinks']}" if self.sinks else ""
        step(f"attn.{'sigmoid' if self.sigmoid else 'softmax'} {last()}{sinks} : {s}")
        return lines, last()

    def body(self, types):
        if self.fused:
            layouts = ", ".join(f"{n}_layout = #attn<layout bshd>" for n in ("query", "key", "value", "out"))
            return (f"  %out = attn.sdpa %q, %k, %v minus %q2, %k2 by %lambda : {types['lambda']} scale {float(self.scale)!r} "
                    f"where {self.where()} {{{layouts}}} : ({types['q']}, {types['k']}, {types['v']}) -> {types['out']}\n")
        (first, w1), (second, w2) = (self.steps(map, types) for map in ("", "2"))
        s = types["scores"]
        return "\n".join([*first, *second, f"  %w = attn.subtract_weights {w1}, {w2} by %lambda : {s}, {types['lambda']}",
                          f"  %out = attn.context %w, %v : ({s}, {types['v']}) -> {types['out']}", ""])

    def text(self):
        types = self.types()
        arguments = {name: types[name] for name in "qkv"}
        if self.bias:
            arguments["bias"] = types["bias"]
        arguments.update(self.operands())
        arguments.update({"q2": types["q"], "k2": types["k"], "lambda": types["lambda"]})
        if self.function:
            arguments["table"] = f"tensor<{self.heads}x41xf32>"
        if self.sinks:
            arguments["sinks"] = types["sinks"]
        listed = ", ".join(f"%{name}: {of}" for name, of in arguments.items())
        return f"func.func @kernel({listed}) -> {types['out']} {{\n{self.body(types)}  return %out : {types['out']}\n}}\n"

    def inputs(self, sizes, rng, poison=False):
        arrays = super().inputs(sizes, rng)
        if self.term:
            arrays.update({name: make(rng, Sizes(*sizes)) for name, (_, make) in self.term[1].items()})
        arrays["q2"], arrays["k2"] = (elements.store(rng.standard_normal(arrays[x].shape), self.query_type) for x in "qk")
        wide = elements.STORED[self.wide_type]
        arrays["lambda"] = rng.uniform(-0.5, 1, (self.factors,) if self.factors else ()).astype(wide)
        if self.function:
            arrays["table"] = rng.standard_normal((self.heads, 41)).astype(np.float32)
        if self.sinks:
            arrays["sinks"] = (self.sinks * rng.standard_normal(self.heads)).astype(wide)
        if poison:
            b, sq, skv = sizes
            seen = self.visible(arrays, sizes)
            hidden = ~seen.reshape(b, -1, self.group, sq, skv).any(axis=(2, 3))
            arrays["k"][hidden] = arrays["k2"][hidden] = elements.store(np.nan, self.query_type)
            arrays["v"][hidden] = elements.store(np.inf, self.value_type)
        return arrays

    def visible(self, arrays, sizes):
        if not self.term:
            return super().visible(arrays, sizes)
        b, sq, skv = sizes
        q, k = np.arange(sq)[:, None], np.arange(skv)[None, :]
        sees = lambda i, h: np.broadcast_to(self.term[2](arrays, i, h, q, k, Sizes(*sizes)), (sq, skv))
        return np.array([[sees(i, h) for h in range(self.heads)] for i in range(b)])

    def expected(self, arrays, sizes):
        table, seen = arrays.get("table"), self.visible(arrays, sizes)
        modify = (lambda s, b, h, q, k: s + table.astype(np.float64)[h, np.clip(k - q + 20, 0, 40)]) if self.function else None
        if self.sigmoid:
            map = lambda q, k: self.by_sigmoid(arrays[q], arrays[k], arrays["v"], seen)
        else:
            map = lambda q, k: attention(arrays[q], arrays[k], arrays["v"], self.scale, seen, arrays.get("bias"), modify,
                                         arrays.get("sinks"))[0]
        first, second = map("q", "k"), map("q2", "k2")
        factors = np.broadcast_to(np.atleast_1d(arrays["lambda"]).astype(np.float64), self.heads)[:, None, None]
        return [first - np.where(second == 0, 0, factors * second)]

    def by_sigmoid(self, q, k, v, seen):
        q, k, v = (elements.numbers(x) for x in (q, k, v))
        k, v = (np.repeat(x, self.group, axis=1) for x in (k, v))
        with np.errstate(all="ignore"):
            weights = np.where(seen, 1 / (1 + np.exp(-self.scale * scores_of(q, k))), 0)
        self.sum_scale = max(1, k.shape[2] ** 0.5)  # a row's weights do not add up to 1
        return weigh(weights, v)

    def in_memory(self, array):
        """The array as the kernel has it, or back."""
        return np.ascontiguousarray(array.swapaxes(1, 2)) if self.fused and array.ndim == 4 else array

    def outputs(self, sizes):
        b, sq, _ = sizes
        return [self.in_memory(elements.empty((b, self.heads, sq, self.dv), self.value_type))]

    def compare(self, what, got, want):
        limits = elements.tolerance(self.value_type, want[0], self.error_scale)
        limits["atol"] = limits["atol"] * 2 * self.sum_scale  # the errors of two maps
        return compare(f"{self.name} {what}", got[0], want[0], **limits)


CASES = [
    *(Differential(f"dim{d}", d) for d in (1, 17, 72, 128)), Differential("paper", 64, dv=128, mask=CAUSAL, heads=4, group=2),
    Differential("bottom", 40, mask=BOTTOM, heads=6, group=3), Differential("mqa", 64, heads=4, group=4, factors=1),
    Differential("one_factor", 64, mask=CAUSAL, factors=0), Differential("padding", 64, mask=[*PADDED, *BOTTOM]),
    Differential("value_narrow", 72, dv=5, mask=CAUSAL), Differential("bias", 40, bias="bhqk", mask=PADDED),
    Differential("bias_row", 64, bias="1k"), Differential("function", 40, function=True, mask=CAUSAL),
    Differential("sinks", 64, sinks=2, mask=BOTTOM), Differential("all", 40, bias="hqk", function=True, sinks=1, mask=PADDED),
    *(Differential(term, 16, term=term) for term in ("window", "sink_window", "document", "in_document", "block_operand",
                                                     "chunked", "tree_live")),
    Differential("bshd", 40, dv=24, fused=True, mask=CAUSAL, heads=4, group=2),
    Differential("bshd_f16", 40, fused=True, mask=BOTTOM, types=("f16", "f16")),
    *(Differential(f"{q}_{v}", 64, types=(q, v), mask=m, heads=4, group=2)
      for q, v, m in [("f16", "f16", CAUSAL), ("bf16", "bf16", ()), ("f64", "f64", BOTTOM), ("f16", "f32", PADDED)]),
    Differential("bf16_odd", 17, dv=5, types=("bf16", "bf16"), mask=BOTTOM),
    Differential("sigmoid", 40, sigmoid=True, mask=PADDED, heads=4, group=2), Differential("sigmoid_bf16", 64, sigmoid=True, types=("bf16", "bf16")),
    Differential("static", 64, sizes=(2, 37, 130), mask=CAUSAL), Differential("static_one", 64, sizes=(1, 1, 700)),
]
LENGTHS = [(1, 1, 1), (2, 7, 3), (1, 1, 1500), (3, 17, 131), (1, 130, 129), (2, 300, 211)]


def check(case, kernel, sizes, seed, folder, poison):
    arrays = case.inputs(sizes, np.random.default_rng(seed), poison)
    inputs = [case.in_memory(x) for x in arrays.values()]
    got = kernel(inputs, case.outputs(sizes), 1 + seed % 3)
    want = case.expected(arrays, sizes)
    case.compare(f"{sizes}", [case.in_memory(got[0])], want)
    if not poison and seed % 2 and sizes[1] * sizes[2] < 3000:  # the Reference is slow
        answer = reference(kernel.source, inputs, 1, folder)
        case.compare(f"{sizes} (Reference)", [case.in_memory(got[0])], [elements.numbers(case.in_memory(answer[0]))])


def check_not_finite(target, flags, folder, kind):
    """Lambdas of inf and NaN, in rows that see no key and in others; no key at all."""
    case = Differential("not_finite", 8, mask=PADDED, heads=3, types=(kind, kind)).of(kind)
    kernel = load_kernel(case.text(), folder, target, flags)
    sizes = (2, 5, 40)
    arrays = case.inputs(sizes, np.random.default_rng(7))
    arrays["len"][:] = [0, 40]
    finite = kernel(list(arrays.values()), case.outputs(sizes))[0]
    arrays["lambda"][:] = [np.inf, np.nan, arrays["lambda"][2]]
    out = kernel(list(arrays.values()), case.outputs(sizes))[0]
    numbers = elements.numbers(out)
    if numbers[0].any() or np.isfinite(numbers[1, :2]).any() or not np.array_equal(out[:, 2], finite[:, 2]):
        raise AssertionError(f"{kind}: lambdas that are not finite")
    none = (2, 5, 0)
    out = kernel(list(case.inputs(none, np.random.default_rng(7)).values()), case.outputs(none))[0]
    if elements.numbers(out).any():
        raise AssertionError(f"{kind}: out without keys is not 0")


def main():
    parser = argparse.ArgumentParser(description=__doc__, epilog="Other options go to attn-opt.")
    parser.add_argument("--target", default="native")
    parser.add_argument("--only", default="", help="cases whose name contains this")
    parser.add_argument("--element", help="all kernels in this type, for targets that round weights to it")
    options, flags = parser.parse_known_args()
    count, failures = 0, []
    for number, case in enumerate(CASES):
        if options.only not in case.name:
            continue
        if options.element:
            case.of(options.element)
        with tempfile.TemporaryDirectory() as folder:
            kernel = load_kernel(case.text(), folder, options.target, flags)
            case.error_scale = kernel.error_scale
            for i, sizes in enumerate([case.sizes] if case.sizes else LENGTHS):
                for poison in (False, True) if case.mask and i % 2 else (False,):
                    try:
                        check(case, kernel, sizes, 100 * number + i, folder, poison)
                    except (AssertionError, RuntimeError) as error:
                        failures.append(f"{'poisoned ' if poison else ''}{error}")
                    count += 1
    for kind in [options.element] if options.element else ["f32", "bf16"]:
        with tempfile.TemporaryDirectory() as folder:
            check_not_finite(options.target, flags, folder, kind)
    finish(count, failures)


if __name__ == "__main__":
    main()
