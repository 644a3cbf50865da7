# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What holds of every gradient, whatever its formula, over random functions and sizes:

* along a random direction v of all that is learned, <gradient, v> is what differences of the function itself say, in f64;
* sum q dq = sum k dk;
* the bits depend neither on the number of threads, nor on the run, nor on the other batch entries;
* what holds NaN or infinities and is excluded reaches nothing: keys and values that no query sees, and cotangents of rows that
  see no key.

Functions of one attention with unknown sizes are compiled together. What no kernel computes yet is evaluated by
attn-reference, with fewer sizes.

  gradient_properties.py --only 7 --print    one function"""
import argparse
import ctypes
import os
import subprocess
import tempfile

import numpy as np

import elements
from kernels import Kernel, attn_opt, effort, finish, reference
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
LENGTHS = [(1, 1, 1), (2, 3, 7), (1, 9, 2), (3, 17, 16), (2, 33, 20), (1, 40, 70), (2, 65, 64), (1, 70, 131), (1, 130, 97), (2, 12, 100)]
FEW = [(1, 1, 1), (2, 3, 5), (1, 6, 4)]
THREADS = (1, 2, 3, 7)

FUNCTIONS = {
    "softcap": """    %c = arith.constant 2.0 : TYPE
    %x = arith.divf %s, %c : TYPE
    %t = math.tanh %x : TYPE
    %y = arith.mulf %t, %c : TYPE
""",
    "table": """    %d = arith.subi %i, %j : index
    %c = arith.constant 3 : index
    %at = arith.addi %d, %c : index
    %x = tensor.extract %table_in[%h, %at] : TABLE
    %y = arith.addf %s, %x : TYPE
""",
    "temperature": """    %x = tensor.extract %table_in[%h, %h] : TABLE
    %y = arith.mulf %s, %x : TYPE
