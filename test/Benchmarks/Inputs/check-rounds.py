# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Two rounds have one row per cell, as one round has, with the samples of both."""
import json
import sys

one, two = (json.load(open(path)) for path in sys.argv[1:])
assert two["rounds"] == 2 and [r["cell"] for r in two["rows"]] == [r["cell"] for r in one["rows"]], two["rows"]
for row in two["rows"]:
    for name in ("attn-opt", "numpy"):
        assert row["results"][name]["calls"] >= 2 * 3, (row["cell"], name, row["results"][name])
    assert row["results"]["attn-opt"]["runs"] >= 2 * 3, row
