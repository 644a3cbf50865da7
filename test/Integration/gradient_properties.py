# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What holds of every gradient, whatever its formula, over random functions and sizes:

* along a random direction v of all that is learned, <gradient, v> is what differences of the function say (NumPy, f64);
* sum q dq = sum k dk;
* the bits depend neither on the number of threads, nor on the run, nor on the other batch entries;
* what holds NaN or infinities and is excluded reaches nothing: keys and values that no query sees, and cotangents of rows that
  see no key.

Gradients of functions of one attention, with unknown sizes and of every type, are compiled together. And a gradient with a mistake
must be noticed.

  gradient_properties.py --only 7 --print    one function"""
import argparse
import ctypes
import os
import re
import subprocess
import tempfile

import numpy as np

import elements
from kernels import Kernel, attention, attn_opt, effort, finish
from learned import signature
from masks import HEADS, TERMS, Sizes

# Masks by name (masks.py), and three more.
MASKS = ["", "causal", "bottom", "offset", "window", "window_left", "window_bottom", "lengths", "window_live", "window_operands",
         "prefix_lm", "sink_window", "chunked", "chunked_offset", "dilated", "block_bits", "block_operand", "tree", "tree_live"]
CAUSAL = {
    "": ("", {}, lambda a, b, h, q, k, n: (k >= 0) & (q >= 0)),
    "causal": ("causal(top_left)", {}, lambda a, b, h, q, k, n: k <= q),
    "bottom": ("causal(bottom_right)", {}, lambda a, b, h, q, k, n: k <= q + n.keys - n.queries),
    "offset": ("causal(offset = %o : tensor<?xi32>)", {"o": ("tensor<?xi32>", lambda rng, n: rng.integers(-9, 20, n.batch).astype(np.int32))},
               lambda a, b, h, q, k, n: k <= q + a["o"][b]),
}
DIMS = [(8, 8), (5, 7), (16, 4), (1, 3), (12, 20), (24, 1)]
# (batch, queries, keys)
LENGTHS = [(1, 1, 1), (2, 3, 7), (1, 9, 2), (3, 17, 16), (2, 33, 20), (1, 40, 70), (2, 65, 64), (1, 70, 131), (1, 130, 97), (2, 12, 100),
           (2, 1, 40), (3, 8, 33), (1, 3, 2500)]
THREADS = (1, 2, 3, 7)
# By element: what a number may be off by, as a share of the size of its sum.
EXACT = {"f64": 1e-11, "f32": 1e-4, "f16": 2e-2, "bf16": 1e-1}
# And <gradient, v> of the gradient's norm; differences in f64 are good to 1e-8.
ALONG = {"f64": 1e-7, "f32": 1e-5, "f16": 4e-3, "bf16": 3e-2}

# Score functions, as text and in NumPy.
FUNCTIONS = {
    "softcap": ("""    %c = arith.constant 2.0 : TYPE
    %x = arith.divf %s, %c : TYPE
    %t = math.tanh %x : TYPE
    %y = arith.mulf %t, %c : TYPE
""", lambda s, t, h, q, k: 2 * np.tanh(s / 2)),
    "table": ("""    %d = arith.subi %i, %j : index
    %c = arith.constant 3 : index
    %at = arith.addi %d, %c : index
    %x = tensor.extract %u[%h, %at] : TABLE
    %y = arith.addf %s, %x : TYPE
""", lambda s, t, h, q, k: s + t[h, np.clip(q - k + 3, 0, 6)]),
    "temperature": ("""    %x = tensor.extract %u[%h, %h] : TABLE
    %y = arith.mulf %s, %x : TYPE