""",
}


class Spec:
    """A function of one attention; the number decides everything."""

    def __init__(self, number, element="f64"):
        self.number, self.name, self.element = number, f"f{number}", element
        rng = np.random.default_rng(number)
        self.mask_name = MASKS[number % len(MASKS)]
        self.where, self.operands, self.sees = CAUSAL.get(self.mask_name) or TERMS[self.mask_name]
        self.heads, self.key_heads = (HEADS, [1, 2][rng.integers(2)]) if self.mask_name == "block_operand" else \
            [(1, 1), (2, 1), (4, 2), (3, 3), (6, 2)][rng.integers(5)]
        self.dim, self.value_dim = DIMS[number % len(DIMS)]
        self.sequence_major = bool(rng.integers(3) == 0)
        self.scale = float(rng.choice([0.4, -0.3, 0.9])) / np.sqrt(self.dim)
        kind = number % 13
        self.two_maps, self.sigmoid = kind == 5, kind == 11
        self.function = {3: "softcap", 7: "table", 9: "temperature"}.get(kind)
        softmax = not (self.two_maps or self.sigmoid)
        self.lse = softmax and bool(rng.integers(2))
        self.sinks = softmax and kind in (2, 6)
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
        return shapes | {"lse": ("B", self.heads, "Q")} if self.lse else shapes

    def tensor(self, shape, element=None):
        return f"tensor<{'x'.join('?' if x in ('B', 'Q', 'K') else str(x) for x in shape)}x{element or self.element}>"

    def statistics(self, name):
        return self.element if name in ("q", "k", "v", "q2", "k2", "out") else elements.statistics(self.element)

    def text(self):
        t = {n: self.tensor(s, self.statistics(n)) for n, s in self.arguments(None).items()}
        r = {n: self.tensor(s, self.statistics(n)) for n, s in self.results().items()}
        listed = [f"%{n}: {of}{' {attn.gradient}' if n in self.learned else ''}" for n, of in t.items()]
        listed += [f"%{n}: {of}" for n, (of, _) in self.operands.items()]
        clauses = f" minus %q2, %k2 by %lam : {t['q2']}, {t['k2']}, {t['lam']}" if self.two_maps else ""
        clauses += f" bias %bias : {t['bias']}" if self.bias else ""
        clauses += f" scale {self.scale!r}"
        if self.function:
            body = FUNCTIONS[self.function].replace("TYPE", elements.statistics(self.element)).replace("TABLE", t.get("table", ""))
            captures = f" with (%table_in = %table : {t['table']})" if "table" in t else ""
            clauses += f" score_mod (%s: {elements.statistics(self.element)}, %b, %h, %i, %j){captures} {{\n{body}    attn.yield %y : {elements.statistics(self.element)}\n  }}"
        clauses += f" where {self.where}" if self.where else ""
        clauses += f" sinks %sinks : {t['sinks']}" if self.sinks else ""
        clauses += " returning(out, lse)" if self.lse else ""
        attributes = [f"{n}_layout = #attn<layout bshd>" for n in ("query", "key", "value", "out") if self.sequence_major]
        attributes += ["normalization = #attn<normalization sigmoid>"] if self.sigmoid else []
        types, names = ", ".join(r.values()), ", ".join(f"%{n}" for n in r)
        return (f"func.func @{self.name}({', '.join(listed)}) -> ({types}) {{\n"
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

    def poisoned(self, arrays, given, sizes):
        """The same with NaN and infinities in what is excluded."""
        seen = self.seen(arrays, sizes)
        arrays, given = ({n: a.copy() for n, a in of.items()} for of in (arrays, given))
        group = self.heads // self.key_heads
        unseen = ~seen.reshape(sizes.batch, self.key_heads, group, sizes.queries, sizes.keys).any((2, 3))
        empty = ~seen.any(3)
        for name, value in (("k", np.nan), ("v", np.inf), ("k2", np.inf)):
            if name in arrays:
                self.rows_of(arrays[name])[unseen] = elements.store(value, self.element)
                given[name] = arrays[name]
        self.rows_of(given["d_out"])[empty] = elements.store(np.nan, self.element)
        if "d_lse" in given and not self.sinks:
            given["d_lse"][empty] = np.nan
        return arrays, given, unseen.any() or empty.any()


class Compiled:
    """The functions of a library."""

    def __init__(self, folder, specs, target):
        self.folder, self.source = folder, os.path.join(folder, "all.mlir")
        self.fused, library = os.path.join(folder, "fused.mlir"), os.path.join(folder, "all.so")
        text = "".join(spec.text() for spec in specs)
        with open(self.source, "w") as f:
            f.write(text)
        subprocess.run([attn_opt(), self.source, "--compile-to=fused", "-o", self.fused], check=True)
        with open(self.fused) as f:
            self.module = f.read()
        self.ports = {}
        if target:
            subprocess.run([attn_opt(), self.source, "--emit=lib", "-o", library, "--target=" + target, *effort(text)], check=True)
            self.dll = ctypes.CDLL(library)

    def call(self, spec, which, given, sizes, threads=1):
        name = spec.name + which
        if name not in self.ports:
            self.ports[name] = signature(self.module, name)
        arguments, results = self.ports[name]
        inputs = [np.ascontiguousarray(given[p.name]) for p in arguments]
        if not hasattr(self, "dll"):
            return dict(zip([p.name for p in results], reference(self.fused, inputs, len(results), self.folder, name)))
        shapes = {**spec.arguments(sizes), **{n: sized(s, sizes) for n, s in spec.results().items()}}
        lse = (sizes.batch, spec.heads, sizes.queries)
        room = [elements.empty(shapes.get(p.name.removeprefix("d_"), lse), p.element) for p in results]
        self.kernel(name)(inputs, room, threads)
        return dict(zip([p.name for p in results], room))

    def kernel(self, name):
        return Kernel.of_library(self.dll, name)


def sized(shape, sizes):
    numbers = {"B": sizes.batch, "Q": sizes.queries, "K": sizes.keys}
    return tuple(numbers.get(x, x) for x in shape)


def has_kernel(spec, target):
    """Whether attn-opt compiles the gradient; it may refuse it by name."""
    done = subprocess.run([attn_opt(), "-", "--compile-to=scheduled", "-o", os.devnull, "--target=" + target], input=spec.text(),
                          capture_output=True, text=True)
    if done.returncode and "has no kernel on this target" not in done.stderr:
        raise RuntimeError(f"{spec.name}: {done.stderr}")
    return not done.returncode


# --- the properties ---

def dot(a, b):
    return float(np.vdot(elements.numbers(a), elements.numbers(b)))


def given_of(library, spec, arrays, sizes, rng):
    """What the gradient is called with, and results of the function."""
    forward = library.call(spec, "_forward", arrays, sizes)
    given = {**arrays, **forward}
    for name, shape in spec.results().items():
        given[f"d_{name}"] = elements.store(rng.standard_normal(sized(shape, sizes)), spec.statistics(name))
    return given, forward


def along_direction(library, spec, given, forward, gradient, sizes, rng):
    """The relative difference of <gradient, v> and of fourth-order differences along v."""
    v = {n: rng.standard_normal(given[n].shape) for n in spec.learned}
    finite = {n: np.isfinite(forward[n]) for n in spec.results()}

    def loss(t):
        moved = {n: a + t * v[n] if n in v else a for n, a in given.items()}
        got = library.call(spec, "_forward", moved, sizes)
        return sum((given[f"d_{n}"] * np.where(finite[n], got[n], 0)).sum() for n in finite)

    h = 1e-4
    differences = (8 * (loss(h) - loss(-h)) - loss(2 * h) + loss(-2 * h)) / (12 * h)
    slope = sum(dot(gradient[f"d_{n}"], v[n]) for n in v)
    size = np.sqrt(sum(dot(g, g) for g in gradient.values()))
    return abs(slope - differences) / max(size, 0.01 * np.sqrt(sum(dot(given[f"d_{n}"], given[f"d_{n}"]) for n in finite)))


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


def one_entry(spec, arrays, sizes, b):
    """Batch entry b of what has entries."""
    shapes = {**spec.arguments(None), **spec.results(), **{f"d_{n}": s for n, s in spec.results().items()}, "residual_0": ("B",)}
    split = lambda n, a: (shapes[n][0] == "B") if n in shapes else a.ndim in (1, 4) and a.shape[0] == sizes.batch and spec.operands[n][0].startswith("tensor<?")
    return {n: a[b:b + 1] if split(n, a) else a for n, a in arrays.items()}


def bit_problems(library, spec, given, gradient, sizes):
    for threads in THREADS:
        for attempt in range(2):
            if not same_bits(gradient, library.call(spec, "_gradient", given, sizes, threads)):
                yield f"run {attempt} of {threads} threads gives other bits"
    own = [n for n in gradient if spec.arguments(None)[n[2:]][0] == "B"]
    for b in range(sizes.batch if sizes.batch > 1 else 0):
        alone = library.call(spec, "_gradient", one_entry(spec, given, sizes, b), Sizes(1, sizes.queries, sizes.keys), 3)
        if any(alone[n].tobytes() != gradient[n][b:b + 1].tobytes() for n in own):
            yield f"batch entry {b} alone gives other bits"


def poison_problems(library, spec, given, gradient, sizes, tolerance):
    arrays = {n: given[n] for n in [*spec.arguments(None), *spec.operands]}
    arrays, poisoned, any_excluded = spec.poisoned(arrays, given, sizes)
    if not any_excluded:
        return
    forward = library.call(spec, "_forward", arrays, sizes)
    got = library.call(spec, "_gradient", {**poisoned, **forward}, sizes)
    for name, clean in gradient.items():
        a, b = elements.numbers(got[name]), elements.numbers(clean)
        if not np.isfinite(a).all():
            yield f"poison reaches {name}"
        elif np.abs(a - b).max(initial=0) > tolerance * max(np.abs(b).max(initial=0), 0.1):
            yield f"poison changes {name}"


def problems(library, spec, sizes, seed, compiled):
    """What does not hold of one function at these sizes."""
    rng = np.random.default_rng([spec.number, seed])
    arrays = spec.inputs(sizes, rng)
    given, forward = given_of(library, spec, arrays, sizes, rng)
    gradient = library.call(spec, "_gradient", given, sizes)
    exact = {"f64": 1e-11, "f32": 1e-4, "f16": 2e-2, "bf16": 1e-1}[spec.element]
    if spec.element == "f64":
        if (error := along_direction(library, spec, given, forward, gradient, sizes, rng)) > 1e-7:
            yield f"differs from differences along a direction by {error:.1e}"
    if (error := homogeneous(spec, given, gradient)) > exact:
        yield f"sum q dq and sum k dk differ by {error:.1e}"
    if compiled:
        yield from bit_problems(library, spec, given, gradient, sizes)
    yield from poison_problems(library, spec, given, gradient, sizes, exact)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=39, help="functions")
    parser.add_argument("--only", type=int)
    parser.add_argument("--element", default="f64")
    parser.add_argument("--target", default="native")
    parser.add_argument("--print", action="store_true")
    options = parser.parse_args()
    specs = [Spec(n, options.element) for n in ([options.only] if options.only is not None else range(options.count))]
    if options.print:
        print("".join(spec.text() for spec in specs))
        return
    plain = lambda spec: not (spec.function or spec.sigmoid or "bias" in spec.learned)
    kernels = [s for s in specs if plain(s) or has_kernel(s, options.target)]
    tried, failures = 0, []
    for compiled, chosen, lengths in ((True, kernels, LENGTHS), (False, [s for s in specs if s not in kernels], FEW)):
        if not chosen:
            continue
        with tempfile.TemporaryDirectory() as folder:
            library = Compiled(folder, chosen, options.target if compiled else None)
            for spec in chosen:
                for seed, sizes in enumerate(lengths):
                    tried += 1
                    found = list(problems(library, spec, Sizes(*sizes), seed, compiled))
                    if found:
                        failures.append(f"{spec.name} ({spec.mask_name or 'no mask'}), {sizes}: {'; '.join(found)}")
    finish(tried, failures, f"; {len(kernels)} of {len(specs)} functions compiled")


if __name__ == "__main__":
    main()
