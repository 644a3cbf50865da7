# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every pass alone on specifications that have everything (test/Pipelines/Inputs/kitchen-sinks), in every phase.

After the pass the module is compiled from there on and must give the results of the Reference, or an error must name
the op that cannot be carried. A specification begins with lines

  // bias: { bias %bias : tensor<8xf32>} -> {}

which say how a part is lost. Each loss must change the Reference's results, or it would not be seen; and each op, mask
term, operand and attribute that the dialect has, as attn-opt and its documentation say, must have such a line."""
import argparse
import os
import pathlib
import platform
import re
import subprocess
import tempfile

import numpy as np

import elements
from kernels import Kernel, attn_opt, compare, finish, reference

# Those that have ops of the dialect.
PHASES = ["input", "fused", "scheduled", "tiled-queries", "tiled-keys", "buffers"]
SEPARATOR = "// -----\n"
# Passes lose the same on each processor; LLVM takes longest for those with AVX-512.
TARGET = "x86-64-v3" if platform.machine() == "x86_64" else "native"
# Nothing would fit without them.
REQUIRED_OPS = {"attn.scores", "attn.context", "attn.split_heads", "attn.merge_heads", "attn.sdpa"}
REQUIRED_PARTS = {"query", "key", "value"}
# Ops of passes; the page of these says neither memref nor state.
TILE_OPS = {"attn.merge", "attn.add_sink", "attn.yield"}
# A constant as soon as the specification is read, before any pass.
READ_OPS = {"attn.weight"}
# They change the speed, not the results; that they are kept is read from the text.
PINNED_PARTS = {"schedule", "decode_schedule"}
PINNED = re.compile(r"#attn\.schedule<lanes = 8, rows = [34], [^>]*>")


def integers(rng, low, high, *shape):
    return rng.integers(low, high + 1, shape).astype(np.int32)


def graph(rng, normal):
    sq, skv = 13, 17
    ids = lambda n: np.sort(integers(rng, 0, 3, 2, n), -1)
    return [normal(2, sq, 24), normal(24, 32), normal(32), normal(2, 2, skv, 8), normal(2, 2, skv, 6), normal(19, 3),
            normal(19, 3), integers(rng, 0, 18, 2, sq), normal(8), normal(4), integers(rng, 0, 4, 2), normal(4, 1, skv),
            normal(4, sq), np.full((), 1.5, np.float32), np.array([15, 16], np.int32), np.array([-2, -3], np.int32),
            np.array([2, 3], np.int32), ids(sq), ids(skv), np.array([0, 4, 9, skv], np.int64),
            rng.random((4, 7, 9)) < 0.4, integers(rng, 0, 7, 3), rng.random((2, 1, sq, skv)) < 0.5,
            np.arange(4, dtype=np.int32), normal(4), normal(24, 10), normal(10), normal(10)], [(2, sq, 10), (2, 4, sq, skv)]


def sdpa(rng, normal):
    sq, skv = 21, 37
    return [normal(2, sq, 8, 4), normal(2, skv, 2, 4), normal(2, 2, skv, 6), normal(8, 1, skv),
            rng.random((2, 1, sq, skv)) < 0.7, np.array([30, 8], np.int32), np.array(12, np.int32), normal(8, sq),
            np.full((), 1.5, np.float32), normal(8)], [(2, sq, 8, 6), (2, 8, sq), (2, 8, sq, skv), (2, 8, sq, skv)]


def decode(rng, normal):
    sq, skv = 3, 50
    return [normal(2, 4, sq, 8), normal(2, 2, skv, 8), normal(2, skv, 2, 6), normal(2, 1, 1, skv),
            rng.random((sq, skv)) < 0.7, np.array([44, 9], np.int32), np.array([30, 40], np.int32),
            normal(4)], [(2, 4, sq, 6), (2, 4, sq)]


def state(rng, normal):
    sq, skv = 5, 37
    rows = (2, 8, sq)
    return [normal(2, sq, 8, 4), normal(2, 2, skv, 4), normal(2, 2, skv, 6), normal(8, 1, skv),
            np.array([30, 8], np.int32), normal(*rows), 1 + np.abs(normal(*rows)),
            normal(*rows, 6)], [(*rows, 6), rows, rows, rows, (*rows, 6)]


def sigmoid(rng, normal):
    sq, skv = 21, 37
    return [normal(2, 8, sq, 4), normal(2, 2, skv, 4), normal(2, 2, skv, 6), normal(8, 1, skv),
            normal(8)], [(2, 8, sq, 6), (2, 8, sq, 6), (2, 8, sq, skv)]


def differential(rng, normal):
    sq, skv = 21, 37
    return [normal(2, 8, sq, 4), normal(2, 2, skv, 4), normal(2, 8, sq, 4), normal(2, 2, skv, 4), normal(2, 2, skv, 6),
            normal(8), normal(8)], [(2, 8, sq, 6), (2, 8, sq, 6)]


def ragged(rng, normal):
    sq, skv = 40, 45
    bf16 = lambda *s: elements.store(normal(*s), "bf16")
    return [bf16(4, sq, 8), bf16(2, skv, 8), bf16(2, skv, 6), np.array([0, 7, 20, 20, sq], np.int32),
            np.array([0, 13, 13, 31, skv], np.int32), np.array(41, np.int32)], [(4, sq, 6)]


def gradient(rng, normal):
    sq, skv = 21, 37
    return [normal(2, 4, sq, 8), normal(2, 2, skv, 8), normal(2, 2, skv, 6), normal(4, 1, skv), np.array([30, 8], np.int32),
            normal(2, 4, sq, 6), normal(2, 4, sq)], [(2, 4, sq, 8), (2, 2, skv, 8), (2, 2, skv, 6)]


def dropout(rng, normal):
    sq, skv = 21, 37
    return [normal(2, 4, sq, 8), normal(2, 2, skv, 8), normal(2, 2, skv, 6), normal(2, 4, sq, 6), np.array(5, np.int64),
            np.array(2**33 + 1, np.int64)], [(2, 4, sq, 6), (2, 4, sq, 8), (2, 2, skv, 6)]


class Sink:
    def __init__(self, path, inputs):
        rng = np.random.default_rng(1)
        self.path, self.text = path, path.read_text()
        self.inputs, self.shapes = inputs(rng, lambda *shape: rng.standard_normal(shape).astype(np.float32))
        self.element = "bf16" if self.inputs[0].dtype == np.uint16 else "f32"
        self.losses = re.findall(r"^// ([\w.]+): \{(.*)\} -> \{(.*)\}$", self.text, re.MULTILINE)
        self.body = self.text[self.text.index("func.func"):]

    def evaluate(self, folder, text):
        path = os.path.join(folder, "evaluated.mlir")
        with open(path, "w") as f:
            f.write(text)
        return reference(path, self.inputs, len(self.shapes), folder)

    def compare(self, folder, code, want):
        kernel = Kernel(code, folder, target=TARGET, flags=["--compile-from=entry", "--verify-each=0", "-O0"])
        for i, (got, wanted) in enumerate(zip(kernel(self.inputs, self.empty(), threads=2), want)):
            near = dict(rtol=2e-5, atol=1e-5) if self.element == "f32" else dict(rtol=2e-2, atol=2e-2)
            compare(f"result {i}", got, wanted, **near)

    def empty(self):
        return [elements.empty(shape, self.element) for shape in self.shapes]


def call(*command, text=None):
    return subprocess.run([attn_opt(), *command], capture_output=True, text=True, input=text)


# --- what there is ---

def registered_passes():
    """Those of the pipeline for CPUs."""
    text = call("--canonicalize", "--help-hidden").stdout
    names = re.findall(r"^\s+--((?:convert-)?attn-[a-z0-9-]+)\s", text, re.MULTILINE)
    return ["canonicalize", "cse", *(name for name in names if "-gpu-" not in name)]


def mask_terms():
    said = call("-", text="func.func @f(%s: tensor<2x4xf32>) { %a = attn.mask %s where nonsense(3) : tensor<2x4xf32> }")
    listed = re.search(r"unknown mask term 'nonsense', expects (.*) or a boolean operand", said.stderr).group(1)
    return [*listed.split(", "), "not", "and", "or"]


def section(page, name):
    return re.search(rf"^### `{name}`.*?(?=^### |\Z)", page, re.MULTILINE | re.DOTALL).group(0)


def parts_of_sdpa(page):
    """Its operands, attributes and results."""
    tables = re.split(r"^#### (\w+):", section(page, "attn.sdpa"), flags=re.MULTILINE)
    return {kind: [a or b for a, b in re.findall(r"<td><code>(\w+)</code>|^\| `(\w+)` \|", body, re.MULTILINE)]
            for kind, body in zip(tables[1::2], tables[2::2])}


def graph_ops(page):
    """Those of which a specification is made: tile ops have states or memrefs, and attn.yield no documentation."""
    names = re.findall(r"^### `(attn\.[a-z_]+)`", page, re.MULTILINE)
    return {name for name in names if "memref" not in section(page, name) and "!attn.state" not in section(page, name)}


def uncovered(sinks, page):
    named = {name for sink in sinks for name, _, _ in sink.losses}
    parts = parts_of_sdpa(page)
    wanted = graph_ops(page) - REQUIRED_OPS - TILE_OPS - READ_OPS | {*mask_terms(), *parts["Operands"], *parts["Attributes"]}
    missing = [f"no specification loses {name}" for name in sorted(wanted - named - REQUIRED_PARTS - PINNED_PARTS)]
    everything = "\n".join(sink.body for sink in sinks)
    missing += [f"no specification has {name}" for name in sorted(REQUIRED_OPS | PINNED_PARTS) if name not in everything]
    generic = "\n".join(call(str(sink.path), "--mlir-print-op-generic").stdout for sink in sinks)
    sizes = [eval(text) for text in re.findall(r"resultSegmentSizes = array<i32: ([0-9, ]+)>", generic)]
    for i, name in enumerate(parts["Results"]):
        if not any(len(size) == len(parts["Results"]) and size[i] for size in sizes):
            missing.append(f"no specification returns {name}")
    return missing


def unseen_losses(sink, folder, want):
    """Losses that do not change the Reference's results. One that is refused is seen."""
    for name, part, instead in sink.losses:
        if sink.body.count(part) != 1:
            yield f"{sink.path.name}: not once in the text: {part}"
            continue
        try:
            results = sink.evaluate(folder, sink.body.replace(part, instead))
        except subprocess.CalledProcessError:
            continue
        if all(np.array_equal(a, b, equal_nan=True) for a, b in zip(results, want)):
            yield f"{sink.path.name}: without {name}, {part}, results are the same"