""", lambda s, t, h, q, k: s * t[h, h]),
}
ELEMENTS = ["f64", "f32", "f64", "f32", "bf16", "f64", "f16"]


class Spec:
    """A function of one attention; the number decides everything."""

    def __init__(self, number):
        self.number, self.name, self.element = number, f"f{number}", ELEMENTS[number % len(ELEMENTS)]
        rng = np.random.default_rng(number)
        self.mask_name = MASKS[number % len(MASKS)]
        self.where, self.operands, self.sees = CAUSAL.get(self.mask_name) or TERMS[self.mask_name]
        self.heads, self.key_heads = (HEADS, [1, 2][rng.integers(2)]) if self.mask_name == "block_operand" else \
            [(1, 1), (2, 1), (4, 2), (3, 3), (6, 2)][rng.integers(5)]
        self.dim, self.value_dim = DIMS[number % len(DIMS)]
        self.sequence_major = bool(rng.integers(3) == 0)
        self.scale = float(rng.choice([0.4, -0.3, 0.9]) / np.sqrt(self.dim))
        kind = number % 13
        self.two_maps, self.sigmoid = kind == 5, kind == 11
        self.function = {3: "softcap", 7: "table", 9: "temperature"}.get(kind)
        softmax = not (self.two_maps or self.sigmoid)
        self.lse = softmax and bool(rng.integers(2))
        self.sinks = softmax and kind in (2, 6)
        self.weights = kind in (0, 6, 11)
        self.bias = [("B", 1, 1, "K"), (1, "K"), (self.heads, "Q", "K")][rng.integers(3)] if kind in (1, 4, 8) else None
        self.learned = [n for n in ("q", "k", "v", "q2", "k2", "lam", "sinks", "table") if n in self.arguments(None)]
        if kind == 4:
            self.learned.append("bias")
        if kind == 10:
            self.learned.remove(str(rng.choice(["q", "k", "v"])))

    # --- text ---

    def heads_of(self, h, s, d):
        return ("B", s, h, d) if self.sequence_major else ("B", h, s, d)

    def arguments(self, sizes):
        """Shapes by name, with names of sizes or with numbers."""
        shapes = {"q": self.heads_of(self.heads, "Q", self.dim), "k": self.heads_of(self.key_heads, "K", self.dim),
                  "v": self.heads_of(self.key_heads, "K", self.value_dim)}
        if self.two_maps:
            shapes |= {"q2": shapes["q"], "k2": shapes["k"], "lam": (self.heads,)}
        if self.bias:
            shapes["bias"] = self.bias
        if self.sinks:
            shapes["sinks"] = (self.heads,)
        if self.function in ("table", "temperature"):
            shapes["table"] = (self.heads, 7)
        if not sizes:
            return shapes
        numbers = {"B": sizes.batch, "Q": sizes.queries, "K": sizes.keys}
        return {n: tuple(numbers.get(x, x) for x in shape) for n, shape in shapes.items()}

    def results(self):
        shapes = {"out": self.heads_of(self.heads, "Q", self.value_dim)}
        shapes |= {"lse": ("B", self.heads, "Q")} if self.lse else {}
        return shapes | {"weights": ("B", self.heads, "Q", "K")} if self.weights else shapes

    def tensor(self, shape, element=None):
        return f"tensor<{'x'.join('?' if x in ('B', 'Q', 'K') else str(x) for x in shape)}x{element or self.element}>"

    def statistics(self, name):
        return self.element if name in ("q", "k", "v", "q2", "k2", "out") else elements.statistics(self.element)

    def text(self):
        t = {n: self.tensor(s, self.statistics(n)) for n, s in self.arguments(None).items()}
        r = {n: self.tensor(s, self.statistics(n)) for n, s in self.results().items()}
        named = lambda n: f'{{attn.name = "{n}"{", attn.gradient" if n in self.learned else ""}}}'
        listed = [f"%{n}: {of} {named(n)}" for n, of in [*t.items(), *((n, of) for n, (of, _) in self.operands.items())]]
        clauses = f" minus %q2, %k2 by %lam : {t['lam']}" if self.two_maps else ""
        clauses += f" bias %bias : {t['bias']}" if self.bias else ""
        clauses += f" scale {self.scale!r}"
        if self.function:
            body = FUNCTIONS[self.function][0].replace("TYPE", elements.statistics(self.element)).replace("TABLE", t.get("table", ""))
            captures = f" with (%u = %table : {t['table']})" if "table" in t else ""
            clauses += f" score_mod (%s: {elements.statistics(self.element)}, %b, %h, %i, %j){captures} {{\n{body}    attn.yield %y : {elements.statistics(self.element)}\n  }}"
        clauses += f" where {self.where}" if self.where else ""
        clauses += f" sinks %sinks : {t['sinks']}" if self.sinks else ""
        clauses += f" returning({', '.join(r)})" if len(r) > 1 else ""
        attributes = [f"{n}_layout = #attn<layout bshd>" for n in ("query", "key", "value", "out") if self.sequence_major]
        attributes += ["normalization = #attn<normalization sigmoid>"] if self.sigmoid else []
        types, names = ", ".join(r.values()), ", ".join(f"%{n}" for n in r)
        results = ", ".join(f'{of} {{attn.name = "{n}"}}' for n, of in r.items())
        return (f"func.func @{self.name}({', '.join(listed)}) -> ({results}) {{\n"
                f"  {names} = attn.sdpa %q, %k, %v{clauses} {{{', '.join(attributes)}}}\n"
                f"      : ({t['q']}, {t['k']}, {t['v']}) -> ({types})\n  return {names} : {types}\n}}\n")

    # --- numbers ---

    def inputs(self, sizes, rng):
        arrays = {n: elements.store(rng.standard_normal(s), self.statistics(n)) for n, s in self.arguments(sizes).items()}
        for name, (_, make) in self.operands.items():
            arrays[name] = make(rng, sizes)
        return arrays

    def seen(self, arrays, sizes):
        """[batch][query head][query][key]"""
        q, k = np.arange(sizes.queries)[:, None], np.arange(sizes.keys)[None, :]
        return np.array([[np.broadcast_to(self.sees(arrays, b, h, q, k, sizes), (sizes.queries, sizes.keys))
                          for h in range(self.heads)] for b in range(sizes.batch)]).astype(bool)

    def rows_of(self, array):
        """A view as [batch][head][row][feature]."""
        return array.swapaxes(1, 2) if self.sequence_major and array.ndim == 4 else array

    def forward(self, arrays, sizes):
        """The results in f64, and lse where there is one."""
        of = {n: elements.numbers(self.rows_of(a) if n in ("q", "k", "v", "q2", "k2") else a) for n, a in arrays.items() if a.dtype.kind in "fu"}
        seen, table = self.seen(arrays, sizes), of.get("table")
        modify = self.function and (lambda s, b, h, q, k: FUNCTIONS[self.function][1](s, table, h, q, k))
        bias, sinks = of.get("bias"), of.get("sinks")
        attend = lambda q, k: attention(of[q], of[k], of["v"], self.scale, seen, bias, modify or None, sinks)
        if self.sigmoid:
            return self.by_sigmoid(of, seen, bias, modify)
        out, lse, weights, _ = attend("q", "k")
        if self.two_maps:
            return {"out": self.rows_of(out - of["lam"][:, None, None] * attend("q2", "k2")[0])}
        return {"out": self.rows_of(out), "lse": lse, "weights": weights}

    def by_sigmoid(self, of, seen, bias, modify):
        group = self.heads // self.key_heads
        k, v = (np.repeat(of[n], group, axis=1) for n in "kv")
        scores = of["q"] @ k.swapaxes(2, 3) * self.scale
        if modify:
            scores = modify(scores, *np.meshgrid(*map(np.arange, scores.shape), indexing="ij", sparse=True))
        weights = np.where(seen, 1 / (1 + np.exp(-(scores if bias is None else scores + bias))), 0)
        return {"out": self.rows_of(weights @ v), "weights": weights}

    def poisoned(self, given, sizes):
        """The same with NaN and infinities in what is excluded, and whether anything is."""
        seen, given = self.seen(given, sizes), {n: a.copy() for n, a in given.items()}
        unseen = ~seen.reshape(sizes.batch, self.key_heads, -1, sizes.queries, sizes.keys).any((2, 3))
        empty = ~seen.any(3)
        for name, value in (("k", np.nan), ("v", np.inf), ("k2", np.inf)):
            if name in given:
                self.rows_of(given[name])[unseen] = elements.store(value, self.element)
        self.rows_of(given["d_out"])[empty] = elements.store(np.nan, self.element)
        if "d_lse" in given and not self.sinks:
            given["d_lse"][empty] = np.nan
        if "d_weights" in given:
            given["d_weights"][~seen] = np.nan
        return given, unseen.any() or empty.any()


class Library:
    """Gradients of functions; those that are compiled with the same effort are one module."""

    def __init__(self, folder, specs, target):
        made = subprocess.run([attn_opt(), "-", "--attn-differentiate"], input="".join(spec.text() for spec in specs),
                              check=True, capture_output=True, text=True).stdout
        functions = re.split(r"^(?=  func\.func)", made.rstrip().removesuffix("}"), flags=re.MULTILINE)
        aliases = [line + "\n" for line in made.splitlines() if line.startswith("#")]
        self.ports = {spec.name: signature(made, spec.name + "_gradient") for spec in specs}
        self.libraries, modules = {}, {}
        for function in functions:
            if found := re.match(r"  func\.func @(\w+_gradient)\(", function):
                modules.setdefault(tuple(effort(function)), {})[found[1]] = function
        for number, (options, module) in enumerate(modules.items()):
            source, library = os.path.join(folder, f"gradients{number}.mlir"), os.path.join(folder, f"gradients{number}.so")
            with open(source, "w") as f:
                f.write("".join([*aliases, *module.values()]))
            subprocess.run([attn_opt(), source, "--emit=lib", "-o", library, "--target=" + target, *options], check=True)
            self.libraries.update(dict.fromkeys(module, ctypes.CDLL(library)))

    def given(self, spec, arrays, sizes, rng):
        """What the gradient is called with, of which residuals and cotangents are made."""
        forward = spec.forward(arrays, sizes)
        shapes, given = spec.results(), {}
        for port in self.ports[spec.name][0]:
            if port.name in arrays:
                given[port.name] = arrays[port.name]
            elif port.name.startswith("d_"):
                given[port.name] = elements.store(rng.standard_normal(sized(shapes[port.name[2:]], sizes)), port.element)
            else:  # a result, or a residual by its rank
                result = port.name if port.name in forward else "out" if len(port.shape) == 4 else "lse"
                given[port.name] = elements.store(np.ascontiguousarray(forward[result]), port.element)
        return given, forward

    def call(self, spec, given, sizes, threads=1):
        arguments, results = self.ports[spec.name]
        inputs, name = [np.ascontiguousarray(given[p.name]) for p in arguments], spec.name + "_gradient"
        shapes = spec.arguments(sizes)
        room = [elements.empty(shapes[p.name[2:]], p.element) for p in results]
        Kernel.of_library(self.libraries[name], name)(inputs, room, threads)
        return dict(zip([p.name for p in results], room))


def sized(shape, sizes):
    numbers = {"B": sizes.batch, "Q": sizes.queries, "K": sizes.keys}
    return tuple(numbers.get(x, x) for x in shape)


# --- the properties ---

def dot(a, b):
    return float(np.vdot(elements.numbers(a), elements.numbers(b)))


def along_direction(spec, given, forward, gradient, sizes, rng):
    """The difference of <gradient, v> and of fourth-order differences along v, as a share of the gradient's norm."""
    exact = {n: elements.numbers(given[n]) for n in spec.learned}
    cotangents = {n: elements.numbers(given[f"d_{n}"]) for n in spec.results()}
    v = {n: rng.standard_normal(a.shape) for n, a in exact.items()}
    others = {n: given[n] for n in [*spec.arguments(None), *spec.operands] if n not in v}

    def loss(t):
        got = spec.forward({**others, **{n: exact[n] + t * v[n] for n in v}}, sizes)
        return sum((c * np.where(np.isfinite(forward[n]), got[n], 0)).sum() for n, c in cotangents.items())

    h = 1e-4
    differences = (8 * (loss(h) - loss(-h)) - loss(2 * h) + loss(-2 * h)) / (12 * h)
    slope = sum(dot(gradient[f"d_{n}"], v[n]) for n in v)
    size = np.sqrt(sum(dot(g, g) for g in gradient.values()))
    return abs(slope - differences) / max(size, 0.01 * np.sqrt(sum((c**2).sum() for c in cotangents.values())))


