# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Matrix products of every form: transposed weights, a weight per batch entry, unknown sizes, generic ops, sums that begin
elsewhere, mixed element types, f64. Sizes are those around a panel, a block and a tile; each is compared with f64."""
import argparse
import sys
import tempfile

import numpy as np

import elements
from kernels import compare, load_kernel

#       M, K, N
SIZES = ((1, 1, 1), (5, 7, 9), (8, 16, 48), (13, 33, 47), (97, 40, 100), (200, 130, 17), (2, 3, 300), (16, 1100, 49))


# Few rows, whose weight is read in place, and many; around a panel, a vector and a part of a panel.
FEW = tuple((m, k, n) for m in (1, 2, 3, 4, 5, 8, 9, 12, 15, 16, 17, 97, 193) for k, n in ((1, 1), (16, 49), (33, 95), (300, 130)))


def dims(sizes, unknown):
    return "x".join("?" if unknown else str(n) for n in sizes)


def empty(shape, unknown, element, sources):
    """Lines that make a tensor of zeros; `sources` are (value, dimension, type) of unknown sizes."""
    tensor = f"tensor<{dims(shape, unknown)}x{element}>"
    lines, names = [], []
    if unknown:
        for i, (value, dim, kind) in enumerate(sources):
            lines += [f"  %i{i} = arith.constant {dim} : index", f"  %d{i} = tensor.dim {value}, %i{i} : {kind}"]
            names.append(f"%d{i}")
    lines.append(f"  %zero = arith.constant 0.0 : {element}")
    lines.append(f"  %e = tensor.empty({', '.join(names)}) : {tensor}")
    lines.append(f"  %start = linalg.fill ins(%zero : {element}) outs(%e : {tensor}) -> {tensor}")
    return lines


def specification(batch, transposed, unknown, form, types, size):
    m, k, n = size
    shared = batch == "shared"
    lead = [2] if batch else []
    x, y = [*lead, m, k], [*lead, m, n]
    w = ([] if shared or not batch else lead) + ([n, k] if transposed else [k, n])
    tx, tw, ty = (f"tensor<{dims(shape, unknown)}x{element}>" for shape, element in zip((x, w, y), types))
    arguments, lines = [f"%x: {tx}", f"%w: {tw}"], []
    if form == "project":
        lines.append(f"  %y = attn.project %x, %w{' transposed' if transposed else ''} : ({tx}, {tw}) -> {ty}")
    else:
        sources = [("%x", d, tx) for d in range(len(x) - 1)] + [("%w", len(w) - 2 if transposed else len(w) - 1, tw)]
        lines += empty(y, unknown, types[2], sources)
        start = "%start"
        if form == "added":
            arguments.append(f"%c: {ty}")
            start = "%c"
        b = "b, " if batch else ""
        wb = "" if shared else b
        maps = ", ".join(f"affine_map<({b}m, n, k) -> ({d})>" for d in (f"{b}m, k", f"{wb}{'n, k' if transposed else 'k, n'}", f"{b}m, n"))
        if shared and transposed:  # which batch_matmul does not take
            kinds = ", ".join(['"parallel"'] * 3 + ['"reduction"'])
            lines += [f"  %y = linalg.generic {{indexing_maps = [{maps}], iterator_types = [{kinds}]}} "
                      f"ins(%x, %w : {tx}, {tw}) outs({start} : {ty}) {{",
                      f"  ^bb0(%u: {types[0]}, %v: {types[1]}, %s: {types[2]}):",
                      f"    %p = arith.mulf %u, %v : {types[0]}", f"    %t = arith.addf %s, %p : {types[0]}",
                      f"    linalg.yield %t : {types[0]}", f"  }} -> {ty}"]
        else:
            name = "linalg.batch_matmul" if batch else "linalg.matmul"
            lines.append(f"  %y = {name} indexing_maps = [{maps}] ins(%x, %w : {tx}, {tw}) outs({start} : {ty}) -> {ty}")
    text = f"func.func @kernel({', '.join(arguments)}) -> {ty} {{\n" + "\n".join(lines) + f"\n  return %y : {ty}\n}}\n"
    return text, x, w, y


def cases():
    f32, i = ("f32",) * 3, 0
    for batch in ("", "shared", "each"):
        for transposed in (False, True):
            for unknown in (False, True):
                form = ("project", "linalg", "added")[i % 3]
                yield batch, transposed, unknown, form, f32
                i += 1
    for types in (("f16",) * 3, ("bf16",) * 3, ("f64",) * 3, ("f32", "bf16", "f32"), ("f32", "f16", "f16"), ("f16", "f16", "f32")):
        yield "", True, True, "project", types
        yield "each", False, False, "linalg", types


# Of pairs and tiles of bf16: an odd K, the last pair, group of pairs, panel and block; more than a step, a tile and a few panels.
BF16 = ((1, 1, 1), (5, 7, 9), (13, 33, 47), (16, 31, 48), (17, 32, 49), (33, 63, 64), (97, 40, 100), (2, 0, 3), (600, 64, 33), (40, 1025, 50),
        (16, 70, 2100), (4, 300, 800), (8, 33, 95), (9, 300, 130))


def run(case, size, target, rng, all_sizes=SIZES, flags=()):
    batch, transposed, unknown, form, types = case
    text, x, w, y = specification(*case, size)
    with tempfile.TemporaryDirectory() as folder:
        kernel = load_kernel(text, folder, target=target, flags=flags)
        sizes = [size] if not unknown else all_sizes
        for m, k, n in sizes:
            _, xs, ws, ys = specification(batch, transposed, False, form, types, (m, k, n))
            inputs = [elements.store(rng.standard_normal(shape), element) for shape, element in zip((xs, ws), types)]
            start = [elements.store(rng.standard_normal(ys), types[2])] if form == "added" else []
            a, b = (elements.numbers(value) for value in inputs)
            want = a @ (np.swapaxes(b, -1, -2) if transposed else b) + sum(elements.numbers(s) for s in start)
            got = kernel([*inputs, *start], [elements.empty(ys, types[2])], threads=2)[0]
            wide = types[2] in ("f32", "f64")
            rtol = {"f64": 1e-13, "f32": 1e-5, "f16": 1e-3, "bf16": 8e-3}[types[2]]
            atol = (4e-7 if types[2] != "f64" else 1e-15) * k + (1e-6 if wide else rtol)
            compare(f"{case} M={m} K={k} N={n}", got, want, rtol=rtol, atol=atol)
    return len(sizes)


def bf16_cases():
    """Inputs and weights of bf16, which processors multiply in pairs or tiles."""
    same, wide = ("bf16",) * 3, ("bf16", "bf16", "f32")
    yield "", False, True, "project", same
    yield "", True, True, "linalg", wide
    yield "shared", False, True, "added", wide
    yield "each", True, True, "project", same
    yield "each", False, True, "linalg", wide
    for size in ((5, 7, 9), (17, 65, 49), (600, 70, 40)):
        yield "", False, False, "project", same, size


def run_constant(k, n, target, rng):
    """Any number of rows by a constant, which is in panels, with a bias and an elementwise op behind it."""
    w, b = (rng.standard_normal(shape).astype(np.float32) for shape in ((k, n), (n,)))
    x, y = f"tensor<?x{k}xf32>", f"tensor<?x{n}xf32>"
    dense = [f'arith.constant dense<"0x{a.tobytes().hex()}"> : tensor<{"x".join(map(str, a.shape))}xf32>' for a in (w, b)]
    text = (f"func.func @kernel(%x: {x}) -> {y} {{\n  %w = {dense[0]}\n  %b = {dense[1]}\n"
            f"  %y = attn.project %x, %w, %b : ({x}, tensor<{k}x{n}xf32>, tensor<{n}xf32>) -> {y}\n"
            f"  %z = math.absf %y : {y}\n  return %z : {y}\n}}\n")
    with tempfile.TemporaryDirectory() as folder:
        kernel = load_kernel(text, folder, target=target)
        rows = (1, 8, 9, 12, 15, 16, 17, 105)
        for m in rows:
            a = rng.standard_normal((m, k)).astype(np.float32)
            got = kernel([a], [elements.empty([m, n], "f32")], threads=2)[0]
            want = np.abs(a.astype(np.float64) @ w.astype(np.float64) + b)
            compare(f"constant M={m} K={k} N={n}", got, want, rtol=1e-5, atol=4e-7 * k + 1e-6)
    return len(rows)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--target", default="native")
    parser.add_argument("--element", choices=["bf16"], help="only products of this type")
    arguments, flags = parser.parse_known_args()
    rng, count, failures = np.random.default_rng(5), 0, []
    for *case, size in ((*case, BF16[0])[:6] for case in bf16_cases()):
        try:
            count += run(tuple(case), size, arguments.target, rng, BF16, flags)
        except (AssertionError, RuntimeError) as error:
            failures.append(str(error))
            print("FAILED", error)
    if arguments.element:
        print(f"{count} products agree, {len(failures)} kernels do not")
        sys.exit(bool(failures) or count < 50)
    for i, case in enumerate(cases()):
        for size in SIZES if not case[2] and case[4][0] == "f32" and i < 4 else (SIZES[i % len(SIZES)],):
            try:
                count += run(case, size, arguments.target, rng)
            except (AssertionError, RuntimeError) as error:
                failures.append(str(error))
                print("FAILED", error)
    f32 = ("f32",) * 3
    rows = [(("", False, True, "project", f32), FEW), (("", True, True, "added", f32), FEW),
            (("", True, True, "project", ("f32", "bf16", "f32")), FEW[::3]), (("shared", False, False, "added", f32), [(1, 33, 100)]),
            (("shared", True, False, "project", f32), [(1, 33, 100)]),  # entries of one row
            # Few known rows, whose tiles are wide.
            *((("each", False, False, "linalg", f32), [size]) for size in ((1, 8, 769), (4, 7, 1024), (3, 9, 2048), (5, 8, 1024)))]
    for case, sizes in rows:
        try:
            count += run(case, sizes[0], arguments.target, rng, sizes)
        except (AssertionError, RuntimeError) as error:
            failures.append(str(error))
            print("FAILED", error)
    for k, n in ((70, 100), (1090, 49)):
        try:
            count += run_constant(k, n, arguments.target, rng)
        except (AssertionError, RuntimeError) as error:
            failures.append(str(error))
            print("FAILED", error)
    print(f"{count} products agree, {len(failures)} kernels do not")
    sys.exit(bool(failures))


if __name__ == "__main__":
    main()
