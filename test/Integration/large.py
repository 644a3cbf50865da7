# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs with hundreds or thousands of ops in a row: values, and code that grows with the number of ops and nothing else.

Nothing is timed. A guard far above what is needed ends a compiler that takes more than linear time."""
import argparse
import os
import resource
import subprocess
import tempfile

import numpy as np

from kernels import Kernel, attention, attn_opt, compare, finish

GUARD_SECONDS, GUARD_BYTES = 120, 4 << 30
HEADS, DIM = 2, 16
SIZES = [(1, 90), (7, 40), (40, 40), (133, 300)]  # of queries and keys


def predicate(steps, answer):
    return "  %x = attn.mask_fn %s (%b, %h, %i, %j) {\n" + "".join(f"    {s}\n" for s in steps) + \
           f"    attn.yield {answer} : i1\n  }} : SCORES\n"


def comparisons(count, relation, join, place):
    """`i + place(n) RELATION j` for every n, joined one behind the other."""
    steps, answer = [], None
    for n in range(count):
        steps += [f"%c{n} = arith.constant {place(n)} : index", f"%a{n} = arith.addi %i, %c{n} : index",
                  f"%p{n} = arith.cmpi {relation}, %a{n}, %j : index"]
        if answer:
            steps.append(f"%t{n} = arith.{join} {answer}, %p{n} : i1")
        answer = f"%t{n}" if answer else f"%p{n}"
    return predicate(steps, answer)


def function(count):
    """Adds a little to the score and takes it away again."""
    steps = []
    for n in range(count):
        steps += [f"%c{n} = arith.constant {(n % 7 + 1) / 64!r} : f32",
                  f"%t{n} = arith.{'addf' if n % 2 else 'subf'} {f'%t{n - 1}' if n else '%z'}, %c{n} : f32"]
    return "  %x = attn.score_mod %s (%z: f32, %b, %h, %i, %j) {\n" + "".join(f"    {s}\n" for s in steps) + \
           f"    attn.yield %t{count - 1} : f32\n  }} : SCORES\n"


def terms(count, term, join, behind=""):
    return "  %x = attn.mask %s where " + f" {join} ".join(term(n) for n in range(count)) + f"{behind} : SCORES\n"


def program(step, allowed=""):
    rows, scores = f"tensor<{HEADS}x?x{DIM}xf32>", f"tensor<{HEADS}x?x?xf32>"
    return (f"func.func @kernel(%q: {rows}, %k: {rows}, %v: {rows}{allowed}) -> {rows} {{\n"
            f"  %s = attn.scores %q, %k : ({rows}, {rows}) -> SCORES\n{step}"
            f"  %w = attn.softmax %x : SCORES\n"
            f"  %o = attn.context %w, %v : (SCORES, {rows}) -> {rows}\n"
            f"  return %o : {rows}\n}}\n").replace("SCORES", scores)


def parity(count, place):
    return lambda i, j: sum((i + place(n) >= j).astype(int) for n in range(count)) % 2 == 1


def shift(count):
    return sum((1 if n % 2 else -1) * (n % 7 + 1) / 64 for n in range(count))


ALLOWED = f", %m: tensor<{HEADS}x?x?xi1>"
TABLE = f"%m : tensor<{HEADS}x?x?xi1>"
# name -> (count, program of so many ops, pairs that are seen, score function, whether a boolean tensor is read)
MASKS = {
    "xor": (40, lambda n: program(comparisons(n, "sge", "xori", lambda i: 7 * i - 120)),
            lambda n: parity(n, lambda i: 7 * i - 120), None, False),
    "or": (500, lambda n: program(comparisons(n, "eq", "ori", lambda i: 3 * i - 700)),
           lambda n: lambda i, j: np.isin(j - i, 3 * np.arange(n) - 700), None, False),
    "dilated": (60, lambda n: program(terms(n, lambda i: f"dilated({i + 11})", "or")),
                lambda n: lambda i, j: np.any([(i - j) % (d + 11) == 0 for d in range(n)], axis=0), None, False),
    "dilated-and-table": (60, lambda n: program(terms(n, lambda i: f"not dilated({2 * i + 13})", "and", " and " + TABLE), ALLOWED),
                          lambda n: lambda i, j: np.all([(i - j) % (2 * d + 13) != 0 for d in range(n)], axis=0), None, True),
    "window": (150, lambda n: program(terms(n, lambda i: f"not window(left = {i}, right = {i})", "and")),
               lambda n: lambda i, j: abs(i - j) >= n, None, False),
    "score-function": (2000, lambda n: program(function(n)), lambda n: lambda i, j: i * 0 + j * 0 == 0, shift, False),
}


def guarded(arguments):
    subprocess.run([attn_opt(), *arguments], check=True, capture_output=True, timeout=20 * GUARD_SECONDS)


def check_values(name, folder, target):
    count, make, seen, modify, reads_table = MASKS[name]
    kernel = Kernel(make(count), folder, target=target)
    rng = np.random.default_rng(len(name))
    for queries, keys in SIZES:
        q, k, v = (rng.standard_normal((HEADS, n, DIM), np.float32) for n in (queries, keys, keys))
        shape = (1, HEADS, queries, keys)
        visible = np.broadcast_to(seen(count)(np.arange(queries)[:, None], np.arange(keys)[None, :]), shape)
        inputs = [q, k, v]
        if reads_table:
            table = rng.random((HEADS, queries, keys)) < 0.7
            visible, inputs = visible & table, inputs + [table]
        change = None if modify is None else lambda s, *_: s + modify(count)
        want = attention(q[None], k[None], v[None], 1.0, visible, modify=change)[0][0]
        got = kernel(inputs, [np.full_like(q, np.nan)])[0]
        compare(f"{name} of {queries} queries and {keys} keys", got, want, rtol=1e-4, atol=1e-5)


def lines_of(make, count, folder):
    source, assembly = os.path.join(folder, "lines.mlir"), os.path.join(folder, "lines.s")
    with open(source, "w") as f:
        f.write(make(count))
    guarded([source, "--emit=asm", "--target=x86-64-v3", "--verify-each=0", "-o", assembly])
    with open(assembly) as f:
        return sum(1 for _ in f)


def check_growth(name, folder, most):
    """Twice as many ops: at most `most` lines of assembly for each one more."""
    count, make = MASKS[name][:2]
    few, many = lines_of(make, count, folder), lines_of(make, 2 * count, folder)
    print(f"{name}: {few} lines for {count} ops, {many} for {2 * count}")
    if many - few > most * count:
        raise AssertionError(f"{name}: {many - few} lines more for {count} ops more, expected at most {most} for each")


def chain(count, size):
    """x + y + y + .., where every other op reads the one before twice."""
    kind = f"tensor<{size}x8xf32>"
    steps = [f"  %t{n} = arith.{'mulf' if n % 50 == 49 else 'addf'} %t{n - 1}, {'%h' if n % 50 == 49 else '%y'} : {kind}\n"
             for n in range(1, count)]
    return (f"func.func @kernel(%t0: {kind}, %y: {kind}, %h: {kind}) -> {kind} {{\n{''.join(steps)}"
            f"  return %t{count - 1} : {kind}\n}}\n")


def check_chain(size, folder):
    count = 500
    kernel = Kernel(chain(count, size), folder)
    rng = np.random.default_rng(3)
    x, y, h = (rng.random((100, 8), np.float32) for _ in range(3))
    want = x.astype(np.float64)
    for n in range(1, count):
        want = want * h if n % 50 == 49 else want + y
    compare(f"chain of {size} rows", kernel([x, y, h], [np.full_like(x, np.nan)])[0], want, rtol=1e-4)


def check_threads(folder):
    """Work space is for as many threads as there can be; the guard is smaller than that of a million."""
    kernel = Kernel(program("  %x = attn.scale %s by 1.0 : SCORES\n"), folder)
    q = np.random.default_rng(4).standard_normal((HEADS, 20, DIM), np.float32)
    few, many = (kernel([q, q, q], [np.full_like(q, np.nan)], threads=threads)[0] for threads in (1, 10**6))
    compare("a million threads", many, few, rtol=0, atol=0)


def check_refusal(folder):
    source = os.path.join(folder, "many.mlir")
    kind = "tensor<3xf32>"
    with open(source, "w") as f:
        f.writelines(f"func.func @f{n}(%a: {kind}) -> {kind} {{ return %a : {kind} }}\n" for n in range(1000))
    result = subprocess.run([attn_opt(), source, "--emit=obj", "-o", os.path.join(folder, "many.o")], capture_output=True, text=True)
    want = "the module has 1000 public functions, of which 128 can be compiled together"
    if result.returncode != 1 or want not in result.stderr or result.stderr.count("\n") != 1:
        raise AssertionError(f"1000 functions: exit {result.returncode}, {result.stderr!r}")


def checks_of_one_target():
    """Those that would do the same again for another."""
    checks = [(f"growth of {name}", lambda folder, name=name, most=most: check_growth(name, folder, most))
              for name, most in [("or", 40), ("dilated", 1500), ("score-function", 16)]]
    checks += [(f"a chain of {size} rows", lambda folder, size=size: check_chain(size, folder)) for size in ("?", 100)]
    return checks + [("a million threads", check_threads), ("1000 functions", check_refusal)]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--target", default="native")
    options = parser.parse_args()
    if "LD_PRELOAD" not in os.environ:  # sanitizers reserve terabytes
        resource.setrlimit(resource.RLIMIT_AS, (GUARD_BYTES, GUARD_BYTES))
        resource.setrlimit(resource.RLIMIT_CPU, (GUARD_SECONDS, GUARD_SECONDS))
    checks = [(f"values of {name}", lambda folder, name=name: check_values(name, folder, options.target)) for name in MASKS]
    if options.target == "native":
        checks += checks_of_one_target()
    failures = []
    for name, check in checks:
        with tempfile.TemporaryDirectory() as folder:
            try:
                check(folder)
            except (AssertionError, RuntimeError, subprocess.SubprocessError, OSError) as error:
                failures.append(f"{name}: {error}")
    finish(len(checks), failures)


if __name__ == "__main__":
    main()