def homogeneous(spec, given, gradient):
    """By how much sum q dq and sum k dk differ, over the size of their terms."""
    worst = 0.0
    for q, k in (("q", "k"), ("q2", "k2")):
        if q in spec.learned and k in spec.learned:
            terms = elements.numbers(given[q]) * elements.numbers(gradient[f"d_{q}"])
            size = max(np.sqrt((terms**2).sum()), 1e-3)
            worst = max(worst, abs(terms.sum() - dot(given[k], gradient[f"d_{k}"])) / size)
    return worst


def same_bits(a, b):
    return all(a[n].tobytes() == b[n].tobytes() for n in a)


def one_entry(spec, ports, given, sizes, b):
    """Batch entry b of what has entries."""
    own = {p.name for p in ports if p.shape[0] == -1 and given[p.name].shape[0] == sizes.batch
           and spec.arguments(None).get(p.name, ("B",))[0] == "B"}
    return {n: a[b:b + 1] if n in own else a for n, a in given.items()}


def bit_problems(library, spec, given, gradient, sizes):
    for threads in THREADS:
        for attempt in range(2):
            if not same_bits(gradient, library.call(spec, given, sizes, threads)):
                yield f"run {attempt} of {threads} threads gives other bits"
    own = [n for n in gradient if spec.arguments(None)[n[2:]][0] == "B"]
    for b in range(sizes.batch if sizes.batch > 1 else 0):
        entry = one_entry(spec, library.ports[spec.name][0], given, sizes, b)
        alone = library.call(spec, entry, Sizes(1, sizes.queries, sizes.keys), 3)
        if any(alone[n].tobytes() != gradient[n][b:b + 1].tobytes() for n in own):
            yield f"batch entry {b} alone gives other bits"