# --- the passes ---

def names_place(error):
    """Whether an error names the op, port or function that is in the way."""
    return bool(re.search(r"error: .*'[\w.]+'", error)) and "PLEASE submit a bug report" not in error


def applied(name, texts, folder):
    """The modules after the pass, or why it refused them."""
    path = os.path.join(folder, "before.mlir")

    def run(parts):
        with open(path, "w") as f:
            f.write(SEPARATOR.join(parts))
        return call(path, "--" + name, "--split-input-file")

    done = run(texts)
    if done.returncode == 0:
        return [(module.strip(), "") for module in done.stdout.split(SEPARATOR)]
    each = [run([text]) for text in texts]
    return [(None if done.returncode else done.stdout.strip(), done.stderr) for done in each]


def lost_schedules(before, after):
    """Pinned schedules of tile ops, or of an attention, that are not there any more although schedules are."""
    kept = set(PINNED.findall(after))
    return [s for s in set(PINNED.findall(before)) if "#attn.cpu_schedule" in after and s not in kept]


class Checker:
    """Modules of one specification after a pass."""

    def __init__(self, sink, want, folder):
        self.sink, self.want, self.folder = sink, want, folder
        self.right = set()  # code that computes the results
        self.became = {}  # of modules of a phase: several passes leave the same
        self.entries = {}  # of modules of the last phase, which several come to

    def lower(self, text, phase, to):
        """The module in a later phase, or an error."""
        source = os.path.join(self.folder, "after.mlir")
        with open(source, "w") as f:
            f.write(text)
        done = call(source, "--compile-from=" + phase, "--compile-to=" + to, "--target=" + TARGET, "--verify-each=0")
        if done.returncode == 0:
            done = call("-", text=done.stdout)  # verifies it
        return done.stdout, done.stderr

    def code(self, phase, text):
        """The module in phase `entry`, or an error."""
        if phase != PHASES[-1]:
            text, error = self.lower(text, phase, PHASES[-1])
            if not text:
                return text, error
        if text not in self.entries:
            self.entries[text] = self.lower(text, PHASES[-1], "entry")
        return self.entries[text]

    def phases(self):
        """The module in each phase, as passes leave it that find nothing to do."""
        texts = [call(str(self.sink.path), "--compile-to=" + phase, "--target=" + TARGET).stdout for phase in PHASES]
        return [text for text, _ in applied("canonicalize", texts, self.folder)]

    def check(self, phase, before, after, refusal):
        """What became of the module. Raises where something is lost."""
        if after is None:
            if not names_place(refusal):
                raise AssertionError(f"fails without naming anything: {refusal[:200]}")
            return "refused"
        if after == before:
            return "same"
        if lost_schedules(before, after):
            raise AssertionError(f"the pinned {lost_schedules(before, after)[0]} is lost")
        if (phase, after) not in self.became:
            self.became[phase, after] = self.compute(phase, after)
        return self.became[phase, after]

    def compute(self, phase, text):
        code, error = self.code(phase, text)
        if not code:
            if not names_place(error):
                raise AssertionError(f"does not go on from there: {error[:200]}")
            return "refused"
        said = "\n".join(line for line in code.splitlines() if ".info(" not in line)
        if said not in self.right:
            self.sink.compare(self.folder, code, self.want)
            self.right.add(said)
        return "computed"


