# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes the pages of the five worked examples.

    python docs/lab/make.py [FOLDER] [--inputs FOLDER]

Every number of a page is what a kernel returned.
"""
import argparse
import pathlib
import sys

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE.parent.parent
sys.path.insert(0, str(SOURCE / "python"))

import attn  # noqa: E402

# The labels of queries, and of keys where they are others.
EXAMPLES = {
    "i-am-happy": ("“I am happy”: three words look at each other", ["I", "am", "happy"], None),
    "cat-sat": ("“cat sat”: two tokens, each mostly itself", ["cat", "sat"], None),
    "policy-wages": ("Four words that see only what came before", ["the", "policy", "raised", "wages"], None),
    "four-by-eight": ("Four tokens of eight numbers", [f"token {i}" for i in range(1, 5)], None),
    "one-query": ("One query chooses between two keys", ["query"], ["key 1", "key 2"]),
}


def example(name, inputs):
    """The page of an example."""
    title, queries, keys = EXAMPLES[name]
    kernel = attn.compile(SOURCE / "examples" / f"{name}.mlir")
    arrays = [np.load(inputs / name / f"{a.name}.npy") for a in kernel.arguments]
    return kernel.show(*arrays, tokens=queries, keys=keys, title=title)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="?", type=pathlib.Path, default=HERE)
    parser.add_argument("--inputs", type=pathlib.Path, default=SOURCE / "test" / "Integration" / "data" / "seeds")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    for name in EXAMPLES:
        picture = example(name, options.inputs)
        picture.save(options.folder / f"{name}.html")
        print(f"{name}.html: {len(picture.html.encode()) / 1024:.1f} KiB")


if __name__ == "__main__":
    main()