def poison_problems(library, spec, given, gradient, sizes):
    poisoned, any_excluded = spec.poisoned(given, sizes)
    if not any_excluded:
        return
    got = library.call(spec, poisoned, sizes)
    for name, clean in gradient.items():
        a, b = elements.numbers(got[name]), elements.numbers(clean)
        if not np.isfinite(a).all():
            yield f"poison reaches {name}"
        elif np.abs(a - b).max(initial=0) > EXACT[spec.element] * max(np.abs(b).max(initial=0), 0.1):
            yield f"poison changes {name}"


def unnoticed(library, spec):
    """Gradients of which one or another is off by a twentieth without a change of what holds."""
    sizes, rng = Sizes(2, 33, 20), np.random.default_rng(spec.number)
    given, forward = library.given(spec, spec.inputs(sizes, rng), sizes, rng)
    gradient = library.call(spec, given, sizes)
    for name, array in gradient.items():
        wrong = {**gradient, name: elements.store(1.05 * elements.numbers(array), next(p.element for p in library.ports[spec.name][1] if p.name == name))}
        worst = max(along_direction(spec, given, forward, wrong, sizes, np.random.default_rng(seed)) for seed in range(8))
        share = np.sqrt(dot(array, array) / max(sum(dot(g, g) for g in gradient.values()), 1e-300))
        if 0.01 * share > ALONG[spec.element] and worst < ALONG[spec.element]:
            yield name


