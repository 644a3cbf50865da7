# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whether the kernels of one entry are the same in two files of assembly: python apart.py ENTRY first.s second.s

Its kernels are functions called ENTRY.NAME; numbers of labels and of constants, which count all functions of a file, are not
compared."""
import re
import sys


def kernels(path, entry):
    found, name = {}, None
    with open(path) as f:
        for line in f:
            label = re.match(rf"{re.escape(entry)}\.(\w+):", line)
            name = label[1] if label else name
            if name:
                found.setdefault(name, []).append(re.sub(r"\.L(BB|CPI|JTI|func_end|tmp)\d+", r".L\1", line.split("#")[0].rstrip()))
            if line.startswith("\t.cfi_endproc"):
                name = None
    return found


entry, first, second = sys.argv[1:]
a, b = kernels(first, entry), kernels(second, entry)
for file, of in (("first", a), ("second", b)):
    if not of:
        sys.exit(f"{entry}: the {file} file has no function of it")
different = sorted(name for name in a.keys() | b.keys() if a.get(name) != b.get(name))
if different:
    sys.exit(f"{entry}: other code in {', '.join(different)}")
