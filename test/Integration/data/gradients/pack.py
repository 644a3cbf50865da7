#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Packs the cases that `make_grads.py` wrote into cases.zip: `pack.py FOLDER`.

Answers of f32 and narrower types are kept in f32, whose rounding is a hundredth of their tolerance; what is 0 only in exact
arithmetic stays different from 0."""
import io
import json
import pathlib
import sys
import zipfile

import numpy as np

STAMP = (2026, 1, 1, 0, 0, 0)


def npy(array):
    room = io.BytesIO()
    np.save(room, array)
    return room.getvalue()


def answer(path, tolerance):
    want = np.load(path)
    if tolerance["rtol"] < 1e-9:
        return want
    narrow = want.astype(np.float32)
    return np.where((narrow == 0) & (want != 0), np.float32(1e-45), narrow)


def main():
    source = pathlib.Path(sys.argv[1])
    cases = json.loads((source / "cases.json").read_text())["cases"]
    index = []
    with zipfile.ZipFile(pathlib.Path(__file__).parent / "cases.zip", "w", zipfile.ZIP_DEFLATED, compresslevel=9) as out:
        def add(name, data):
            out.writestr(zipfile.ZipInfo(name, STAMP), data, zipfile.ZIP_DEFLATED, 9)
        for case in cases:
            name, folder = case["name"], source / case["name"]
            learned = [n for n, a in case["arguments"].items() if a["gradient"]]
            index.append({"name": name, "why": case["why"], "learned": learned, "tolerance": case["tolerance"], "zeros": case["zeros"]})
            add(f"{name}/forward.mlir", (folder / "forward.mlir").read_bytes())
            for path in sorted([*folder.glob("in_*.npy"), *folder.glob("cotangent_*.npy")]):
                add(f"{name}/{path.name}", path.read_bytes())
            for n in learned:
                add(f"{name}/want_d{n}.npy", npy(answer(folder / f"expected_d{n}.npy", case["tolerance"][f"d{n}"])))
        add("index.json", json.dumps(index, indent=1))


main()
