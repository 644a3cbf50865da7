# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""onnx-as.py TEXT MODEL [--all]: a model in ONNX's own text form as a file; with --all, what no node reads is an output."""
import pathlib
import sys

import onnx.parser

source, target = map(pathlib.Path, sys.argv[1:3])
model = onnx.parser.parse_model(source.read_text())
if "--all" in sys.argv:
    graph = model.graph
    known = {name for node in graph.node for name in node.input} | {output.name for output in graph.output} | {""}
    graph.output.extend(onnx.ValueInfoProto(name=name) for node in graph.node for name in node.output if name not in known)
target.write_bytes(model.SerializeToString())
