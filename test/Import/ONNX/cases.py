# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""cases.py node|expanded|torch [--only TEXT]

node: ONNX's own cases of Attention, RotaryEmbedding and FlexAttention. expanded: the same, as ONNX writes them in primitive operators.
torch: what torch's exporters write for attention modules. Attention in primitive operators must become one attn.sdpa. Each is compiled to a program and must give the stored results."""
import argparse
import sys

from models import Archive, check_fused, check_node, check_torch, report

EXPECTED = {"node": 112, "expanded": 112, "torch": 32}
LITERAL = "sdpa-bool-mask-empty-row/dynamo18"


def check_expanded(archive, case):
    if case["name"].startswith("attention_"):
        check_fused(archive.members[f"{case['name']}/expanded.onnx"])
    check_node(archive, case, "expanded.onnx")


parser = argparse.ArgumentParser()
parser.add_argument("kind", choices=EXPECTED)
parser.add_argument("--only", default="")
arguments = parser.parse_args()
archive = Archive("torch" if arguments.kind == "torch" else "node")
jobs = []
for case in archive.cases:
    if arguments.only not in case["name"]:
        continue
    if arguments.kind == "torch" and case["name"] == LITERAL:
        # Read literally, a row without keys gives the mean of the values; as exporters mean it, 0.
        jobs.append((f"{LITERAL}, strict", lambda case=case: check_torch(archive, case, ("-O0", "--strict-import"))))
        meant = {**case, "sets": [{**case["sets"][0], "outputs": {"out": "sdpa-bool-mask-empty-row/set0/expected_out.npy"}}]}
        jobs.append((LITERAL, lambda case=meant: check_torch(archive, case)))
    elif arguments.kind == "torch":
        jobs.append((case["name"], lambda case=case: check_torch(archive, case)))
    else:
        check = check_node if arguments.kind == "node" else check_expanded
        jobs.append((case["name"], lambda case=case, check=check: check(archive, case)))
if not arguments.only:
    assert len(jobs) == EXPECTED[arguments.kind], len(jobs)
sys.exit(report(jobs))
