# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""compare-programs.py MADE STORED: pages that programs wrote have the data of the
stored ones, which Python made, but for titles, labels, and tiles, which are those
of a processor."""
import json
import pathlib
import re
import sys

import numpy as np

made, stored = map(pathlib.Path, sys.argv[1:])
DATA = re.compile(r'<script type="application/json"[^>]*>(.*?)</script>', re.DOTALL)
FREE = {"title", "tokens", "tiles"}
NUMBERS = {"query", "key", "value", "scores", "scaled", "masked", "weights", "out", "scale"}


def split(page):
    """The data of a page, and the page around it and its title."""
    text = page.read_text(encoding="utf-8")
    data = json.loads(DATA.search(text)[1])
    return data, DATA.sub("", text).replace(data["title"], "")


def bounds(tiles):
    """The loops over tiles, whatever the processor's sizes of these are."""
    names = {tiles["rows"]: "size", tiles["columns"]: "size", tiles["columns"] - 2: "size - 2"}
    return [re.sub(r"\d+", lambda number: names.get(int(number[0]), number[0]), text) for text in tiles["bounds"]]


count = 0
for page in sorted(made.glob("*.html")):
    (old, old_page), (new, new_page) = split(stored / page.name), split(page)
    assert old_page == new_page, f"{page.name}: another template; run docs/lab/make.py"
    for field in old.keys() - FREE:
        where = f"{page.name} {field}"
        if field in NUMBERS and old[field] is not None:
            np.testing.assert_allclose(np.array(new[field], np.float64), np.array(old[field], np.float64), atol=2e-6, rtol=2e-6, err_msg=where)
        else:
            assert new.get(field) == old[field], f"{where}: {new.get(field)!r:.300} instead of {old[field]!r:.300}"
    for name, labels in new["tokens"].items():
        assert len(labels) == len(old["tokens"][name]), page.name
    assert new["tiles"].keys() == old["tiles"].keys() and bounds(new["tiles"]) == bounds(old["tiles"]), page.name
    count += 1
print(f"{count} pages have the numbers of the stored ones")
