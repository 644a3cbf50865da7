# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs of an attention of f32 with 128 features, compiled for each chip given, and what came of their calls.
The same by the Python package for the first.
usage: chips.py CHIP.."""
import os
import subprocess
import sys

import attn
import numpy as np

Q, KV = "tensor<1x2x4x128xf32>", "tensor<1x2x5x128xf32>"
SOURCE = f"""func.func @f(%q: {Q}, %k: {KV}, %v: {KV}) -> {Q} {{
  %out = attn.sdpa %q, %k, %v scale 0.09 : ({Q}, {KV}, {KV}) -> {Q}
  return %out : {Q}
}}"""
rng = np.random.default_rng(0)
arrays = {name: rng.standard_normal((1, 2, length, 128)).astype(np.float32) for name, length in (("q", 4), ("k", 5), ("v", 5))}
for name, array in arrays.items():
    np.save(name, array)
q, k, v = arrays.values()
weights = np.exp(0.09 * q @ k.swapaxes(-1, -2))
expected = weights / weights.sum(-1, keepdims=True) @ v
for chip in sys.argv[1:]:
    subprocess.run(["attn-opt", "-", f"--target={chip}", "--emit=exe", "-o", chip], input=SOURCE, text=True, check=True, env={**os.environ, "CUDA_HOME": "/none"},
                   stderr=subprocess.DEVNULL)
    done = subprocess.run([f"./{chip}", "q.npy", "k.npy", "v.npy", "-o", "out.npy"], capture_output=True, text=True)
    print(done.stderr.strip() if done.returncode else f"./{chip}: {'right' if np.allclose(np.load('out.npy'), expected, atol=1e-5) else 'wrong'}")
try:
    attn.compile(SOURCE, target=sys.argv[1])(q, k, v)
except attn.Error as error:
    print(error)
