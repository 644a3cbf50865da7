# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whole programs as templates: one text, with sizes that are known or unknown.

Behind the description of a file in Inputs/programs stand its sizes, one set behind the other, and what arguments hold:

  // sizes: B = 2, S = 5 | B = 1, S = 33
  // ids: sorted below 3

In the text, `$S` is a size of a type, `?` or a number, and `@S` the same as an operand or a number. Floats are normal,
integers as said (`below N`, `sorted below N`, `cumulative N`), booleans fair; `near N` is for large floats, `times N` for
small ones.
`scale` is the size of numbers inside of a chain in f16 or bf16, whose last place is what it may be off by."""
import dataclasses
import pathlib
import re

import numpy as np

import elements

FOLDER = pathlib.Path(__file__).parent / "Inputs" / "programs"
INTEGERS = {"i32": np.int32, "i64": np.int64, "i1": np.bool_}


@dataclasses.dataclass
class Tensor:
    name: str
    dims: list  # numbers, and names of sizes
    element: str

    def shape(self, sizes):
        return tuple(sizes.get(dim, dim) for dim in self.dims)


@dataclasses.dataclass
class Function:
    name: str
    arguments: list
    results: list

    def outputs(self, sizes):
        """Room for the results, filled with what no result is."""
        return [np.full(t.shape(sizes), -7, INTEGERS[t.element]) if t.element in INTEGERS else elements.empty(t.shape(sizes), t.element)
                for t in self.results]


def parse_tensor(name, text):
    match = re.fullmatch(r"tensor<((?:(?:\d+|\$[A-Z])x)*)(\w+)>", text)
    if not match:
        raise ValueError(f"{name} has no type that programs are made of: {text}")
    dims = [d[1:] if d.startswith("$") else int(d) for d in match[1].split("x") if d]
    return Tensor(name, dims, match[2])


class Program:
    def __init__(self, path):
        self.name, self.template = path.stem, path.read_text()
        notes = dict(re.findall(r"^// (\w+): (.*)$", self.template, re.MULTILINE))
        self.sizes = [dict(self.size(part) for part in one.split(",")) for one in notes.pop("sizes").split("|")]
        self.scale = float(notes.pop("scale", 0))
        self.contents = notes
        self.functions = [self.function(*found) for found in re.findall(
            r"^func\.func @(\w+)\((.*?)\) -> ([^\n]*) \{$", self.template, re.MULTILINE | re.DOTALL)]

    @staticmethod
    def size(text):
        name, number = text.split("=")
        return name.strip(), int(number)

    def function(self, name, arguments, results):
        aliases = dict(re.findall(r"^(!\w+) = (.*)$", self.template, re.MULTILINE))
        whole = lambda type: aliases.get(type, type)
        listed = re.findall(r"%(\w+): (!\w+|tensor<[^>]*>)", arguments)
        return Function(name, [parse_tensor(name, whole(type)) for name, type in listed],
                        [parse_tensor("result", whole(type)) for type in re.findall(r"!\w+|tensor<[^>]*>", results)])

    def known(self, sizes):
        """The text for one set of sizes."""
        text = re.sub(r"[$@]([A-Z])\b|\$([A-Z])(?=x)", lambda m: str(sizes[m[1] or m[2]]), self.template)
        return re.sub(r"tensor\.empty\([^)]*\)", "tensor.empty()", text)

    def unknown(self):
        """The text for any sizes: those that ops take come from the arguments."""
        text = re.sub(r"@([A-Z])\b", r"%\1", re.sub(r"\$([A-Z])", "?", self.template))
        for function in self.functions:
            text = re.sub(rf"(^func\.func @{function.name}\(.*?\) -> [^\n]* \{{\n)", lambda m: m[1] + self.dims(function),
                          text, count=1, flags=re.MULTILINE | re.DOTALL)
        return text

    def dims(self, function):
        lines = []
        for size in sorted(set(re.findall(r"@([A-Z])\b", self.template))):
            for t in function.arguments:
                if size in t.dims:
                    axis = t.dims.index(size)
                    lines += [f"  %{size}_axis = arith.constant {axis} : index\n", f"  %{size} = tensor.dim %{t.name}, "
                              f"%{size}_axis : tensor<{''.join(('?' if d in self.sizes[0] else str(d)) + 'x' for d in t.dims)}{t.element}>\n"]
                    break
        return "".join(lines)

    def inputs(self, function, sizes, seed):
        rng = np.random.default_rng(seed)
        return [self.array(t, sizes, rng) for t in function.arguments]

    def array(self, t, sizes, rng):
        shape, content = t.shape(sizes), self.contents.get(t.name, "").split()
        number = lambda word: sizes[word] if word in sizes else int(word)
        if t.element == "i1":
            return rng.random(shape) < 0.5
        if t.element not in INTEGERS:
            numbers = rng.standard_normal(shape)
            if content[:1] == ["near"]:
                numbers += np.sign(numbers) * float(content[1])
            if content[:1] == ["times"]:
                numbers *= float(content[1])
            return elements.store(numbers, t.element)
        kind = INTEGERS[t.element]
        if content[0] == "cumulative":
            inner = np.sort(rng.integers(0, number(content[1]) + 1, shape[0] - 2))
            return np.concatenate([[0], inner, [number(content[1])]]).astype(kind)
        numbers = rng.integers(0, number(content[-1]), shape)
        return (np.sort(numbers, axis=-1) if content[0] == "sorted" else numbers).astype(kind)


def programs():
    return [Program(path) for path in sorted(FOLDER.glob("*.mlir"))]
