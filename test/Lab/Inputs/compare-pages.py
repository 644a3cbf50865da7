# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""compare-pages.py MADE STORED GOLDENS: the numbers of pages that were made just
now, and of those that are stored, are those of the goldens, which are f64."""
import json
import pathlib
import re
import sys

import numpy as np

made, stored, goldens = map(pathlib.Path, sys.argv[1:])
DATA = re.compile(r'<script type="application/json"[^>]*>(.*?)</script>', re.DOTALL)
# What a page calls it, and what the golden does.
NAMES = {"weights": "weights", "out": "out", "scaled": "scores"}


def data_of(page):
    return json.loads(DATA.search(page.read_text(encoding="utf-8"))[1])


compared = 0
for page in sorted(made.glob("*.html")):
    old = data_of(stored / page.name)
    new = data_of(page)
    for field in ("title", "tokens", "specification", "mask", "dim", "scale"):
        assert old[field] == new[field], f"{page.name}: {field} changed; run docs/lab/make.py"
    for field, name in NAMES.items():
        golden = goldens / page.stem / f"expected_{name}.npy"
        if not golden.exists():
            continue
        want = np.load(golden)
        for data in (old, new):
            found = np.array(data[field], np.float64).reshape(want.shape)
            # A score that the mask excludes is -inf in the golden, and the page's before the mask.
            np.testing.assert_allclose(np.where(np.isfinite(want), found, want), want, atol=1e-5, rtol=1e-5, err_msg=f"{page.name} {field}")
        compared += 1
print(f"{compared} arrays are those of the goldens")
