# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A function that learns and the two that attn-opt makes of it, called through attn-reference or as a library."""
import dataclasses
import os
import re
import subprocess

import numpy as np

import elements
from kernels import Kernel, attn_opt, reference

INTEGERS = {"i1": np.bool_, "i32": np.int32, "i64": np.int64}


class Refused(Exception):
    """What attn-opt says where it compiles no gradient."""


@dataclasses.dataclass
class Port:
    name: str
    shape: tuple
    element: str

    def store(self, array):
        """The array in the port's type."""
        if self.element in INTEGERS:
            return np.asarray(array, INTEGERS[self.element], order="C")
        if array.dtype == elements.STORED[self.element]:
            return array
        return elements.store(elements.numbers(array), self.element)


def learning(text, names):
    """The specification with `attn.gradient` at these arguments."""
    for name in names:
        text, found = re.subn(rf"(%{name}: tensor<[^>]*>)(?=[,)])", r"\1 {attn.gradient}", text, count=1)
        assert found, f"there is no argument {name}"
    return text


def signature(text, function):
    """Arguments and results of a function of the fused level; an unknown size is -1."""
    line = re.search(rf"func\.func @{function}\((.*)", text)[1].split(" attributes ")[0]
    ports = [Port(name, tuple(-1 if d == "?" else int(d) for d in dims.split("x")[:-1]), dims.split("x")[-1])
             for dims, name in re.findall(r"tensor<([^>]*)> \{[^{}]*attn\.name = \"(\w+)\"", line)]
    arguments = line.split(") -> ")[0].count("attn.name = ")
    return ports[:arguments], ports[arguments:]


class Learned:
    """Of a specification with one function; `folder` takes files."""

    def __init__(self, text, folder):
        self.text, self.folder = text, str(folder)
        self.name = re.search(r"func\.func @(\w+)", text)[1]
        self.fused = os.path.join(self.folder, "fused.mlir")
        self.module = None

    def attempt(self, *options):
        """Runs attn-opt on the specification."""
        done = subprocess.run([attn_opt(), "-", *options], input=self.text, capture_output=True, text=True)
        if done.returncode:
            raise Refused(done.stderr.strip())

    def differentiate(self):
        """Makes the fused level, from which the others read."""
        self.attempt("--compile-to=fused", "-o", self.fused)
        with open(self.fused) as f:
            self.module = f.read()

    def ports(self, which):
        if self.module is None:
            self.differentiate()
        return signature(self.module, f"{self.name}_{which}")

    def evaluate(self, which, arrays):
        """Results by attn-reference, by name."""
        arguments, results = self.ports(which)
        got = reference(self.fused, [arrays[p.name] for p in arguments], len(results), self.folder, f"{self.name}_{which}")
        return dict(zip([p.name for p in results], got))

    def gradient_inputs(self, arrays, cotangents):
        """What the gradient is called with, by name: residuals are those of the reference, in their types."""
        arguments, _ = self.ports("gradient")
        given = {**self.evaluate("forward", arrays), **arrays, **cotangents}
        return {p.name: p.store(given[p.name]) for p in arguments}

    def kernel(self, which, target="native", flags=()):
        """The compiled function of that name."""
        entry = f"{self.name}_{which}"
        return Kernel(self.text, self.folder, entry, target, [f"--entry={entry}", *flags])

    def call(self, kernel, which, given, threads=1):
        """Results of a compiled function, by name."""
        arguments, results = self.ports(which)
        room = [np.full(p.shape, -7, INTEGERS[p.element]) if p.element in INTEGERS else elements.empty(p.shape, p.element) for p in results]
        kernel([given[p.name] for p in arguments], room, threads)
        return dict(zip([p.name for p in results], room))
