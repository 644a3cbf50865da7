# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""cases.py node|expanded|torch [--only TEXT]

node: ONNX's own cases of Attention, RotaryEmbedding and FlexAttention. expanded: the same, as ONNX writes them in primitive operators.
torch: what torch's exporters write for attention modules. Each is compiled to a program and must give the stored results."""
import argparse
import sys

from models import Archive, check_node, check_torch, run_all

EXPECTED = {"node": 112, "expanded": 112, "torch": 31}

parser = argparse.ArgumentParser()
parser.add_argument("kind", choices=EXPECTED)
parser.add_argument("--only", default="")
arguments = parser.parse_args()
archive = Archive("torch" if arguments.kind == "torch" else "node")
jobs = []
for case in archive.cases:
    if arguments.only not in case["name"]:
        continue
    if arguments.kind == "torch":
        jobs.append((case["name"], lambda case=case: check_torch(archive, case)))
    else:
        model = "model.onnx" if arguments.kind == "node" else "expanded.onnx"
        jobs.append((case["name"], lambda case=case, model=model: check_node(archive, case, model)))
if not arguments.only:
    assert len(jobs) == EXPECTED[arguments.kind], len(jobs)
failures = run_all(jobs)
for name, reason in failures:
    print(f"{name}: {reason}")
print(f"{len(jobs) - len(failures)} of {len(jobs)} agree")
sys.exit(bool(failures) or not jobs)