def check_sink(sink, passes, counts, failures, verbose):
    with tempfile.TemporaryDirectory() as folder:
        want = sink.evaluate(folder, sink.body)
        failures += unseen_losses(sink, folder, want)
        checker = Checker(sink, want, folder)
        texts = checker.phases()
        for name in passes:
            for phase, text, (after, why) in zip(PHASES, texts, applied(name, texts, folder)):
                try:
                    became = checker.check(phase, text, after, why)
                    counts[became] += 1
                    if verbose and became != "same":
                        print(f"{sink.path.name} {phase} {name}: {became} {why.strip()[:300]}", flush=True)
                except (AssertionError, RuntimeError, subprocess.CalledProcessError) as error:
                    failures.append(f"{sink.path.name} in phase {phase}, pass {name}: {error}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("inputs", type=pathlib.Path, help="the folder of the specifications")
    parser.add_argument("page", type=pathlib.Path, help="docs/generated/Dialect.md")
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    sinks = [Sink(options.inputs / f"{make.__name__}.mlir", make) 
             for make in (graph, sdpa, decode, state, sigmoid, differential, ragged, gradient, dropout)]
    failures, counts, passes = [], {"same": 0, "computed": 0, "refused": 0}, registered_passes()
    for sink in sinks:
        if options.only in sink.path.name:
            check_sink(sink, passes, counts, failures, options.verbose)
    if options.only in "graph":
        failures += uncovered(sinks, options.page.read_text())
    finish(sum(counts.values()) + len(failures) if counts["computed"] else 0, failures, f": {len(passes)} passes, {counts}")


if __name__ == "__main__":
    main()
