# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Ops of other dialects around an attention, one function each: what has a lowering is compared with the Reference, or
with NumPy where the Reference does not know the op, and its object calls no library; the rest is refused by name in one
line, with exit status 1."""
import argparse
import os
import re
import subprocess
import tempfile

import numpy as np

import elements
from kernels import Kernel, attn_opt, compare, finish, reference

X = "tensor<?x8x{}>"
S = "tensor<4x8xf32>"
C = ("  %c0 = arith.constant 0 : index\n  %c1 = arith.constant 1 : index\n  %c4 = arith.constant 4 : index\n"
     "  %two = arith.constant 2.0 : f32\n")
STORED = {**elements.STORED, "i1": np.bool_, "i32": np.int32, "i64": np.int64}
FLOATS = ("f32", "f64", "f16", "bf16")
# What a kernel may call: memory, and the runtime.
CALLS = re.compile(r"mem(cpy|set|move)|attn_rt_\w+|_GLOBAL_OFFSET_TABLE_")


def function(arguments, body, result, before=""):
    return f"{before}func.func @kernel({arguments}) -> {result} {{\n{body}}}\n"


def elementwise(op, element, count=1):
    t = X.format(element)
    names = [f"%x{i}" for i in range(count)]
    return function(", ".join(f"{name}: {t}" for name in names), f"  %r = {op} {', '.join(names)} : {t}\n  return %r : {t}\n", t)


def in_body(op, element):
    """The op on the elements of a linalg.generic."""
    t = X.format(element)
    return function(f"%x: {t}", f"""  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : {t}
  %e = tensor.empty(%n) : {t}
  %r = linalg.generic {{indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}} ins(%x : {t}) outs(%e : {t}) {{
  ^bb0(%a: {element}, %o: {element}):
    %v = {op} %a : {element}
    linalg.yield %v : {element}
  }} -> {t}
  return %r : {t}
