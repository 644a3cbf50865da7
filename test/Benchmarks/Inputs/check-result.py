# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks the fields of a result, and that the chart is XML."""
import json
import sys
import xml.etree.ElementTree

result, chart = json.load(open(sys.argv[1])), xml.etree.ElementTree.parse(sys.argv[2])
for field in ("date", "cpu", "isa", "conditions", "versions", "seconds"):
    assert result[field], field
assert {"attn-opt", "numpy", "Python"} <= set(result["versions"])
assert result["limits"]["1"]["fma_gflops"] > 0 and result["limits"]["1"]["read_256_mb_gbs"] > 0
assert [row["cell"] for row in result["rows"]] == ["tiny", "tiny-decode"]
for row in result["rows"]:
    ours, peer = row["results"]["attn-opt"], row["results"]["numpy"]
    assert ours["peak_pct"] > 0 and ours["ms"] > 0 and ours["error"] < 2e-6 and peer["ms"] > 0, row
    assert 0 <= ours["unshared_items_pct"] <= 100 and ours.get("unshared_pct", 1) > 0, row
    assert row["best_peer"] == "numpy" and row["ratio"] == peer["ms"] / ours["ms"]
assert result["rows"][0]["results"]["attn-opt"]["items"] >= 2
assert result["rows"][1]["results"]["attn-opt"]["read_pct"] > 0
assert any("tiny-decode" in (text.text or "") for text in chart.iter("{http://www.w3.org/2000/svg}text"))
