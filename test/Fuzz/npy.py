# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Mutated .npy files and options into compiled executables: they compute, or say in one line why not, and no result is written."""
import base64
import io
import json
import os
import re
import subprocess

import numpy as np

import observe

OLD = b"an older file\n"
PROGRAMS = {
    "attend": ("""func.func @attend(%q: tensor<?x4xf32>, %k: tensor<?x4xf32>, %v: tensor<?x3xf32>, %len: tensor<i32>, %ok: tensor<?x?xi1>)
    -> (tensor<?x3xf32>, tensor<?xf32>) {
  %out, %lse = attn.sdpa %q, %k, %v scale 0.5 where key_length(%len : tensor<i32>) and %ok : tensor<?x?xi1> returning(out, lse)
      : (tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x3xf32>) -> (tensor<?x3xf32>, tensor<?xf32>)
  return %out, %lse : tensor<?x3xf32>, tensor<?xf32>
}
""", lambda n, m: [((n, 4), "<f4"), ((m, 4), "<f4"), ((m, 3), "<f4"), ((), "<i4"), ((n, m), "|b1")], ["out", "lse"]),
    "narrow": ("""func.func @narrow(%q: tensor<?x2x?x8xbf16>, %k: tensor<?x2x?x8xbf16>, %v: tensor<?x2x?x8xf16>, %ids: tensor<?xi64>)
    -> tensor<?x2x?x8xf16> {
  %out = attn.sdpa %q, %k, %v scale 0.5 where causal(offset = %ids : tensor<?xi64>)
      : (tensor<?x2x?x8xbf16>, tensor<?x2x?x8xbf16>, tensor<?x2x?x8xf16>) -> tensor<?x2x?x8xf16>
  return %out : tensor<?x2x?x8xf16>
}
""", lambda n, m: [((2, 2, n, 8), "|V2"), ((2, 2, m, 8), "|V2"), ((2, 2, m, 8), "<f2"), ((2,), "<i8")], ["out"]),
}
INPUTS = {"attend": ["q", "k", "v", "len", "ok"], "narrow": ["q", "k", "v", "ids"]}
SIZES = ["0", "1", "2", "3", "4", "7", "100", "65536", "2147483648", "4611686018427387904", "9223372036854775807",
         "18446744073709551616", "-1", "-9223372036854775808", "0x4", "4L", "4.0", "None", "'4'", "1" * 200, ""]
DESCR = ["<f4", "<f8", ">f4", ">f8", "=f4", "|f4", "<f2", ">f2", "<V2", "|V2", ">V2", "<i4", "<i8", ">i8", "|b1", "|u1", "<c8", "|O", "|S4",
         "<U3", "<f16", "", "f4", "<f", "<f-4", "<f99999999999999999999", "<V0", "<M8[s]"]


def header(descr, fortran, shape, version=1):
    text = f"{{'descr': {descr!r}, 'fortran_order': {fortran}, 'shape': {shape}, }}"
    return framed(text, version)


def framed(text, version=1, length=None):
    data = text.encode("latin-1", "replace")
    data += b" " * (-(len(data) + 1 + (10 if version == 1 else 12)) % 64) + b"\n"
    length = len(data) if length is None else length
    return b"\x93NUMPY" + bytes([version, 0]) + (length % 2**(16 if version == 1 else 32)).to_bytes(2 if version == 1 else 4, "little") + data