""", t)


def conversion(op, source, target):
    a, b = X.format(source), X.format(target)
    return function(f"%x: {a}", f"  %r = {op} %x : {a} to {b}\n  return %r : {b}\n", b)


def named(op, element, count):
    t = f"tensor<4x8x{element}>"
    names = [f"%x{i}" for i in range(count)]
    return function(", ".join(f"{name}: {t}" for name in names),
                    f"  %e = tensor.empty() : {t}\n  %r = linalg.{op} ins({', '.join(names)} : {', '.join([t] * count)}) "
                    f"outs(%e : {t}) -> {t}\n  return %r : {t}\n", t)


def returning(line, result, arguments=f"%x: {S}"):
    """`line` makes %r."""
    return function(arguments, f"{C}{line}\n  return %r : {result}\n", result)


def softmax(element, dimension):
    t = f"tensor<4x8x{element}>"
    return returning(f"  %e = tensor.empty() : {t}\n"
                     f"  %r = linalg.softmax dimension({dimension}) ins(%x : {t}) outs(%e : {t}) -> {t}", t, f"%x: {t}")


def softmax_of(axis):
    def compute(x):
        e = np.exp(x - x.max(axis, keepdims=True))
        return e / e.sum(axis, keepdims=True)
    return compute


def lowered():
    """name -> the text, or the text and its definition where the Reference has none."""
    cases = {}
    for op in ("absf", "ceil", "cos", "erf", "exp", "exp2", "expm1", "floor", "log", "log1p", "log2", "round", "roundeven",
               "rsqrt", "sin", "sqrt", "tanh", "trunc"):
        for element in FLOATS:
            cases[f"math.{op} {element}"] = elementwise(f"math.{op}", element)
        cases[f"math.{op} f16 in a body"] = in_body(f"math.{op}", "f16")
    for op in ("math.powf", "math.copysign", "arith.addf", "arith.subf", "arith.mulf", "arith.divf", "arith.maximumf",
               "arith.minimumf", "arith.maxnumf", "arith.minnumf"):
        for element in FLOATS:
            cases[f"{op} {element}"] = elementwise(op, element, 2)
    for op in ("addi", "subi", "muli", "divsi", "divui", "remsi", "remui", "floordivsi", "ceildivsi", "ceildivui", "andi", "ori",
               "xori", "shli", "shrsi", "shrui", "maxsi", "maxui", "minsi", "minui"):
        for element in ("i32", "i64"):
            cases[f"arith.{op} {element}"] = elementwise(f"arith.{op}", element, 2)
    for narrow, wide in (("f16", "f32"), ("bf16", "f32"), ("f32", "f64"), ("f16", "f64"), ("bf16", "f64")):
        cases[f"arith.extf {narrow} {wide}"] = conversion("arith.extf", narrow, wide)
        cases[f"arith.truncf {wide} {narrow}"] = conversion("arith.truncf", wide, narrow)
    for integer, real in (("i32", "f32"), ("i64", "f32"), ("i32", "f64"), ("i32", "f16"), ("i64", "bf16"), ("i1", "f32")):
        cases[f"arith.sitofp {integer} {real}"] = conversion("arith.sitofp", integer, real)
        if integer != "i1":
            cases[f"arith.fptosi {real} {integer}"] = conversion("arith.fptosi", real, integer)
    for op in ("abs", "ceil", "erf", "exp", "floor", "log", "negf", "rsqrt", "sqrt", "square", "tanh"):
        for element in ("f32", "f16"):
            cases[f"linalg.{op} {element}"] = named(op, element, 1)
    for op in ("add", "sub", "mul", "div", "max", "min", "powf"):
        for element in ("f32", "bf16"):
            cases[f"linalg.{op} {element}"] = named(op, element, 2)
    for axis in (0, 1):
        for element in FLOATS:
            cases[f"linalg.softmax {element} {axis}"] = softmax(element, axis), softmax_of(axis)
    cases.update(shapes())
    return cases


def shapes():
    pad = (f"  %r = tensor.pad %x low[1, 0] high[0, 2] {{\n  ^bb0(%i: index, %j: index):\n    tensor.yield %two : f32\n"
           f"  }} : {S} to tensor<5x10xf32>")
    generate = (f"  %r = tensor.generate {{\n  ^bb0(%i: index, %j: index):\n    %v = tensor.extract %x[%i, %j] : {S}\n"
                f"    %w = arith.addf %v, %v : f32\n    tensor.yield %w : f32\n  }} : {S}")
    insert = f"    %b = tensor.insert %two into %a[%i, %i] : {S}\n"
    switch = (f"  %r = scf.index_switch %c1 -> {S}\n  case 1 {{\n    %b = tensor.insert %two into %x[%c0, %c0] : {S}\n"
              f"    scf.yield %b : {S}\n  }}\n  default {{\n    scf.yield %x : {S}\n  }}")

    def inserted(count):
        def compute(x):
            x = x.copy()
            x[range(count), range(count)] = 2
            return x
        return compute

    dim = "  %n = tensor.dim %x, %c1 : " + S + "\n  {}\n  %i = arith.index_cast %k : index to i64\n  %r = tensor.from_elements %i : tensor<1xi64>"
    return {
        "tensor.pad": (returning(pad, "tensor<5x10xf32>"), lambda x: np.pad(x, ((1, 0), (0, 2)), constant_values=2)),
        "tensor.concat": (returning(f"  %r = tensor.concat dim(1) %x, %x : ({S}, {S}) -> tensor<4x16xf32>", "tensor<4x16xf32>"),
                          lambda x: np.concatenate([x, x], 1)),
        "tensor.generate": (returning(generate, S), lambda x: 2 * x),
        "tensor.collapse_shape": returning(f"  %r = tensor.collapse_shape %x [[0, 1]] : {S} into tensor<32xf32>", "tensor<32xf32>"),
        "tensor.expand_shape": returning(f"  %r = tensor.expand_shape %x [[0], [1, 2]] output_shape [4, 2, 4] : {S} into "
                                         "tensor<4x2x4xf32>", "tensor<4x2x4xf32>"),
        "tensor.insert_slice": returning(f"  %y = tensor.extract_slice %x[1, 2] [2, 3] [1, 1] : {S} to tensor<2x3xf32>\n  %r = "
                                         f"tensor.insert_slice %y into %x[0, 1] [2, 3] [2, 2] : tensor<2x3xf32> into {S}", S),
        "linalg.transpose": returning(f"  %e = tensor.empty() : tensor<8x4xf32>\n  %r = linalg.transpose ins(%x : {S}) "
                                      "outs(%e : tensor<8x4xf32>) permutation = [1, 0]", "tensor<8x4xf32>"),
        "linalg.reduce": returning("  %z = tensor.splat %two : tensor<4xf32>\n  %r = linalg.reduce { arith.addf } "
                                   f"ins(%x : {S}) outs(%z : tensor<4xf32>) dimensions = [1]", "tensor<4xf32>"),
        "linalg.matvec": returning("  %z = tensor.splat %two : tensor<4xf32>\n  %v = tensor.splat %two : tensor<8xf32>\n  %r = linalg.matvec "
                                   f"ins(%x, %v : {S}, tensor<8xf32>) outs(%z : tensor<4xf32>) -> tensor<4xf32>", "tensor<4xf32>"),
        "scf.for": returning(f"  %r = scf.for %i = %c0 to %c4 step %c1 iter_args(%a = %x) -> {S} {{\n{insert}    scf.yield %b : {S}\n  }}", S),
        "scf.execute_region": (returning(f"  %r = scf.execute_region -> {S} {{\n    cf.br ^bb1\n  ^bb1:\n    %b = tensor.insert %two into "
                                         f"%x[%c0, %c0] : {S}\n    scf.yield %b : {S}\n  }}", S), inserted(1)),
        "scf.index_switch": (returning(switch, S), inserted(1)),
        **{f"index.{op}": (returning(dim.format(f"%k = index.{op} %n, %c4"), "tensor<1xi64>"), lambda x, value=value: np.array([value]))
           for op, value in (("add", 12), ("sub", 4), ("mul", 32), ("divs", 2), ("ceildivu", 2), ("rems", 0), ("maxs", 8), ("minu", 4),
                             ("shl", 128), ("xor", 12))},
        "affine": returning(dim.format("%k = affine.max affine_map<(d0) -> (d0 * 2 + 1, 3)>(%n)"), "tensor<1xi64>"),
    }


def refused():
    """(the op that is named, the text)."""
    for op in ("acos", "acosh", "asin", "asinh", "atan", "atanh", "cbrt", "cosh", "erfc", "log10", "sinh", "tan"):
        for element in ("f32", "f64", "bf16"):
            yield f"math.{op}", elementwise(f"math.{op}", element)
        yield f"math.{op}", in_body(f"math.{op}", "f32")
    yield "math.atan2", elementwise("math.atan2", "f32", 2)
    yield "math.ipowi", elementwise("math.ipowi", "i32", 2)
    yield "arith.remf", elementwise("arith.remf", "f32", 2)
    yield "math.cbrt", returning(f"  %e = tensor.empty() : {S}\n  %r = linalg.map {{ math.cbrt }} ins(%x : {S}) outs(%e : {S})", S)
    indices = f"%x: {S}, %i: tensor<3x1xi32>"
    yield "tensor.gather", returning(f"  %r = tensor.gather %x[%i] gather_dims([0]) : ({S}, tensor<3x1xi32>) -> tensor<3x1x8xf32>",
                                     "tensor<3x1x8xf32>", indices)
    yield "tensor.scatter", returning("  %u = tensor.splat %two : tensor<3x1x8xf32>\n  %r = tensor.scatter %u into %x[%i] scatter_dims([0])"
                                      f" unique : (tensor<3x1x8xf32>, {S}, tensor<3x1xi32>) -> {S}", S, indices)
    yield "tensor.bitcast", returning(f"  %r = tensor.bitcast %x : {S} to tensor<4x8xi32>", "tensor<4x8xi32>")
    yield "linalg.pack", returning("  %e = tensor.empty() : tensor<2x2x2x4xf32>\n  %r = linalg.pack %x inner_dims_pos = [0, 1] inner_tiles = "
                                   f"[2, 4] into %e : {S} -> tensor<2x2x2x4xf32>", "tensor<2x2x2x4xf32>")
    yield "affine.for", returning(f"  %r = affine.for %i = 0 to 4 iter_args(%a = %x) -> {S} {{\n    %b = tensor.insert %two into %a[%i, %i] "
                                  f": {S}\n    affine.yield %b : {S}\n  }}", S)
    yield "complex.create", returning(f"  %e = tensor.extract %x[%c0, %c0] : {S}\n  %z = complex.create %e, %two : complex<f32>\n"
                                      "  %y = complex.mul %z, %z : complex<f32>\n  %w = complex.re %y : complex<f32>\n"
                                      "  %r = tensor.from_elements %w : tensor<1xf32>", "tensor<1xf32>")
    yield "vector.transfer_read", returning(f"  %a = vector.transfer_read %x[%c0, %c0], %two : {S}, vector<8xf32>\n  %r = vector.transfer_write "
                                            f"%a, %x[%c1, %c0] : vector<8xf32>, {S}", S)
    yield "vector.print", returning(f"  vector.print %two : f32\n  %r = arith.addf %x, %x : {S}", S)
    yield "memref.alloc", returning("  %m = memref.alloc() : memref<4xf32>\n  memref.store %two, %m[%c0] : memref<4xf32>\n"
                                    f"  %v = memref.load %m[%c1] : memref<4xf32>\n  %r = tensor.insert %v into %x[%c0, %c1] : {S}", S)
    yield "bufferization.materialize_in_destination", returning(
        f"  %r = bufferization.materialize_in_destination %x in %x : ({S}, {S}) -> {S}", S)
    yield "cf.assert", returning(f"  %e = tensor.extract %x[%c0, %c0] : {S}\n  %g = arith.cmpf ogt, %e, %two : f32\n"
                                 f"  cf.assert %g, \"no\"\n  %r = arith.addf %x, %x : {S}", S)
    yield "ub.poison", returning(f"  %p = ub.poison : f32\n  %r = tensor.insert %p into %x[%c0, %c0] : {S}", S)
    yield "ub.poison", returning(f"  %p = ub.poison : {S}\n  %r = arith.addf %p, %x : {S}", S)
    call = f"  %f = constant @kernel : ({S}) -> {S}\n  "
    yield "func.call_indirect", returning(f"{call}%r = call_indirect %f(%x) : ({S}) -> {S}", S)
    yield "builtin.unrealized_conversion_cast", returning(
        f"  %r = builtin.unrealized_conversion_cast %x : {S} to tensor<4x8xi32>", "tensor<4x8xi32>")
    yield "llvm.call", function(f"%x: {S}", "  %p = llvm.call @puts() : () -> i64\n  %r = tensor.from_elements %p : tensor<1xi64>\n"
                                "  return %r : tensor<1xi64>\n", "tensor<1xi64>", "llvm.func @puts() -> i64\n")
    for op, element in (("arith.truncf", "f8E5M2"), ("arith.truncf", "tf32"), ("arith.extf", "f128")):
        t = f"tensor<4x8x{element}>"
        yield op, returning(f"  %a = {op} %x : {S} to {t}\n  %b = arith.addf %a, %a : {t}\n"
                            f"  %r = {'arith.extf' if op == 'arith.truncf' else 'arith.truncf'} %b : {t} to {S}", S)
    for width in (7, 128):
        t = f"tensor<4x8xi{width}>"
        yield "arith.fptosi", returning(f"  %a = arith.fptosi %x : {S} to {t}\n  %r = arith.sitofp %a : {t} to {S}", S)


def random_inputs(name, text, rng):
    signature = re.search(r"@kernel\((.*?)\) -> ", text).group(1)
    arrays = []
    for sizes, element in re.findall(r": tensor<([\dx?]*)x(\w+)>", signature):
        shape = [5 if size == "?" else int(size) for size in sizes.split("x")]
        if element == "i1":
            x = rng.integers(0, 2, shape)
        elif element.startswith("i"):
            x = rng.integers(-50, 50, shape)
            x = np.abs(x) % 31 if ".sh" in name else np.where(x == 0, 7, x)
        else:
            x = rng.standard_normal(shape)
            if re.search("log|sqrt|powf", name):
                x = np.abs(x) + 0.1
            if "fptosi" in name:
                x = x * 20
            if "truncf f64" in name:  # halves of 16 bits, but for a bit that f32 has not
                x[0, :6] = 1 + 2.0**-11 + 2.0**-40, 1 + 2.0**-11 - 2.0**-40, 1 + 2.0**-8 + 2.0**-40, 1 + 2.0**-8 - 2.0**-40, 1e-9, -0.0
        arrays.append(elements.store(x, element) if element in elements.STORED else x.astype(STORED[element]))
    return arrays


def bounds(name, element):
    """Numbers of 16 bits are computed with in f32 and rounded once."""
    if element in ("f16", "bf16"):
        return {"rtol": 2.0 ** (-11 if element == "f16" else -8) + 1e-5, "atol": 1e-7}
    return {"rtol": 1e-13, "atol": 1e-13} if element == "f64" else {"rtol": 1e-5, "atol": 1e-6}


def check_lowered(name, case, target, folder):
    text, define = case if isinstance(case, tuple) else (case, None)
    inputs = random_inputs(name, text, np.random.default_rng(len(name)))
    kernel = Kernel(text, folder, target=target)
    subprocess.run([attn_opt(), kernel.source, "--emit=obj", "-o", folder + "/k.o", "--target=" + target], check=True)
    undefined = subprocess.run(["nm", "-u", folder + "/k.o"], check=True, capture_output=True, text=True).stdout.split()
    foreign = [symbol for symbol in undefined if symbol != "U" and not CALLS.fullmatch(symbol)]
    if foreign:
        raise AssertionError(f"{name}: calls {foreign}")
    element = re.search(r"return %r : tensor<(?:[\d?]+x)*(\w+)>", text).group(1)
    if define:
        want = define(*map(elements.numbers, inputs))
    else:
        want = reference(kernel.source, inputs, 1, folder)[0]
    got = kernel(inputs, [np.zeros(want.shape, STORED[element])])[0]
    compare(name, got, want, **bounds(name, element))


def check_refused(op, text, folder):
    path = os.path.join(folder, "k.mlir")
    with open(path, "w") as f:
        f.write(text)
    done = subprocess.run([attn_opt(), path, "--emit=obj", "-o", folder + "/k.o"], capture_output=True, text=True)
    if done.returncode != 1 or done.stderr.count("\n") != 1 or f"error: '{op}' op is not supported" not in done.stderr:
        raise AssertionError(f"{op}: exit status {done.returncode}, {done.stderr!r}")
    if os.listdir(folder) != ["k.mlir"]:
        raise AssertionError(f"{op}: left {os.listdir(folder)}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--target", default="native")
    parser.add_argument("--only", default="", help="cases whose name contains this")
    parser.add_argument("--part", default="0/1", help="I/N: the Ith of N parts")
    options = parser.parse_args()
    part, parts = map(int, options.part.split("/"))
    jobs = [(name, lambda folder, n=name, c=case: check_lowered(n, c, options.target, folder)) for name, case in lowered().items()]
    jobs += [(op, lambda folder, o=op, t=text: check_refused(o, t, folder)) for op, text in refused()]
    count, failures = 0, []
    for number, (name, job) in enumerate(jobs):
        if options.only not in name or number % parts != part:
            continue
        count += 1
        with tempfile.TemporaryDirectory() as folder:
            try:
                job(folder)
            except (AssertionError, RuntimeError, subprocess.CalledProcessError) as error:
                failures.append(f"{name}: {error}")
    finish(count, failures)


if __name__ == "__main__":
    main()
