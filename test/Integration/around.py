# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Ops around kernels on buffers of many sizes: chains, reductions, layouts and look-ups, in every element type, compared with
their definition in NumPy; and bit for bit with the same call on another number of threads."""
import argparse
import tempfile

import numpy as np

import elements
from kernels import Kernel, compare, finish

SIZES = [(1, 1), (3, 7), (2, 16), (5, 17), (1, 100), (70, 33), (9, 64), (300, 130), (2, 20000)]
STORED = {**elements.STORED, "i1": np.bool_, "i32": np.int32, "i64": np.int64}
MAPS = {"ij": "(i, j) -> (i, j)", "i": "(i, j) -> (i)", "j": "(i, j) -> (j)", "i0": "(i, j) -> (i, 0)", "": "(i, j) -> ()", "ji": "(i, j) -> (j, i)"}
P, R = '"parallel"', '"reduction"'


def matrix(element):
    return f"tensor<?x?x{element}>"


def element_of(type):
    return type.removeprefix("tensor<").rstrip(">").split("x")[-1]


class Text:
    """A function of matrices (m x n), line by line."""

    def __init__(self, arguments, result):
        self.lines = [f"func.func @kernel({arguments}) -> {result} {{", "  %c0 = arith.constant 0 : index", "  %c1 = arith.constant 1 : index"]
        self.count = 0

    def add(self, line):
        self.lines.append("  " + line)
        return self

    def sizes(self, type):
        return self.add(f"%m = tensor.dim %x, %c0 : {type}").add(f"%n = tensor.dim %x, %c1 : {type}")

    def fill(self, name, value, sizes, type):
        """`value` as MLIR writes it; `type` is the tensor's."""
        element = element_of(type)
        self.count += 1
        return (self.add(f"%v{self.count} = arith.constant {value} : {element}").add(f"%e{self.count} = tensor.empty({sizes}) : {type}")
                .add(f"{name} = linalg.fill ins(%v{self.count} : {element}) outs(%e{self.count} : {type}) -> {type}"))

    def generic(self, name, inputs, out, iterators, body):
        """inputs: (value, map, type); out the same; the body's arguments are %a0, %a1, .. and %o."""
        maps = ", ".join(f"affine_map<{MAPS[m]}>" for _, m, _ in [*inputs, out])
        values, types = (", ".join(x[k] for x in inputs) for k in (0, 2))
        arguments = ", ".join(f"%a{i}: {element_of(t)}" for i, (_, _, t) in enumerate([*inputs, out]))
        arguments = arguments.replace(f"%a{len(inputs)}:", "%o:")
        ins = f"ins({values} : {types}) " if inputs else ""
        return self.add(f"{name} = linalg.generic {{indexing_maps = [{maps}], iterator_types = [{', '.join(iterators)}]}} "
                        f"{ins}outs({out[0]} : {out[2]}) {{\n  ^bb0({arguments}):\n{body}  }} -> {out[2]}")

    def end(self, value, type):
        return "\n".join([*self.lines, f"  return {value} : {type}", "}", ""])


def layer_norm(element):
    """Sums of squares of what is left without the mean; f32 inside."""
    x, row, column, wide = matrix(element), "tensor<?xf32>", f"tensor<?x{element}>", "%w = arith.extf %a0 : {} to f32\n".format(element)
    if element == "f32":
        wide = "%w = arith.addf %a0, %none : f32\n"
    narrow = "linalg.yield %r : f32\n" if element == "f32" else f"%q = arith.truncf %r : f32 to {element}\n    linalg.yield %q : {element}\n"
    weigh = "%g = arith.addf %a3, %none : f32\n" if element == "f32" else f"%g = arith.extf %a3 : {element} to f32\n"
    t = Text(f"%x: {x}, %gamma: {column}", x).sizes(x).add("%none = arith.constant -0.0 : f32").add("%eps = arith.constant 1.0e-5 : f32")
    t.add("%k = arith.index_cast %n : index to i64").add("%len = arith.sitofp %k : i64 to f32")
    t.fill("%z", "0.0", "%m", row)
    t.generic("%sum", [("%x", "ij", x)], ("%z", "i", row), (P, R), f"    {wide}    %s = arith.addf %w, %o : f32\n    linalg.yield %s : f32\n")
    t.add(f"%kept = tensor.expand_shape %sum [[0, 1]] output_shape [%m, 1] : {row} into tensor<?x1xf32>")
    t.generic("%square", [("%x", "ij", x), ("%kept", "i0", "tensor<?x1xf32>")], ("%z", "i", row), (P, R),
              f"    {wide}    %mean = arith.divf %a1, %len : f32\n    %d = arith.subf %w, %mean : f32\n    %dd = arith.mulf %d, %d : f32\n"
              "    %s = arith.addf %o, %dd : f32\n    linalg.yield %s : f32\n")
    t.add(f"%e = tensor.empty(%m, %n) : {x}")
    t.generic("%y", [("%x", "ij", x), ("%kept", "i0", "tensor<?x1xf32>"), ("%square", "i", row), ("%gamma", "j", column)], ("%e", "ij", x), (P, P),
              f"    {wide}    %mean = arith.divf %a1, %len : f32\n    %var = arith.divf %a2, %len : f32\n    %v = arith.addf %var, %eps : f32\n"
              f"    %root = math.rsqrt %v : f32\n    %d = arith.subf %w, %mean : f32\n    %nrm = arith.mulf %d, %root : f32\n    {weigh}"
              f"    %r = arith.mulf %nrm, %g : f32\n    {narrow}")

    def define(x, gamma):
        return (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + 1e-5) * gamma
    return t.end("%y", x), [("ij", element), ("j", element)], element, define


