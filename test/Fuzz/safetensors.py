# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Mutated files of weights beside a specification that reads them: they are read, or refused in one line that names the file."""
import json
import os
import struct

import numpy as np

import observe

SPECIFICATION = b"""func.func @f(%x: tensor<?x4xf32>) -> (tensor<?x4xf32>, tensor<3xi1>) {
  %w = attn.weight "w" from "weights.safetensors" : tensor<4x4xf32>
  %b = attn.weight "b" from "weights.safetensors" : tensor<3xi1>
  %y = attn.project %x, %w : (tensor<?x4xf32>, tensor<4x4xf32>) -> tensor<?x4xf32>
  return %y, %b : tensor<?x4xf32>, tensor<3xi1>
}
"""
NUMBERS = [0, 1, 3, 4, 63, 64, 67, 68, -1, 2**31, 2**32, 2**53, 2**62, 2**63 - 1, 2**63, 2**64 - 1, 2**64, 1e300, 0.5, "4", None, True, [], {}]


def pack(header, data):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


class Safetensors:
    name, ending = "safetensors", ".safetensors"

    def __init__(self, folder, tool=None):
        self.tool = os.path.realpath(tool or os.environ.get("ATTN_OPT", "attn-opt"))
        self.folder, self.sanitized = folder, observe.is_sanitized(self.tool)
        self.slow = 5 if self.sanitized else 1

    def make(self, seed, index):
        self.rng = np.random.default_rng([seed, index])
        data = self.rng.integers(0, 256, 64, np.uint8).tobytes() + bytes(self.rng.integers(0, 2, 3, np.uint8))
        header = {"w": {"dtype": "F32", "shape": [4, 4], "data_offsets": [0, 64]}, "b": {"dtype": "BOOL", "shape": [3], "data_offsets": [64, 67]}}
        if self.rng.random() < 0.6:
            for _ in range(int(self.rng.integers(1, 4))):
                self.change(header)
        file = pack(self.nested() if self.rng.random() < 0.03 else header, data)
        return (file if self.rng.random() < 0.4 else self.damage(bytearray(file))), []

    def pick(self, values):
        return values[int(self.rng.integers(len(values)))]

    def change(self, header):
        entry = header.get(self.pick(["w", "b"]))
        kind = int(self.rng.integers(8))
        if kind == 0 or not isinstance(entry, dict):
            header[self.pick(["w", "b", "__metadata__", "", "c" * 1000])] = self.pick(NUMBERS)
        elif kind == 1:
            header.pop(self.pick(list(header)), None)
        elif kind == 2:
            entry["dtype"] = self.pick(["F64", "F16", "U8", "F8_E4M3", "", 5, None])
        elif kind == 3:
            entry.pop(self.pick(list(entry)), None) if entry else None
        else:
            name = self.pick(["shape", "data_offsets", "data_offsets"])
            numbers = entry.get(name)
            if isinstance(numbers, list) and numbers and kind < 7:
                numbers[int(self.rng.integers(len(numbers)))] = self.pick(NUMBERS)
            else:
                entry[name] = self.pick([[], [4], [4, 4, 4], [64, 0], *NUMBERS])

    def nested(self):
        depth = self.pick([4, 9, 100, 200000])
        return self.pick([b"[", b'{"w":', b'{"w":{"shape":['])[:9] * depth

    def damage(self, file):
        for _ in range(int(self.rng.integers(1, 4))):
            at = int(self.rng.integers(len(file) + 1))
            kind = int(self.rng.integers(6))
            if kind == 0 and file:
                file[min(at, len(file) - 1)] ^= 1 << int(self.rng.integers(8))
            elif kind == 1 and len(file) >= 8:
                file[:8] = struct.pack("<Q", self.pick([0, 1, 7, 8, len(file) - 8, len(file), 2**31, 2**63, 2**64 - 8, 2**64 - 1]))
            elif kind == 2:
                del file[at:]
            elif kind == 3:
                file[at:at] = self.rng.integers(0, 256, int(self.rng.integers(1, 40)), np.uint8).tobytes()
            elif kind == 4:
                del file[at:at + int(self.rng.integers(1, 20))]
            else:
                file[8:8] = b" " * int(self.rng.integers(0, 9))
        return bytes(file)

    def load(self, path):
        return path.read_bytes(), []

    def stored(self, data, options):
        return data

    def check(self, data, options):
        observe.fresh(self.folder)
        (self.folder / "input.mlir").write_bytes(SPECIFICATION)
        (self.folder / "weights.safetensors").write_bytes(data)
        outcome = observe.run([self.tool, "../input.mlir", "--compile-to=fused", "-o", "out.mlir"], self.folder, self.slow, not self.sanitized)
        wrong = observe.ending(outcome, self.slow)
        if not wrong and outcome.code and (outcome.stderr.count("\n") != 1 or "weights.safetensors': " not in outcome.stderr):
            wrong = "not one line that names the file"
        if not wrong:
            left = observe.leftovers(self.folder, [] if outcome.code else ["out.mlir"])
            wrong = f"leftover {left[0]}" if left else None
        return wrong and (observe.signature(wrong, outcome.stderr), outcome.stderr)
