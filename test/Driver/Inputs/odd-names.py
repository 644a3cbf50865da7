# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles files that have names of odd bytes and of full length."""
import json
import os
import subprocess

os.rename("keep", b"*\n#error x\xff??\\\".mlir")
[source] = os.listdir(b".")
subprocess.run(["attn-opt", source, "--emit=obj"], check=True)
subprocess.run(["attn-opt", source, "--emit=lib", "-o", 252 * "x" + ".so"], check=True)
json.loads(subprocess.run(["attn-opt", source, "--explain=json"], check=True, capture_output=True).stdout)
os.rename(252 * "x" + ".so", "lib.so")
subprocess.run(["attn-opt", source, "--emit=lib", "-o", "lib.so"], check=True)