def reduction(element, op, kept, start, define):
    """Along rows (kept "i"), columns ("j"), or both ("")."""
    x, out = matrix(element), f"tensor<?x{element}>" if kept else f"tensor<{element}>"
    t = Text(f"%x: {x}", out).sizes(x).fill("%z", start, {"i": "%m", "j": "%n", "": ""}[kept], out)
    t.generic("%r", [("%x", "ij", x)], ("%z", kept, out), (P if "i" in kept else R, P if "j" in kept else R),
              f"    %s = {op} %a0, %o : {element}\n    linalg.yield %s : {element}\n")
    axis = {"i": 1, "j": 0, "": None}[kept]
    return t.end("%r", out), [("ij", element)], element, lambda x: define(x, axis)


def softmax(element, axis):
    x = matrix(element)
    t = Text(f"%x: {x}", x).sizes(x).add(f"%e = tensor.empty(%m, %n) : {x}")
    t.add(f"%r = linalg.softmax dimension({axis}) ins(%x : {x}) outs(%e : {x}) -> {x}")

    def define(x):
        e = np.exp(x - x.max(axis, keepdims=True))
        return e / e.sum(axis, keepdims=True)
    return t.end("%r", x), [("ij", element)], element, define


def chain(element):
    """A bias, GELU by tanh, and a residual: broadcast, then ops on tensors."""
    x, column = matrix(element), f"tensor<?x{element}>"
    t = Text(f"%x: {x}, %b: {column}, %y: {x}", x).sizes(x).add(f"%e = tensor.empty(%m, %n) : {x}")
    t.add(f"%wide = linalg.broadcast ins(%b : {column}) outs(%e : {x}) dimensions = [0]")
    for name, value in (("%half", 0.5), ("%one", 1.0), ("%inner", 0.7978845608), ("%cube", 0.044715)):
        t.add(f"%s{name[1:]} = arith.constant {value} : {element}").add(f"{name} = tensor.splat %s{name[1:]}[%m, %n] : {x}")
    steps = ["%a = arith.addf %x, %wide", "%a2 = arith.mulf %a, %a", "%a3 = arith.mulf %a2, %a", "%c = arith.mulf %a3, %cube", "%d = arith.addf %a, %c",
             "%f = arith.mulf %d, %inner", "%g = math.tanh %f", "%h = arith.addf %g, %one", "%i = arith.mulf %h, %a", "%j = arith.mulf %i, %half",
             "%r = arith.addf %j, %y"]
    for step in steps:
        t.add(f"{step} : {x}")

    def define(x, b, y):
        a = x + b
        return 0.5 * a * (1 + np.tanh(0.7978845608 * (a + 0.044715 * a**3))) + y
    return t.end("%r", x), [("ij", element), ("j", element), ("ij", element)], element, define


def where(element):
    """A comparison, whose booleans are combined with given ones in memory."""
    x, b = matrix(element), matrix("i1")
    compare_op = "arith.cmpf ogt" if element[0] in "fb" else "arith.cmpi sgt"
    t = Text(f"%x: {x}, %y: {x}, %c: {b}", b).add(f"%g = {compare_op}, %x, %y : {x}").add(f"%r = arith.xori %g, %c : {b}")
    return t.end("%r", b), [("ij", element), ("ij", element), ("ij", "i1")], "i1", lambda x, y, c: (x > y) ^ (c != 0)


