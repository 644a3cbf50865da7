# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Plants compilers and C functions that do what fuzz.py looks for, and requires it to notice each of them."""
import ctypes
import pathlib
import sys
import tempfile

import calls
import isolated_calls
import npy
import observe
from specifications import Specifications

OBJECT = r"printf '\177ELF' > out.o; echo '/* */' > out.h; rm -f out.o.tmp"
STUBS = {  # what the stub does, and what must be found
    "works": (OBJECT, None),
    "refuses": ("echo 'input.mlir:1:1: error: no' >&2; exit 1", None),
    "crashes": ("kill -SEGV $$", "signal SIGSEGV"),
    "calls it a bug": ("echo 'attn-opt: this is a bug' >&2; exit 70", "exit 70"),
    "hangs": ("while :; do :; done", "hang"),
    "says nothing": ("exit 1", "empty message"),
    "says too little": ("echo oh >&2; exit 1", "no error line"),
    "leaves a temporary file": (OBJECT + "; touch $TMPDIR/attn-opt-1.o", "leftover tmp/attn"),
    "leaves a file beside the output": ("touch out.o.tmp-1; echo error >&2; exit 1", "leftover work/out"),
    "removes the older file": ("rm out.o; echo error >&2; exit 1", "an older file is gone"),
    "writes in spite of an error": ("echo x > out.h; echo error >&2; exit 1", "output in spite of an error"),
    "writes half": ("echo x > out.o; echo > out.h", "half-written output"),
    "forgets the header": (r"printf '\177ELF' > out.o", "half-written output"),
    # The limit makes it end; Python's own words for that are no message of a compiler.
    "takes memory": ("exec {python} -c 'bytearray(5 << 30)'", "no error line"),
    "is told by a sanitizer": ("echo 'a.cpp:1:2: runtime error: signed integer overflow: error' >&2; exit 1", "sanitizer"),
}


def specifications(folder):
    observe.SECONDS, observe.WALL = 1, 10
    for name, (script, wanted) in STUBS.items():
        stub = folder / "stub"
        stub.write_text("#!/bin/sh\n" + script.replace("{python}", sys.executable) + "\n")
        stub.chmod(0o755)
        place = folder / "place"
        place.mkdir(exist_ok=True)
        found = Specifications(place, str(stub)).check(b"func.func @f()\n", ["--emit=obj"])
        got = found and found[0].split(": ")[0]
        yield name, (got or "").startswith(wanted or "") and bool(got) == bool(wanted), f"{got}, expected {wanted}"


def results(folder):
    """Executables, seen through the files that they leave."""
    one = npy.Npy.__new__(npy.Npy)
    one.folder, one.sanitized = folder / "place", False
    for name, script, wanted in (("works", "exit 0", None), ("crashes", "kill -ABRT $$", "signal SIGABRT"), ("is silent", "exit 1", "empty message"),
                                 ("writes in spite of an error", "echo x > r0.npy; echo no >&2; exit 1", "a result in spite of an error"),
                                 ("writes half", "echo x > r0.npy", "half-written result"), ("changes an input", "echo x > in0.npy", "an input was changed"),
                                 ("leaves a file", "touch r0.npy.tmp", "leftover work/r")):
        stub = folder / "stub"
        stub.write_text("#!/bin/sh\n" + script + "\n")
        one.programs = {"attend": str(stub)}
        found = one.check(b'{"program": "attend", "valid": false, "files": ["AAAA"]}', [])
        got = found and found[0]
        yield "executable " + name, (got or "").startswith(wanted or "") and bool(got) == bool(wanted), f"{got}, expected {wanted}"


class Planted:
    """A fuzzer of calls with one bad call among good ones."""
    sanitized, description = False, ["planted"]

    def __init__(self, bad):
        self.bad = bad

    def call(self, seed, index):
        return self.bad() if index == 7 else None


def planted_calls():
    for name, bad, wanted in (("none", lambda: None, []), ("wrong result", lambda: "other bits", ["other bits"]),
                              ("crash", lambda: ctypes.string_at(0), ["signal SIGSEGV"]), ("abort", lambda: ctypes.CDLL(None).abort(), ["signal SIGABRT"])):
        got = [(index, found[0].split(": ")[0]) for index, found in isolated_calls.each(Planted(bad), 0, range(20), None) if found]
        yield f"call {name}", got == [(7, text) for text in wanted], str(got)


def planted_writes(folder):
    """Real calls, whose memory is changed behind their back."""
    one = calls.Calls(folder / "calls")
    honest = one.enter

    def strayed():
        status = honest()
        free = (~one.may_change).nonzero()[0]
        one.arena.bytes[free[len(free) // 2]] ^= 1
        return status

    def another_result():
        status = honest()
        for view in one.views[one.kernel.inputs:]:
            if status == 0 and view.size:
                view[...] = 3
        return status
    for name, change, least in (("honest", honest, 0), ("strayed write", strayed, 20), ("another result", another_result, 5)):
        one.enter = change
        found = [one.call(3, index) for index in range(20)]
        wrong = [text for text in found if text and "out of memory" not in text]
        yield f"calls with {name}", len(wrong) >= least and bool(wrong) == bool(least), str(wrong[:2])


def main():
    failures, count = 0, 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for part in (specifications(folder), results(folder), planted_calls(), planted_writes(folder)):
            for what, right, said in part:
                count += 1
                if not right:
                    failures += 1
                    print(f"FAILED {what}: {said}")
    print(f"{count - failures} passed, {failures} failed")
    sys.exit(1 if failures or not count else 0)


if __name__ == "__main__":
    main()
