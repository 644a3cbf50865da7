# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sweeps compiled projections over sizes around every block and tile against the definition in f64 and the Reference.

Rows, inputs and columns take the sizes 1, block - 1, block, block + 1 of the register tile, of a panel and of what is
packed at a time. Weights are arguments, constants (which are packed at compile time) and resources; products are
written as attn.project and as linalg.matmul."""
import argparse
import sys
import tempfile

import numpy as np

from kernels import Kernel, compare, reference

ROWS = (1, 2, 5, 6, 7, 12, 13, 130, 259)
DEPTHS = (1, 2, 7, 8, 9, 255, 257, 600)
COLUMNS = (1, 7, 8, 9, 15, 16, 17, 63, 64, 65, 127, 130, 1030)


def constant(weight, kind):
    """The constant's text, and what must stand at the end of the file."""
    if kind == "resource":
        data = (b"\x04\0\0\0" + weight.tobytes()).hex().upper()
        return "dense_resource<weight>", f'{{-# dialect_resources: {{ builtin: {{ weight: "0x{data}" }} }} #-}}\n'
    digits = weight.tobytes().hex().upper()
    return (f'dense<"0x{digits}">' if weight.size > 1 else f"dense<{float(weight[0, 0])!r}>"), ""


def project(weight, kind, bias, batch):
    depth, columns = weight.shape
    lead = "?x?x" if batch else "?x"
    tx, ty = f"tensor<{lead}{depth}xf32>", f"tensor<{lead}{columns}xf32>"
    tw, tb = f"tensor<{depth}x{columns}xf32>", f"tensor<{columns}xf32>"
    arguments, lines, end = [f"%x: {tx}"], [], ""
    if kind == "argument":
        arguments.append(f"%w: {tw}")
    else:
        text, end = constant(weight, kind)
        lines.append(f"  %w = arith.constant {text} : {tw}\n")
    if bias:
        arguments.append(f"%b: {tb}")
    operands, types = ("%x, %w, %b", f"{tx}, {tw}, {tb}") if bias else ("%x, %w", f"{tx}, {tw}")
    return (f"func.func @kernel({', '.join(arguments)}) -> {ty} {{\n{''.join(lines)}"
            f"  %y = attn.project {operands} : ({types}) -> {ty}\n  return %y : {ty}\n}}\n{end}")


def matmul(weight, kind):
    """linalg.matmul with its weight as it is, or, a constant, transposed."""
    depth, columns = weight.shape
    tx, ty = f"tensor<?x{depth}xf32>", f"tensor<?x{columns}xf32>"
    tw = f"tensor<{depth}x{columns}xf32>"
    argument, line, end, maps = f", %w: {tw}", "", "", ""
    if kind != "argument":
        tw = f"tensor<{columns}x{depth}xf32>"
        text, end = constant(np.ascontiguousarray(weight.T), kind)
        argument, line = "", f"  %w = arith.constant {text} : {tw}\n"
        dims = ("m, k", "n, k", "m, n")
        maps = "indexing_maps = [" + ", ".join(f"affine_map<(m, n, k) -> ({d})>" for d in dims) + "] "
    return (f"func.func @kernel(%x: {tx}{argument}) -> {ty} {{\n{line}  %c0 = arith.constant 0 : index\n"
            f"  %zero = arith.constant 0.0 : f32\n  %rows = tensor.dim %x, %c0 : {tx}\n"
            f"  %empty = tensor.empty(%rows) : {ty}\n"
            f"  %start = linalg.fill ins(%zero : f32) outs(%empty : {ty}) -> {ty}\n"
            f"  %y = linalg.matmul {maps}ins(%x, %w : {tx}, {tw}) outs(%start : {ty}) -> {ty}\n  return %y : {ty}\n}}\n{end}")


def cases():
    """(depth, columns, kind of weight, bias, batch, writer)"""
    kinds = ("argument", "dense", "resource")
    for i, columns in enumerate(COLUMNS):
        yield DEPTHS[i % len(DEPTHS)], columns, "argument", i % 2 == 0, i % 3 == 0, project
        yield DEPTHS[(i + 3) % len(DEPTHS)], columns, kinds[1 + i % 2], i % 2 == 1, i % 4 == 0, project
    for i, depth in enumerate(DEPTHS):
        yield depth, COLUMNS[(5 * i + 2) % len(COLUMNS)], "argument", i % 2 == 1, False, project
    yield 600, 70, "argument", False, False, matmul
    yield 9, 33, "dense", False, False, matmul


def run(case, target, rng):
    depth, columns, kind, bias, batch, write = case
    weight = rng.standard_normal((depth, columns)).astype(np.float32)
    name = f"{write.__name__} K={depth} N={columns} {kind}{' bias' if bias else ''}{' batch' if batch else ''}"
    with tempfile.TemporaryDirectory() as folder:
        text = project(weight, kind, bias, batch) if write is project else matmul(weight, kind)
        kernel = Kernel(text, folder, target=target)
        for rows in ROWS:
            lead = (2, rows) if batch else (rows,)
            x = rng.standard_normal((*lead, depth)).astype(np.float32)
            b = rng.standard_normal(columns).astype(np.float32)
            inputs = [x] + ([weight] if kind == "argument" else []) + ([b] if bias else [])
            want = x.astype(np.float64) @ weight.astype(np.float64) + (b if bias else 0)
            results = [kernel(inputs, [np.full((*lead, columns), np.nan, np.float32)], threads=threads)[0]
                       for threads in (1, 3)]
            atol = 4e-7 * depth + 1e-6  # errors grow with partial sums, not with the result
            compare(f"{name} M={rows}", results[0], want, rtol=1e-5, atol=atol)
            if results[0].tobytes() != results[1].tobytes():
                raise AssertionError(f"{name} M={rows}: differs with the number of threads")
            if rows == 5 and kind != "resource":  # which the Reference does not read
                expected = reference(kernel.source, inputs, 1, folder)[0]
                compare(f"{name} Reference", expected, want, rtol=1e-5, atol=atol)
        alone = [np.ascontiguousarray(a) for a in ([x[..., :1, :]] + inputs[1:])]
        row = kernel(alone, [np.full((*x.shape[:-2], 1, columns), np.nan, np.float32)])[0]
        if row.tobytes() != results[0][..., :1, :].tobytes():
            raise AssertionError(f"{name}: a row alone differs from the row among others")
    return len(ROWS)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--target", default="native")
    arguments = parser.parse_args()
    rng, count, failures = np.random.default_rng(11), 0, []
    for case in cases():
        try:
            count += run(case, arguments.target, rng)
        except (AssertionError, RuntimeError) as error:
            failures.append(str(error))
            print("FAILED", error)
    print(f"{count} projections agree, {len(failures)} kernels do not")
    sys.exit(bool(failures) or count < 200)


if __name__ == "__main__":
    main()
