# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Innermost loops of one function in assembly: python loops.py FUNCTION [spills] < file.s

Prints a line per loop that multiplies matrices, the largest first:
    fma=24 instructions=48 loads=40 stores=0 stack=0 calls=0 per-fma=2.00
or, of dot products of bf16 pairs, or of bf16 tiles,
    dot=64 instructions=112 loads=32 stores=0 stack=0 calls=0 per-dot=1.75
    tile=4 instructions=14 loads=4 stores=0 stack=0 calls=0 per-tile=3.50
An innermost loop is a cycle of blocks that without its first block is none. It
multiplies matrices if it holds FMA (where the processor has none: pairs of a
vector product and a vector sum) and neither a shift of bits nor a scalef, which
are exp2's. `loads` counts every operand in memory that is read, broadcasts too;
`stack` those that lie on the stack, which is where spilled registers go.
With `spills` lines are shorter: `fma=24 spills=0`, moves of vectors between
registers and the frame, whichever register holds it.
"""
import re
import sys

JUMP = re.compile(r"(?:j[a-z]+|b(?:\.[a-z]+)?|cbn?z|tbn?z)\s+(?:.*,\s*)?(\.L\S+)$")
X86_STORE = re.compile(r"(?:v?mov[a-z0-9]*\s+[^(]*|tilestored\s+%tmm\d+),\s*[^,]*\([^)]*\)$")


def body(text, name):
    """The instructions and labels of a function, without directives."""
    inside, lines = False, []
    for line in text.splitlines():
        line = re.sub(r"\s+(#|//).*", "", line).strip()
        if line == f"{name}:":
            inside = True
        elif inside and re.match(r"\.L?func_end|\.Lfunc_end|\.cfi_endproc", line):
            return lines
        elif inside and line and (line.endswith(":") or not line.startswith(".")):
            lines.append(line)
    sys.exit(f"loops.py: no function {name}")


def blocks(lines):
    """Basic blocks, and where each may go."""
    parts, labels = [[]], {}
    for line in lines:
        if line.endswith(":") and parts[-1]:
            parts.append([])
        if line.endswith(":"):
            labels[line[:-1]] = len(parts) - 1
        parts[-1].append(line)
        if JUMP.match(line):
            parts.append([])
    successors = []
    for i, part in enumerate(parts):
        jump = JUMP.match(part[-1]) if part else None
        ends = part and re.match(r"jmp|b\s|ret", part[-1])
        follows = [] if ends or i + 1 == len(parts) else [i + 1]
        successors.append(follows + ([labels[jump[1]]] if jump and jump[1] in labels else []))
    return parts, successors


def innermost(lines):
    """The loops without another in them, wherever the compiler laid their blocks."""
    parts, successors = blocks(lines)

    def reachable(start, inside):
        seen, front = set(), [start]
        while front:
            new = {s for s in successors[front.pop()] if s in inside} - seen
            seen |= new
            front += new
        return seen

    def loops(inside):
        reach = {i: reachable(i, inside) for i in inside}
        cycles = {frozenset(j for j in reach[i] if i in reach[j]) for i in inside}
        for cycle in sorted(filter(None, cycles), key=min):
            entries = [j for i in range(len(parts)) if i not in cycle for j in successors[i] if j in cycle]
            yield from list(loops(cycle - {min(entries, default=min(cycle))})) or [sorted(cycle)]

    return [sum((parts[i] for i in loop), []) for loop in loops(frozenset(range(len(parts))))]


def count(loop):
    code = [line for line in loop if not line.endswith(":")]
    number = lambda pattern: sum(bool(re.match(pattern, line)) for line in code)
    products, sums = number(r"v?mulp[sd]\b"), number(r"v?addp[sd]\b")
    fma = number(r"vfn?madd\d+p[sd]\b|fmla\b") or min(products, sums)
    arm = any(re.match(r"fmla|ldr|ldp|ld1", line) for line in code)
    if arm:
        loads = number(r"ld")
        stores = number(r"st")
        stack = number(r".*\[sp\b")
    else:
        memory = [line for line in code if "(" in line and not line.startswith(("lea", "prefetch", "j"))]
        stores = sum(bool(X86_STORE.match(line)) for line in memory)
        loads = len(memory) - stores
        stack = sum("(%rsp" in line for line in memory)
    exp2 = number(r"v?psll[dq]|shl\s+v|vscalefp[sd]")
    dots = number(r"vdpbf16ps")
    tiles = number(r"tdpbf16ps")
    products = {"tile": tiles} if tiles else {"dot": dots} if dots else {"fma": 0 if exp2 else fma}
    return dict(products, instructions=len(code), loads=loads, stores=stores,
                stack=stack, calls=number(r"call|blr?\s"))


def print_spills(lines):
    frame = re.compile(r"-?\d*\(%rsp\)|-\d+\(%rbp\)" if "movq\t%rsp, %rbp" in lines else r"-?\d*\(%rsp\)")
    spilled = lambda line: bool(frame.search(line) and re.search(r"%[xyz]mm", line))
    found = [(count(loop).get("fma", 0), sum(map(spilled, loop))) for loop in innermost(lines)]
    for number, moves in sorted(found, reverse=True):
        print(f"fma={number} spills={moves}")


if __name__ == "__main__":
    lines = body(sys.stdin.read(), sys.argv[1])
    if sys.argv[2:] == ["spills"]:
        print_spills(lines)
        sys.exit()
    found = [count(loop) for loop in innermost(lines)]
    for loop in sorted(found, key=lambda loop: -next(iter(loop.values()))):
        product, count = next(iter(loop.items()))
        if count:
            print(" ".join(f"{k}={v}" for k, v in loop.items()),
                  f"per-{product}={loop['instructions'] / count:.2f}")