class Npy:
    name, ending = "npy", ".case"

    def __init__(self, folder, tool=None):
        self.folder, self.tool = folder, os.path.realpath(tool or os.environ.get("ATTN_OPT", "attn-opt"))
        self.sanitized = observe.is_sanitized(self.tool)
        # Nothing here is slow, and processors of the host may lack nothing of x86-64.
        place = folder.parent / f"{folder.name}-programs"
        place.mkdir()
        self.programs = {}
        for name, (text, _, _) in PROGRAMS.items():
            (place / f"{name}.mlir").write_text(text)
            self.programs[name] = str(place / name)
            subprocess.run([self.tool, str(place / f"{name}.mlir"), "--emit=exe", "-o", self.programs[name]], check=True)

    # --- inputs ---

    def make(self, seed, index):
        self.rng = rng = np.random.default_rng([seed, index])
        self.pick = lambda words: words[int(rng.integers(len(words)))]
        name = self.pick(list(PROGRAMS))
        files = [self.array(*spec) for spec in PROGRAMS[name][1](int(self.pick([0, 1, 3, 5])), int(self.pick([1, 4, 9])))]
        valid = index % 50 == 0
        if not valid:
            for _ in range(int(rng.integers(1, 3))):
                i = int(rng.integers(len(files)))
                files[i] = self.mutated(files[i])
        words = self.words(name, len(files), valid)
        case = {"program": name, "valid": valid, "files": [base64.b64encode(f).decode() for f in files]}
        return json.dumps(case, indent=1).encode() + b"\n", words

    def array(self, shape, descr):
        kind = np.dtype(descr)
        array = self.rng.standard_normal(shape)
        array = {"b": array < 0, "i": np.abs(array * 3).astype("i8"), "V": array.astype("f4").view("V4") if shape else array}.get(kind.kind, array)
        if kind.kind == "V":
            array = np.ascontiguousarray(self.rng.standard_normal(shape).astype("<f4")).view("<u2")[..., 1::2].copy().view("V2")
        order = self.pick([None, None, "F"])
        array = np.asarray(array if kind.kind == "V" else np.asarray(array).astype(kind), order=order)
        file = io.BytesIO()
        np.lib.format.write_array(file, array, version=self.pick([(1, 0), (2, 0), (3, 0)]))
        return file.getvalue()

    def mutated(self, data):
        begin = 10 if data[6:7] == b"\x01" else 12
        text = data[begin:data.find(b"\n") + 1].decode("latin-1")
        body = data[data.find(b"\n") + 1:]
        kind = self.rng.integers(8)
        if kind == 0:
            new = re.sub(r"'descr': '[^']*'", lambda m: f"'descr': {self.pick(DESCR)!r}", text)
        elif kind == 1:
            shape = ", ".join(self.pick(SIZES[:11] if self.rng.random() < 0.9 else SIZES) for _ in range(int(self.rng.integers(0, 9))))
            new = re.sub(r"\([^)]*\)", lambda m: f"({shape}{self.pick([',', ''])})", text)
        elif kind == 2:
            new = re.sub(r"True|False", lambda m: self.pick(["True", "False", "0", "None", "false", "'True'", ""]), text)
        elif kind == 3:
            new = self.pick(["", "{", "{}", "{" * 5000, "[" * 60000, "'" * 100, text + text, text * 300, text.replace("shape", "sharp"),
                             text.replace("}", "'x': 1, }"), text.replace("}", ""), text.replace("'", '"'), "\0" * 50, text.upper()])
        else:
            return self.bytes_of(data)
        version = self.pick([1, 1, 1, 2, 2, 3, 3, 0, 4, 255])
        length = self.pick([None] * 15 + [0, 1, 65535, 2**32 - 1, len(new) // 2])
        return framed(new, version, length) + body

    def bytes_of(self, data):
        data = bytearray(data)
        for _ in range(int(self.rng.integers(1, 6))):
            at, kind = int(self.rng.integers(len(data) + 1)), self.rng.integers(5)
            if kind == 0 and at < len(data):
                data[at] ^= 1 << int(self.rng.integers(8))
            elif kind == 1 and data:
                data[min(at, 11, len(data) - 1)] = int(self.rng.integers(256))
            elif kind == 2:
                del data[at:]
            elif kind == 3:
                data[at:at] = bytes(self.rng.integers(0, 256, int(self.rng.integers(1, 40)), dtype="uint8"))
            else:
                del data[at:at + int(self.rng.integers(1, 20))]
        return bytes(data)

    def words(self, name, count, valid):
        """The words of a command line; seldom wrong ones, since nothing is read behind them."""
        files = [f"in{i}.npy" for i in range(count)]
        if self.rng.random() < 0.3:
            order = self.rng.permutation(count)
            words = [w for i in order for w in (f"--{INPUTS[name][i]}", files[i])]
        else:
            words = files
        results = PROGRAMS[name][2]
        words += self.pick([[], [], ["-o", "r0.npy"], ["-o", f"{results[-1]}=r1.npy"], [w for i, r in enumerate(results) for w in ("-o", f"{r}=r{i}.npy")]])
        if not valid and self.rng.random() < 0.15:
            words.insert(int(self.rng.integers(len(words) + 1)), self.pick([
                "--random", "--random=7", "--random=x", "--dim", "--dim=q0=5", "--dim=q0=-1", "--dim=k0=4611686018427387904", "--dim=q0=9223372036854775808",
                "--repeat=2", "--repeat=0", "--threads=3", "--threads=0", "--threads=1000000", "--help", "--", "-o", "-o=", "-o none=x.npy",
                "--q", "--q=", "--none=x", "in0.npy", "/dev/null", ".", "", "-", "-x", "--tokens", "no/where.npy"]))
        if not valid and self.rng.random() < 0.04 and words:
            words.pop(int(self.rng.integers(len(words))))
            words += ["--random"] * int(self.rng.integers(2))
        return words

    # --- verdict ---

    def load(self, path):
        data = path.read_bytes()
        return data, json.loads(data)["words"]

    def stored(self, data, options):
        return json.dumps({**json.loads(data), "words": options}, indent=1).encode() + b"\n"

    def check(self, data, words):
        case = json.loads(data)
        observe.fresh(self.folder)
        work = self.folder / "work"
        inputs = {f"in{i}.npy": base64.b64decode(f) for i, f in enumerate(case["files"])}
        for name, content in inputs.items():
            (work / name).write_bytes(content)
        for name in ("r0.npy", "r1.npy"):
            (work / name).write_bytes(OLD)
        outcome = observe.run([self.programs[case["program"]], *words], self.folder, 5 if self.sanitized else 1, not self.sanitized)
        wrong = self.wrong(outcome, case, words, inputs)
        signature = wrong and f"{wrong}: {re.sub(r'[0-9]+', 'N', outcome.stderr.strip().split(': ', 1)[-1])[:120]}"
        for path in work.iterdir():
            path.unlink()
        return wrong and (signature, outcome.stderr)

    def wrong(self, outcome, case, words, inputs):
        if outcome.code == 70:
            return "exit 70"
        wrong = observe.ending(outcome)
        if wrong and wrong != "no error line":
            return wrong
        if outcome.code and len(outcome.stderr.strip().splitlines()) > 3:
            return "more than a line"
        if case["valid"] and outcome.code:
            return "a valid call is refused"
        work = self.folder / "work"
        asked = [] if outcome.code else [path.name for path in work.iterdir() if any(word.endswith(path.name) for word in words)]
        left = observe.leftovers(self.folder, [*inputs, "r0.npy", "r1.npy", *asked])
        if left:
            return f"leftover {re.sub('[0-9]+', 'N', left[0])}"
        for name, content in inputs.items():
            if (work / name).read_bytes() != content:
                return "an input was changed"
        return self.results_wrong(outcome, words)

    def results_wrong(self, outcome, words):
        for name in ("r0.npy", "r1.npy"):
            data = (self.folder / "work" / name).read_bytes()
            if data == OLD:
                if not outcome.code and "--help" not in words and any(w.endswith(name) for w in words):
                    return "a result is not written"
                continue
            if outcome.code:
                return "a result in spite of an error"
            try:
                np.lib.format.read_array(io.BytesIO(data))
            except ValueError:
                return "half-written result"
        return None