def select(element):
    x, b = matrix(element), matrix("i1")
    t = Text(f"%x: {x}, %y: {x}, %c: {b}", x).add(f"%r = arith.select %c, %x, %y : {b}, {x}")
    return t.end("%r", x), [("ij", element), ("ij", element), ("ij", "i1")], element, lambda x, y, c: np.where(c != 0, x, y)


def integers(element):
    x = matrix(element)
    t = Text(f"%x: {x}, %y: {x}", x).sizes(x).add(f"%e = tensor.empty(%m, %n) : {x}")
    t.generic("%r", [("%x", "ij", x), ("%y", "ij", x)], ("%e", "ij", x), (P, P),
              f"    %q = arith.divsi %a0, %a1 : {element}\n    %l = linalg.index 1 : index\n    %k = arith.index_cast %l : index to {element}\n"
              f"    %s = arith.addi %q, %k : {element}\n    linalg.yield %s : {element}\n")

    def define(x, y):
        return np.trunc(x / y) + np.arange(x.shape[1])
    return t.end("%r", x), [("ij", element), ("ij", element)], element, define


def transpose(element):
    x = matrix(element)
    t = Text(f"%x: {x}", x).sizes(x).add(f"%e = tensor.empty(%n, %m) : {x}")
    t.add(f"%r = linalg.transpose ins(%x : {x}) outs(%e : {x}) permutation = [1, 0]")
    return t.end("%r", x), [("ij", element)], element, lambda x: x.T


def rotate(element):
    """Matrices, of which the last dimension becomes the first."""
    x, of_three, turned = matrix(element), f"tensor<3x?x?x{element}>", f"tensor<?x3x?x{element}>"
    t = Text(f"%x: {x}", turned).sizes(x).add(f"%e = tensor.empty(%m, %n) : {of_three}").add(f"%f = tensor.empty(%n, %m) : {turned}")
    t.add(f"%all = linalg.broadcast ins(%x : {x}) outs(%e : {of_three}) dimensions = [0]")
    t.add(f"%r = linalg.transpose ins(%all : {of_three}) outs(%f : {turned}) permutation = [2, 0, 1]")
    return t.end("%r", turned), [("ij", element)], element, lambda x: np.stack([x] * 3).transpose(2, 0, 1)


def weighted(element):
    """A mean of columns, each row by a weight of its own."""
    x, row, column = matrix(element), f"tensor<?x{element}>", f"tensor<?x{element}>"
    t = Text(f"%x: {x}, %w: {row}", column).sizes(x).add(f"%e = tensor.empty(%m, %n) : {x}").fill("%z", "0.0", "%n", column)
    t.add(f"%wide = linalg.broadcast ins(%w : {row}) outs(%e : {x}) dimensions = [1]").add(f"%p = arith.mulf %x, %wide : {x}")
    t.generic("%s", [("%p", "ij", x)], ("%z", "j", column), (R, P), f"    %s = arith.addf %o, %a0 : {element}\n    linalg.yield %s : {element}\n")
    t.add(f"%h = arith.constant 0.125 : {element}").add(f"%hs = tensor.splat %h[%n] : {column}").add(f"%r = arith.mulf %s, %hs : {column}")
    return t.end("%r", column), [("ij", element), ("i", element)], element, lambda x, w: (x * w[:, None]).sum(0) * 0.125


def column(element, transposed):
    """A product of one column, with a bias."""
    x, w, y, size = matrix(element), f"tensor<?x{element}>", f"tensor<?x1x{element}>", "%m" if transposed else "%n"
    t = Text(f"%x: {x}, %w: {w}, %b: tensor<1x{element}>", y).sizes(x)
    t.add(f"%v = tensor.expand_shape %w [[0, 1]] output_shape [{size}, 1] : {w} into {y}")
    if transposed:
        t.add(f"%e = tensor.empty(%n, %m) : {x}").add(f"%xt = linalg.transpose ins(%x : {x}) outs(%e : {x}) permutation = [1, 0]")
    t.add(f"%r = attn.project {'%xt' if transposed else '%x'}, %v, %b : ({x}, {y}, tensor<1x{element}>) -> {y}")
    return (t.end("%r", y), [("ij", element), ("i" if transposed else "j", element), ("1", element)], element,
            lambda x, w, b: ((x.T if transposed else x) @ w + b)[:, None])