def problems(library, spec, sizes, seed):
    """What does not hold of one function at these sizes."""
    rng = np.random.default_rng([spec.number, seed])
    given, forward = library.given(spec, spec.inputs(sizes, rng), sizes, rng)
    gradient = library.call(spec, given, sizes)
    if not (error := along_direction(spec, given, forward, gradient, sizes, rng)) < ALONG[spec.element]:
        yield f"differs from differences along a direction by {error:.1e}"
    if not (error := homogeneous(spec, given, gradient)) < EXACT[spec.element]:
        yield f"sum q dq and sum k dk differ by {error:.1e}"
    yield from bit_problems(library, spec, given, gradient, sizes)
    yield from poison_problems(library, spec, given, gradient, sizes)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=26, help="functions")
    parser.add_argument("--only", type=int)
    parser.add_argument("--target", default="native")
    parser.add_argument("--print", action="store_true")
    options = parser.parse_args()
    specs = [Spec(n) for n in ([options.only] if options.only is not None else range(options.count))]
    if options.print:
        print("".join(spec.text() for spec in specs))
        return
    tried, failures = 0, []
    with tempfile.TemporaryDirectory() as folder:
        library = Library(folder, specs, options.target)
        for spec in specs:
            for seed, sizes in enumerate(LENGTHS):
                tried += 1
                found = list(problems(library, spec, Sizes(*sizes), seed))
                if found:
                    failures.append(f"{spec.name} ({spec.element}, {spec.mask_name or 'no mask'}), {sizes}: {'; '.join(found)}")
        tried += len(specs)
        failures += [f"{spec.name}: a mistake in {name} is not noticed" for spec in specs for name in unnoticed(library, spec)]
    finish(tried, failures)


if __name__ == "__main__":
    main()
