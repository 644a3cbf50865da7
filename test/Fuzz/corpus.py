# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The specifications of this repository, cut into whole modules: what mutants are made of."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "test" / "Integration"))
import program  # noqa: E402

LARGEST = 8000  # characters; larger modules are slow and say no more
BLOCK = re.compile(r"^ *```mlir\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
COMMENT = re.compile(r"^\s*//.*\n", re.MULTILINE)


def pieces(path):
    text = path.read_text()
    if path.suffix == ".md":
        return BLOCK.findall(text)
    text = re.sub(r"^#---.*$", "// -----", text, flags=re.MULTILINE)
    return re.split(r"^// -----.*$", text, flags=re.MULTILINE)


def files():
    yield from sorted((ROOT / "examples").glob("*.mlir"))
    yield from sorted((ROOT / "docs").glob("*.md"))
    for path in sorted((ROOT / "test").rglob("*")):
        if path.suffix in (".mlir", ".test") and not {"Fuzz", "programs"} & set(path.parts):
            yield path


def modules():
    """Texts, in an order that depends on the repository alone. Those of tests of messages are wrong already, and are few."""
    found = {}
    for path in files():
        wrong = re.search("invalid|refuse|not-fused|errors|contradict", path.name)
        for piece in pieces(path)[:: 8 if wrong else 1]:
            text = COMMENT.sub("", piece).strip() + "\n"
            # Functions of later phases are no specifications, nor are pieces that FileCheck reads.
            if "func.func" in text and len(text) <= LARGEST and not re.search(r"\bllvm\.|memref|CHECK|RUN:", text):
                found.setdefault(text)
    for one in program.programs():
        found.setdefault(COMMENT.sub("", one.unknown()))
        found.setdefault(COMMENT.sub("", one.known(one.sizes[0])))
    return list(found)
