# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""large.py SPEC PROGRAM FOLDER: pages of calls that are too large to show every
pair as text have the same data from the program as from Python."""
import json
import pathlib
import re
import subprocess
import sys

import numpy as np

import attn

spec, program, folder = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
DATA = re.compile(r'<script type="application/json"[^>]*>(.*?)</script>', re.DOTALL)
rng = np.random.default_rng(5)
kernel = attn.compile(spec)


def data_of(html):
    data = json.loads(DATA.search(html)[1])
    return {name: value for name, value in data.items() if value is not None}


for queries, keys in ((5, 9), (40, 40), (64, 64), (1, 70), (700, 90)):
    arrays = [rng.standard_normal((2, heads, length, 8)).astype(np.float16) for heads, length in ((16, queries), (4, keys), (4, keys))]
    files = [folder / f"{name}.npy" for name in "qkv"]
    for file, array in zip(files, arrays):
        np.save(file, array)
    subprocess.run([program, *files, "--lab", folder / "large.html"], check=True)
    html = (folder / "large.html").read_text()
    new, old = data_of(html), data_of(kernel.show(*arrays).html)
    # Kernels of one stage each, and one for all: the last digit may differ.
    packed = {name for name in new if isinstance(new[name], dict) and "packed" in new[name]}
    assert new.keys() == old.keys(), new.keys() ^ old.keys()
    for name in new:
        assert new[name] == old[name] or name in ("query", "key", "value", "scores", "scaled", "masked", "weights", "out"), name
        if name in packed:
            assert {**new[name], "base64": ""} == {**old[name], "base64": ""}, name
        elif new[name] != old[name]:
            np.testing.assert_allclose(np.array(new[name], float), np.array(old[name], float), rtol=2e-5, atol=2e-5, err_msg=name)
    assert queries > 64 or keys > 64 or len(html) < 400000
    print(f"{queries} queries, {keys} keys: {'packed' if packed else 'text'}{', pooled' if 'pooled' in new else ''}, {new['heads']} heads, {len(html) // 1024} KiB")
