# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Two rounds have one row per cell, as one round has, with the samples of both."""
import json
import sys

one, two = (json.load(open(path)) for path in sys.argv[1:])
assert two["rounds"] == 2 and [r["cell"] for r in two["rows"]] == [r["cell"] for r in one["rows"]], two["rows"]
for row in two["rows"]:
    for name, least in (("attn-opt", 2 * 3), ("numpy", 2 * 3)):
        found = row["results"][name]
        assert found["calls"] >= least, (row["cell"], name, found)
    assert row["results"]["attn-opt"]["runs"] >= 2 * 3, row
