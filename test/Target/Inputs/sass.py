# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the compiler reads off machine code. Without a disassembler, products, copies and
reads of matrices must be as many as in the PTX; with nvdisasm every instruction and every branch
must be what it says.
usage: sass.py SASS-DUMP FILE.."""
import collections
import re
import shutil
import subprocess
import sys

# SASS and the PTX that becomes exactly one of it.
SAME = {"HMMA": r"mma\.sync", "LDSM": r"ldmatrix", "LDGSTS": r"cp\.async\.c[ga]\."}
if not shutil.which("ptxas"):
    print("ptxas is not there: no machine code to look at")
    sys.exit(0)
DUMP, SOURCES = sys.argv[1], sys.argv[2:]
wrong = []


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def kernels_of(dump):
    kernels = collections.defaultdict(list)
    for line in dump.splitlines():
        name, _, *instruction = line.split()
        if name == "loop":
            continue
        kernels[name].append(instruction)
    return kernels


def check_ptx(name, code, ptx):
    begin = ptx.index(f".entry {name}(")
    body = ptx[begin:ptx.find(".entry", begin + 1) % (len(ptx) + 1)]
    for sass, pattern in SAME.items():
        found, expected = sum(i[0] == sass for i in code), len(re.findall(rf"^[ \t]*(?:@\S+ )?{pattern}", body, re.MULTILINE))
        if found != expected:
            wrong.append(f"{name}: {found} {sass}, and {expected} of {pattern}")
    flops = {i[2] for i in code if i[0] == "HMMA"}
    if flops - {"4096", "2048"}:
        wrong.append(f"{name}: products of {flops} operations")


def check_disassembly(name, code, text):
    """`text`: lines of nvdisasm, labels and instructions."""
    labels, listed = {}, []
    for line in text.splitlines():
        if m := re.match(r"\s*(\.L_\w+):", line):
            labels[m[1]] = len(listed)
        elif m := re.match(r"\s*/\*[0-9a-f]+\*/\s+(?:@!?U?P\w+\s+)?([A-Z0-9]+)([.\w]*)(.*)", line):
            listed.append((m[1], m[2], m[3]))
    for place, (mine, (theirs, modifiers, operands)) in enumerate(zip(code, listed)):
        if mine[0].split(".")[0] != theirs:
            wrong.append(f"{name} {place}: {mine[0]}, nvdisasm has {theirs}{modifiers}")
        if theirs == "BRA" and (m := re.search(r"\((\.L_\w+)\)", operands)) and mine[3:] != [str(labels[m[1]])]:
            wrong.append(f"{name} {place}: leads to {mine[3:]}, nvdisasm has {labels[m[1]]}")
        width = re.search(r"\.(64|128)\b", modifiers)
        if theirs in ("LDS", "STS", "LDG", "STG", "LDGSTS") and int(mine[1]) > 128 and int(mine[1]) != 4 * int(width[1] if width else 0):
            wrong.append(f"{name} {place}: {mine[1]} bytes, nvdisasm has {theirs}{modifiers}")
        if theirs == "LDSM" and int(mine[1]) != 128 * int(modifiers[-1] if modifiers[-2] == "." else 1):
            wrong.append(f"{name} {place}: {mine[1]} bytes, nvdisasm has {theirs}{modifiers}")
        if theirs == "HMMA" and int(mine[2]) != {"16816": 4096, "1688": 2048, "1684": 1024}[modifiers.split(".")[1]]:
            wrong.append(f"{name} {place}: {mine[2]} operations, nvdisasm has {theirs}{modifiers}")
    if len(listed) < len(code):
        wrong.append(f"{name}: {len(code)} instructions, nvdisasm has {len(listed)}")


disassembler = shutil.which("nvdisasm")
if not disassembler:
    print("nvdisasm is not there: instructions are counted only")
count = 0
for source in SOURCES:
    subprocess.run(["attn-opt", source, "--target=sm_80", "--emit=cubin", "-o", "all.cubin"], check=True, stderr=subprocess.DEVNULL)
    ptx = output("attn-opt", source, "--target=sm_80", "--emit=ptx")
    for name, code in kernels_of(output(DUMP, "all.cubin")).items():
        count += 1
        check_ptx(name, code, ptx)
        if unknown := [i for i in code if i[0] == "?"]:
            wrong.append(f"{name}: {len(unknown)} instructions are not known")
    if disassembler:
        parts = re.split(r"\.section\s+\.text\.(\w+),.*", output(disassembler, "-c", "all.cubin"))
        for name, text in zip(parts[1::2], parts[2::2]):
            check_disassembly(name, kernels_of(output(DUMP, "all.cubin"))[name], text)
print("\n".join(wrong))
print(f"{count} kernels")
sys.exit(bool(wrong) or not count)
