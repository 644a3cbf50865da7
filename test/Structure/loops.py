# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Innermost loops of one function in assembly: python loops.py FUNCTION < file.s

Prints a line per loop that multiplies matrices, the largest first:
    fma=24 instructions=48 loads=40 stores=0 stack=0 calls=0 per-fma=2.00
An innermost loop is a label and a jump back to it without another such pair in
between. It multiplies matrices if it holds FMA (where the processor has none:
pairs of a vector product and a vector sum) and no shift of bits, which is
exp2's. `loads` counts every operand in memory that is read, broadcasts too;
`stack` those that lie on the stack, which is where spilled registers go.
"""
import re
import sys

X86_STORE = re.compile(r"v?mov[a-z0-9]*\s+[^(]*,\s*[^,]*\([^)]*\)$")


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


def innermost(lines):
    place = {line[:-1]: i for i, line in enumerate(lines) if line.endswith(":")}
    loops = []
    for end, line in enumerate(lines):
        jump = re.match(r"(?:j[a-z]+|b(?:\.[a-z]+)?|cbn?z|tbn?z)\s+(?:.*,\s*)?(\.L\S+)$", line)
        if jump and place.get(jump.group(1), end) < end:
            loops.append((place[jump.group(1)], end))
    return [lines[a:b + 1] for a, b in loops
            if not any((a, b) != (c, d) and a <= c and d <= b for c, d in loops)]


def count(loop):
    code = [line for line in loop if not line.endswith(":")]
    number = lambda pattern: sum(bool(re.match(pattern, line)) for line in code)
    products, sums = number(r"v?mulps\b"), number(r"v?addps\b")
    fma = number(r"vfn?madd\d+ps\b|fmla\b") or min(products, sums)
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
    shifts = number(r"v?pslld|shl\s+v")
    return dict(fma=0 if shifts else fma, instructions=len(code), loads=loads, stores=stores,
                stack=stack, calls=number(r"call|blr?\s"))


if __name__ == "__main__":
    found = [count(loop) for loop in innermost(body(sys.stdin.read(), sys.argv[1]))]
    for loop in sorted(found, key=lambda loop: -loop["fma"]):
        if loop["fma"]:
            print(" ".join(f"{k}={v}" for k, v in loop.items()),
                  f"per-fma={loop['instructions'] / loop['fma']:.2f}")