def lookup(element):
    """Rows of a table, by numbers that may lie outside of it: the nearest row."""
    x, ids = matrix(element), "tensor<?xi64>"
    t = Text(f"%x: {x}, %ids: {ids}", x).sizes(x).add(f"%k = tensor.dim %ids, %c0 : {ids}").add(f"%e = tensor.empty(%k, %n) : {x}")
    t.add("%last = arith.subi %m, %c1 : index")
    t.generic("%r", [("%ids", "i", ids)], ("%e", "ij", x), (P, P),
              "    %c = arith.index_cast %a0 : i64 to index\n    %low = arith.maxsi %c, %c0 : index\n    %at = arith.minsi %low, %last : index\n"
              f"    %l = linalg.index 1 : index\n    %v = tensor.extract %x[%at, %l] : {x}\n    linalg.yield %v : {element}\n")
    return t.end("%r", x), [("ij", element), ("k", "i64")], element, lambda x, ids: x[np.clip(ids, 0, len(x) - 1).astype(int)]


def concat(element):
    """Without the first row, and the same number of them."""
    x = matrix(element)
    t = Text(f"%x: {x}, %y: {x}", x).sizes(x).add(f"%both = tensor.concat dim(0) %x, %y : ({x}, {x}) -> {x}")
    t.add(f"%r = tensor.extract_slice %both[1, 0] [%m, %n] [1, 1] : {x} to {x}")
    return t.end("%r", x), [("ij", element), ("ij", element)], element, lambda x, y: np.concatenate([x, y])[1:len(x) + 1]


def product(element):
    """A product that no kernel takes, plus what was there: lanes along columns, or along what is added up."""
    x = matrix(element)
    t = Text(f"%x: {x}, %y: {x}", x).sizes(x).add(f"%k = tensor.dim %y, %c0 : {x}").fill("%z", "0.0", "%m, %k", x)
    maps = "affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>"
    t.add(f"%r = linalg.generic {{indexing_maps = [{maps}], iterator_types = [{P}, {P}, {R}]}} ins(%x, %y : {x}, {x}) outs(%z : {x}) {{\n"
          f"  ^bb0(%a: {element}, %b: {element}, %o: {element}):\n    %p = arith.mulf %a, %b : {element}\n    %q = arith.maximumf %p, %a : {element}\n"
          f"    %s = arith.addf %o, %q : {element}\n    linalg.yield %s : {element}\n  }} -> {x}")
    return t.end("%r", x), [("ij", element), ("ij", element)], element, lambda x, y: np.maximum(x[:, None] * y[None], x[:, None]).sum(-1)


def argmax(element):
    """Two results of one op: number by number along rows, in lanes along columns."""
    def make(kept):
        x, out, at = matrix(element), f"tensor<?x{element}>", "tensor<?xi64>"
        size = {"i": "%m", "j": "%n"}[kept]
        t = Text(f"%x: {x}", at).sizes(x).fill("%z", "0xFF800000" if element == "f32" else "0xFFF0000000000000", size, out).fill("%f", "0", size, at)
        iterators = f"{P}, {R}" if kept == "i" else f"{R}, {P}"
        t.add(f"%b, %r = linalg.generic {{indexing_maps = [affine_map<{MAPS['ij']}>, affine_map<{MAPS[kept]}>, affine_map<{MAPS[kept]}>], "
              f"iterator_types = [{iterators}]}} ins(%x : {x}) outs(%z, %f : {out}, {at}) {{\n  ^bb0(%a: {element}, %o: {element}, %p: i64):\n"
              f"    %g = arith.cmpf ogt, %a, %o : {element}\n    %l = linalg.index {1 if kept == 'i' else 0} : index\n"
              f"    %k = arith.index_cast %l : index to i64\n    %v = arith.select %g, %a, %o : {element}\n    %w = arith.select %g, %k, %p : i64\n"
              f"    linalg.yield %v, %w : {element}, i64\n  }} -> ({out}, {at})")
        return t.end("%r", at), [("ij", element)], "i64", lambda x: x.argmax({"i": 1, "j": 0}[kept])
    return {"rows": make("i"), "columns": make("j")}


