# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Feeds the compiler, compiled executables and compiled functions what nobody should give them.

  fuzz.py specifications --count 20000 --seed 3 --keep found    mutated specifications through attn-opt
  fuzz.py models --count 20000 --keep found                     mutated ONNX models through attn-opt
  fuzz.py npy --count 20000                                     mutated .npy files and options into a compiled executable
  fuzz.py safetensors --count 10000                             mutated files of weights beside a specification
  fuzz.py calls --seconds 3600                                  C calls: sizes, strides, null, overlap, hooks, threads
  fuzz.py specifications --minimize found/FILE                  the lines of a failing input that it needs
  fuzz.py specifications --replay found/FILE                    one stored input

Findings are: a signal, a hang (20 s of processor time), more than 4 GB, exit status 70, an error without a message, a file left behind,
an output that is half-written. Number INDEX of seed SEED is always the same: --seed SEED --first INDEX --count 1."""
import argparse
import collections
import multiprocessing
import os
import pathlib
import re
import shutil
import sys
import tempfile
import time

import minimize
import observe

REGRESSIONS = pathlib.Path(__file__).parent / "regressions"


def fuzzer(kind, folder, tool):
    if kind == "specifications":
        from specifications import Specifications
        return Specifications(folder, tool)
    if kind == "models":
        from models import Models
        return Models(folder, tool)
    if kind == "npy":
        from npy import Npy
        return Npy(folder, tool)
    if kind == "safetensors":
        from safetensors import Safetensors
        return Safetensors(folder, tool)
    from calls import Calls
    return Calls(folder, tool)


def work(one, options, number, folder, results):
    """Every worker takes its share of the indices, in their order."""
    observe.end_with_parent()
    folder.mkdir()
    one.folder, end = folder, options.end
    indices = range(options.first + number, options.first + options.count, options.workers)
    if hasattr(one, "check_many"):
        for index, found in one.check_many(options.seed, indices, end):
            results.put((index, found))
    else:
        for index in indices:
            if end and time.time() > end:
                break
            data, words = one.make(options.seed, index)
            found = one.check(data, words)
            results.put((index, found and (*found, one.stored(data, words))))
    results.put(None)


class Report:
    def __init__(self, options):
        self.options, self.causes, self.count = options, collections.Counter(), 0

    def add(self, where, found):
        self.count += 1
        if self.count % 1000 == 0:
            print(f"{self.count} inputs, {sum(self.causes.values())} failed", file=sys.stderr)
        if not found:
            return
        signature, said, data = found
        self.causes[signature] += 1
        if self.causes[signature] <= self.options.examples:
            print(f"FAILED {where}: {signature}")
            for line in said.strip().splitlines()[:3]:
                print("   ", line[:200])
            self.keep(where, signature, data)
        sys.stdout.flush()

    def keep(self, where, signature, data):
        if not self.options.keep or data is None:
            return
        slug = re.sub(r"\W+", "-", signature)[:70].strip("-")
        ending = {"specifications": ".mlir", "models": ".onnx", "npy": ".case", "safetensors": ".safetensors", "calls": ".txt"}[self.options.kind]
        path = pathlib.Path(self.options.keep) / f"{slug}-{where.replace(' ', '-')}{ending}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        print(f"    again: {sys.argv[0]} {self.options.kind} --replay {path}")

    def finish(self):
        for signature, count in self.causes.most_common():
            print(f"{count:6}  {signature}")
        failures = sum(self.causes.values())
        print(f"{self.count} inputs, {failures} failed, {len(self.causes)} causes")
        sys.exit(1 if failures or not self.count else 0)


def replay(one, options, report):
    """The inputs that once failed, first."""
    paths = [pathlib.Path(options.replay)] if options.replay else sorted(REGRESSIONS.glob("*" + one.ending))
    for path in paths:
        data, words = one.load(path)
        found = one.check(data, words)
        report.add(path.name, found and (*found, None))


def run(one, options, report, folder):
    context = multiprocessing.get_context("fork")
    results = context.Queue()
    workers = [context.Process(target=work, args=(one, options, n, folder / f"worker{n}", results)) for n in range(options.workers)]
    for worker in workers:
        worker.start()
    running = len(workers)
    while running:
        try:
            item = results.get(timeout=5)
        except multiprocessing.queues.Empty:
            if not any(worker.is_alive() for worker in workers) and results.empty():
                report.add("the fuzzer", ("a worker of the fuzzer ended early", "", None))
                break
            continue
        if item is None:
            running -= 1
        else:
            report.add(f"seed {options.seed} index {item[0]}", item[1])
    for worker in workers:
        worker.join()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", choices=["specifications", "models", "npy", "safetensors", "calls"])
    parser.add_argument("--count", type=int, default=None, help="how many; default 1000, or no end with --seconds")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seconds", type=float, help="stop after that time")
    parser.add_argument("--workers", type=int, default=min(2, os.cpu_count()))
    parser.add_argument("--keep", help="folder for inputs that fail")
    parser.add_argument("--examples", type=int, default=3, help="how many of one cause are shown and kept")
    parser.add_argument("--tool", help="the compiler; default: ATTN_OPT")
    parser.add_argument("--replay", help="one stored input instead")
    parser.add_argument("--minimize", metavar="FILE", help="make a stored input small; writes FILE.min")
    options = parser.parse_args()
    options.end = options.seconds and time.time() + options.seconds
    options.count = options.count or (1 << 40 if options.seconds else 1000)
    folder = pathlib.Path(tempfile.mkdtemp(prefix="attn-fuzz-"))
    try:
        (folder / "first").mkdir()
        one, report = fuzzer(options.kind, folder / "first", options.tool), Report(options)
        if options.minimize:
            minimize.minimize(one, pathlib.Path(options.minimize))
            return
        replay(one, options, report)
        if not options.replay:
            run(one, options, report, folder)
        report.finish()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
