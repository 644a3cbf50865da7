# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What nothing but machine code shows: spills, code that ptxas makes wait, products and reads that it
doubles, waits that it moves in front of what they should hide behind, loops that grow.
usage: gates.py SASS-DUMP FILE"""
import json
import pathlib
import re
import shutil
import subprocess
import sys

if not shutil.which("ptxas"):
    print("ptxas is not there: no machine code to look at")
    sys.exit(0)
DUMP, SOURCE = sys.argv[1:]
wrong = []


def output(*command):
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    if done.stderr:
        wrong.append(done.stderr.strip())  # of spills, and C75xx
    return done.stdout


def expected(schedule, features):
    """Of a turn of a warp, from the tiles: a product has 16 rows, 8 columns, 16 steps; a read is 16 by 16."""
    rows, keys, steps = schedule["queries"] // schedule["warps"] // 16, schedule["keys"], features // 16
    return {"products": 2 * rows * (keys // 8) * steps, "ldmatrix": 2 * (keys // 16) * steps + rows * steps,
            "copies": keys * features * 4 // 16 // (32 * schedule["warps"]), "barriers": 2}


def hidden(code):
    """Products between each commit of copies and the wait for it, around the loop."""
    distances, since = [], None
    for name in [*code, *code]:
        if name == "LDGDEPBAR":
            since = 0
        elif name == "DEPBAR" and since is not None:
            distances.append(since)
            since = None
        elif name == "HMMA" and since is not None:
            since += 1
    return sorted(distances, reverse=True)


text = pathlib.Path(SOURCE).read_text()
explained = json.loads(output("attn-opt", SOURCE, "--target=sm_80", "--explain=json", "--emit=cubin", "-o", "gates.cubin"))
dump = [line.split() for line in output(DUMP, "gates.cubin").splitlines()]
kernels = {kernel["function"]: kernel for kernel in explained["gpu"]["kernels"] if kernel["name"].endswith("_attention")}
for slots, share, name, features in re.findall(r"// slots: (\d+), share: ([\d.]+)\nfunc\.func @(\w+)\(%q: tensor<\?x8x\?x(\d+)", text):
    kernel, features = kernels[name], int(features)
    function = next(f for f in explained["functions"] if f["name"] == name)
    code = [line[2] for line in dump if line[0] == kernel["name"]]
    if kernel["spill_bytes"] or {"LDL", "STL"} & set(code):
        wrong.append(f"@{name}: {kernel['spill_bytes']} bytes are spilled, or registers lie in memory")
    wanted = expected(function["attentions"][0]["schedule"], features)
    for loop in kernel["loops"]:
        found = {key: loop[key] for key in wanted}
        if found != wanted:
            wrong.append(f"@{name}: a loop has {found}, not {wanted}")
    plain = kernel["loops"][0]
    if plain["slots"] > 1.1 * int(slots):
        wrong.append(f"@{name}: {plain['slots']} issue slots, more than a tenth above {slots}")
    if plain["tensor_share"] < float(share):
        wrong.append(f"@{name}: at most {plain['tensor_share']:.2f} of the peak, not {share}: {plain['clocks']}")
    for line in dump:
        if line[:2] == ["loop", kernel["name"]]:
            first, last = int(line[2]), int(line[3])
            distances = hidden(code[first:last + 1])
            if len(distances) < 2 or distances[1] < wanted["products"] // 4:
                wrong.append(f"@{name}: copies are hidden behind {distances} products, not twice {wanted['products'] // 4}")
    print(f"@{name}: {plain['slots']} slots, at most {plain['tensor_share']:.2f} of the peak by {plain['bound_by']}")
print("\n".join(wrong))
sys.exit(bool(wrong) or not kernels)
