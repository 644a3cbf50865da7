# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""onnx-as.py TEXT MODEL: a model in ONNX's own text form as a file."""
import pathlib
import sys

import onnx.parser

source, target = map(pathlib.Path, sys.argv[1:])
target.write_bytes(onnx.parser.parse_model(source.read_text()).SerializeToString())
