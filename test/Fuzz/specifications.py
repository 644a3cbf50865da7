# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Mutated specifications through attn-opt: whatever they say, it compiles or says in one line why not."""
import os
import re
import shlex

import numpy as np

import corpus
import mutate
import observe

OLD = b"an older file\n"
KINDS = {"obj": (["out.o", "out.h"], b"\x7fELF"), "lib": (["out.so", "out.h"], b"\x7fELF"), "exe": (["out", "out.h"], b"\x7fELF"),
         "header": (["out.h"], b"/"), "asm": (["out.s"], b"\t"), "llvm": (["out.ll"], b";"), "mlir": (["out.mlir"], b"")}
PHASES = ["input", "normalized", "fused", "scheduled", "tiled-queries", "tiled-keys", "buffers", "vectors", "parallel", "entry", "llvm"]


class Specifications:
    name, ending, source = "specifications", ".mlir", "input.mlir"

    def __init__(self, folder, tool=None):
        self.tool = os.path.realpath(tool or os.environ.get("ATTN_OPT", "attn-opt"))
        self.folder, self.modules = folder, corpus.modules()
        self.sanitized = observe.is_sanitized(self.tool)
        self.slow = 5 if self.sanitized else 1

    def make(self, seed, index):
        """A mutant and its options."""
        rng = np.random.default_rng([seed, index])
        return mutate.Mutator(rng, self.modules).mutant(), self.options(rng)

    def options(self, rng):
        pick = lambda words: words[int(rng.integers(len(words)))]
        kind = pick(["obj"] * 11 + ["header", "mlir", "asm", "llvm", "exe", "lib"] + ["phase"] * 2)
        words = [f"--compile-to={pick(PHASES)}"] if kind == "phase" else [f"--emit={kind}"]
        if self.sanitized and kind == "obj":  # no sanitizer sees LLVM's generation of code, which takes half of the time
            words = ["--compile-to=llvm"]
        for word, chance in (("--target=" + pick(["x86-64", "x86-64-v3", "x86-64-v4", "aarch64", "znver5", "sapphirerapids"]), 0.2),
                             (f"--split-keys={pick([0, 1, -1, 7, 2**62, 2**63 - 1])}", 0.05), ("--generic-ops", 0.05),
                             ("--explain", 0.05), ("--explain=json", 0.03), ("--time", 0.02), ("--tiles-of=x86-64-v4", 0.03),
                             (f"--dim=q{pick([0, 1, 2])}={pick([0, 1, 5, 1000, 10**8, 2**62])}", 0.05), ("--entry=f", 0.02),
                             ("--dump-phases-to=phases", 0.02), ("-O0", 0.8)):  # half of the time is LLVM's
            if rng.random() < chance:
                words.append(word)
        return words

    def load(self, path):
        """A stored input: its options stand in the first line, or are those of an object file."""
        data = path.read_bytes()
        match = re.match(rb"// (?:SPDX.*\n// )?options: (.*)\n", data)
        return data, shlex.split(match[1].decode()) if match else ["--emit=obj"]

    def stored(self, data, options):
        return f"// options: {shlex.join(options)}\n".encode() + data

    def command(self, options):
        if not any(o.startswith(("--emit=", "--compile-to=")) for o in options):
            options = ["--emit=obj", *options]  # a minimiser may have left it out
        emit = next((o.split("=")[1] for o in options if o.startswith("--emit=")), "mlir")
        files, magic = KINDS[emit]
        return [self.tool, "../" + self.source, *options, "-o", files[0]], files, magic

    def check(self, data, options):
        """None, or (signature, what the tool said)."""
        observe.fresh(self.folder)
        (self.folder / self.source).write_bytes(data)
        command, files, magic = self.command(options)
        work = self.folder / "work"
        for name in files:
            (work / name).write_bytes(OLD)
        outcome = observe.run(command, self.folder, self.slow, not self.sanitized)
        wrong = observe.ending(outcome, self.slow) or self.files_wrong(outcome, files, magic, options)
        return wrong and (observe.signature(wrong, outcome.stderr), outcome.stderr)

    def files_wrong(self, outcome, files, magic, options):
        work, may_be = self.folder / "work", files + ["phases"] * any("phases" in o for o in options)
        left = observe.leftovers(self.folder, may_be)
        if left:
            return "leftover " + re.sub(r"-\w+", "*", left[0])
        written = {name: (work / name).read_bytes() for name in files if (work / name).exists()}
        if len(written) < len(files):
            return "an older file is gone"
        if outcome.code and any(data != OLD for data in written.values()):
            return "output in spite of an error"
        # A file without an assembly of its own (`asm`) may begin with anything.
        if not outcome.code and (OLD in written.values() or not written[files[0]].startswith(magic)):
            return "half-written output"
        return None
