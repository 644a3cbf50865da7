# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes the pages of the five worked examples.

    python docs/lab/make.py [FOLDER] [--inputs FOLDER]

Every number of a page is what a kernel returned: the example itself gives
context and weights; the same specification that returns other values of its
body gives projections, and the scores of one stage at a time.
"""
import argparse
import json
import os
import pathlib
import re
import sys

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE.parent.parent
sys.path.insert(0, str(SOURCE / "python"))

import attn  # noqa: E402
from attn import _driver, _lab  # noqa: E402

# The labels of queries, and of keys where they are others.
EXAMPLES = {
    "i-am-happy": ("“I am happy”: three words look at each other", ["I", "am", "happy"], None),
    "cat-sat": ("“cat sat”: two tokens, each mostly itself", ["cat", "sat"], None),
    "policy-wages": ("Four words that see only what came before", ["the", "policy", "raised", "wages"], None),
    "four-by-eight": ("Four tokens of eight numbers", [f"token {i}" for i in range(1, 5)], None),
    "one-query": ("One query chooses between two keys", ["query"], ["key 1", "key 2"]),
}
_HEAD = re.compile(r"(func\.func @\w+\([^)]*\)\s*->\s*)(.*?) \{\n", re.DOTALL)
_VALUE = re.compile(r"^\s*%(\w+)\s*= (attn\.\w+).* (tensor<[^>]*>)$", re.MULTILINE)
_RETURN = re.compile(r"return .*")


def returning(text, *names):
    """The specification, with other results."""
    types = {name: type for name, _, type in _VALUE.findall(text)}
    results = ", ".join(types[n] for n in names)
    text = _HEAD.sub(lambda match: f"{match[1]}({results}) {{\n", text)
    return _RETURN.sub(f"return {', '.join('%' + n for n in names)} : {results}", text)


def stages(text):
    """The name of the value that each op of the example makes."""
    return {op: name for name, op, _ in _VALUE.findall(text) if op != "attn.project"}


def formulas(part):
    """What --explain=json says of a set of tiles, in the form of --explain."""
    for piece in part["parts"]:
        low, high = (f"{word}({', '.join(b)})" if len(b) > 1 else b[0] for word, b in (("max", piece["lower"]), ("min", piece["upper"])))
        yield f"kt in [{low} .. {high}]" + "".join(f"  if {c}" for c in piece["if"] + piece["tests"])


def tiles_of(file, masked):
    """The tile map of the example's one attention, with the sizes and bounds that the compiler chose."""
    explained = json.loads(_driver.run([str(file), "--explain=json", "--emit=header", "-o", os.devnull]))
    attention, = explained["functions"][0]["attentions"]
    bounds = [f"visit: {f}" for f in formulas(attention["visit"])] + [f"test the mask: {f}" for f in formulas(attention["not_full"])]
    return _lab.tile_map(masked, attention["schedule"]["queries"], attention["schedule"]["keys"], bounds)


def example(name, inputs):
    """The data of an example's page."""
    title, queries, keys = EXAMPLES[name]
    file = SOURCE / "examples" / f"{name}.mlir"
    text = file.read_text(encoding="utf-8")
    kernel = attn.compile(file)
    arrays = [np.load(inputs / name / f"{a.name}.npy") for a in kernel.arguments]
    made = dict(zip((a.name for a in kernel.arguments), arrays))
    if "attn.project" in text:
        made.update(attn.compile(returning(text, "q", "k", "v"))(*arrays)._asdict())
    results = kernel(*arrays)._asdict()
    op = stages(text)
    steps = [op["attn.scores"], op["attn.scale"], op.get("attn.mask", op["attn.scale"])]
    raw, scaled, masked = (np.asarray(attn.compile(returning(text, "out", s))(*arrays)._asdict()[s]) for s in steps)
    scale = float(re.search(r"attn\.scale .* by (\S+)", text)[1])
    return _lab.describe(title=title, entry=kernel.name, query=made["q"], key=made["k"], value=made["v"], scores=raw, scaled=scaled,
                         masked=masked, weights=results["weights"], out=results["out"], scale=scale, queries=queries, keys=keys or queries,
                         tiles=tiles_of(file, masked), specification=text)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="?", type=pathlib.Path, default=HERE)
    parser.add_argument("--inputs", type=pathlib.Path, default=SOURCE / "test" / "Integration" / "data" / "seeds")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    for name in EXAMPLES:
        picture = _lab.Picture(example(name, options.inputs))
        picture.save(options.folder / f"{name}.html")
        print(f"{name}.html: {len(picture.html.encode()) / 1024:.1f} KiB")


if __name__ == "__main__":
    main()