def cases():
    all = {}
    for e in ("f32", "f16", "bf16"):
        all[f"layer norm {e}"] = layer_norm(e)
    for e in ("f32", "f64", "f16", "bf16"):
        all[f"sum of rows {e}"] = reduction(e, "arith.addf", "i", "0.0", lambda x, axis: x.sum(axis))
        all[f"sum of columns {e}"] = reduction(e, "arith.addf", "j", "0.0", lambda x, axis: x.sum(axis))
        all[f"chain {e}"] = chain(e)
    for e in ("f32", "f64"):
        all[f"sum {e}"] = reduction(e, "arith.addf", "", "0.0", lambda x, axis: x.sum(axis))
        all[f"largest of rows {e}"] = reduction(e, "arith.maximumf", "i", "-1.0e30", lambda x, axis: x.max(axis))
        all[f"product {e}"] = product(e)
        all.update({f"argmax of {kind} {e}": case for kind, case in argmax(e).items()})
    all["smallest of rows f32"] = reduction("f32", "arith.minnumf", "i", "1.0e30", lambda x, axis: x.min(axis))
    for e in ("i32", "i64"):
        all[f"sum of rows {e}"] = reduction(e, "arith.addi", "i", "0", lambda x, axis: x.sum(axis))
        all[f"or of columns {e}"] = reduction(e, "arith.ori", "j", "0", lambda x, axis: np.bitwise_or.reduce(x.astype(np.int64), axis=axis))
        all[f"integers {e}"] = integers(e)
    for e in ("f32", "bf16"):
        for axis in (0, 1):
            all[f"softmax {axis} {e}"] = softmax(e, axis)
    for e in ("f32", "bf16", "i64"):
        for name, make in (("where", where), ("select", select), ("transpose", transpose), ("lookup", lookup), ("concat", concat)):
            all[f"{name} {e}"] = make(e)
    for e in ("f64", "f16", "i1"):
        all[f"transpose {e}"] = transpose(e)
    for e in ("f32", "f64", "bf16"):
        all[f"rotate {e}"] = rotate(e)
        all[f"weighted columns {e}"] = weighted(e)
        all[f"one column {e}"] = column(e, transposed=False)
        all[f"one column of a transpose {e}"] = column(e, transposed=True)
    return all


def make_input(rng, kind, element, m, n):
    shape = {"ij": (m, n), "i": (m,), "j": (n,), "k": (7,), "1": (1,)}[kind]
    if element == "i1":
        return rng.integers(0, 2, shape).astype(np.bool_)
    if element[0] == "i":
        x = rng.integers(-m - 5, m + 5, shape)
        return np.where(x == 0, 3, x).astype(STORED[element])
    return elements.store(rng.standard_normal(shape), element)


def bounds(name, element, want):
    """Sums of 16 bits are rounded once, other steps of them one by one."""
    if element in ("f16", "bf16"):
        unit = 2.0 ** (-11 if element == "f16" else -8)
        steps = 6 if "chain" in name else 2
        size = np.abs(want).max(initial=1.0) if "weighted" in name else 1.0  # each step is rounded
        return {"rtol": steps * unit, "atol": steps * unit * size}
    if element == "f64":
        return {"rtol": 1e-12, "atol": 1e-12}
    size = np.abs(want).max(initial=1.0)
    return {"rtol": 2e-6, "atol": 2e-6 * size} if element == "f32" else {"rtol": 0, "atol": 0}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--target", default="native")
    parser.add_argument("--only", default="")
    parser.add_argument("--part", default="0/1", help="I/N: the Ith of N parts")
    options = parser.parse_args()
    part, parts = map(int, options.part.split("/"))
    count, failures = 0, []
    for number, (name, (text, inputs, element, define)) in enumerate(cases().items()):
        if options.only not in name or number % parts != part:
            continue
        with tempfile.TemporaryDirectory() as folder:
            kernel = Kernel(text, folder, target=options.target)
            for m, n in SIZES:
                if name.startswith("product") and m * m * n > 10**7:
                    continue
                rng = np.random.default_rng(m + n)
                arrays = [make_input(rng, kind, e, m, n) for kind, e in inputs]
                want = np.asarray(define(*(elements.numbers(x) if x.dtype != np.bool_ else x for x in arrays)))
                count += 1
                try:
                    got = [kernel(arrays, [np.zeros(want.shape, STORED[element])], threads=threads)[0] for threads in (1, 3)]
                    compare(f"{name} {m}x{n}", got[0], want, **bounds(name, element, want))
                    if got[0].tobytes() != got[1].tobytes():
                        raise AssertionError(f"{name} {m}x{n}: three threads compute something else")
                except (AssertionError, RuntimeError) as error:
                    failures.append(str(error))
    finish(count, failures)


if __name__ == "__main__":
    main()
