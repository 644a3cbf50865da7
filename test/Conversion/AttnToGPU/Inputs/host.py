# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the kernels that a host's function launches in ptxsim, without a GPU: what
the function computes between its arguments and its launches is done here, for
tensors that lie without gaps."""
import pathlib
import re
import subprocess

import numpy as np

NUMBERS = {
    "muli": lambda a, b: a * b, "addi": lambda a, b: a + b, "subi": lambda a, b: a - b, "minui": min, "maxui": max, "minsi": min, "maxsi": max,
    "divui": lambda a, b: a // b, "ceildivui": lambda a, b: -(-a // b), "remui": lambda a, b: a % b, "ceildivsi": lambda a, b: -(-a // b),
    "floordivsi": lambda a, b: a // b, "andi": lambda a, b: a & b, "ori": lambda a, b: a | b,
}
PREDICATES = {"eq": lambda a, b: a == b, "ne": lambda a, b: a != b, "slt": lambda a, b: a < b, "sle": lambda a, b: a <= b, "sgt": lambda a, b: a > b,
              "sge": lambda a, b: a >= b, "ule": lambda a, b: a <= b, "ult": lambda a, b: a < b, "uge": lambda a, b: a >= b, "ugt": lambda a, b: a > b}
NUMPY = {"f16": np.float16, "f32": np.float32, "f64": np.float64, "i32": np.int32, "i64": np.int64, "i1": np.bool_}


def save(path, values, element):
    """`values`, rounded to the element type, of which bf16 is V2."""
    if element == "bf16":
        bits = np.ascontiguousarray(values, dtype=np.float32).view(np.uint32)
        values = ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16).view("V2")
        return np.save(path, values)
    np.save(path, np.asarray(values).astype(NUMPY[element]))


def load(path, element):
    array = np.load(path)
    if element == "bf16":
        array = (array.view(np.uint16).astype(np.uint32) << 16).view(np.float32)
    return array


class Tensor:
    def __init__(self, path, element, shape, is_result=False):
        self.path, self.element, self.shape, self.is_result = path, element, list(shape), is_result
        self.memory = self.shape  # of the file
        self.strides = [int(np.prod(shape[i + 1:])) for i in range(len(shape))]


class Host:
    """`text`: the module in the phase gpu-kernels."""

    def __init__(self, text, ptx, options=()):
        self.text, self.ptx, self.options, self.report = text, ptx, list(options), ""

    def argument(self, text):
        name, kind = (part.strip() for part in text.split(" : ", 1))
        value = self.values[name]
        if not isinstance(value, Tensor):
            return [f"f32:{value}" if kind == "f32" else f"i64:{int(value)}"]
        dims = re.match(r"memref<((?:[?\d]+x)*)", kind)[1].split("x")[:-1]
        given = re.search(r"strided<\[(.*?)\]", kind)
        opened = given[1].split(", ") if given else [""] * len(dims)
        numbers = [size for size, dim in zip(value.shape, dims) if dim == "?"] + [stride for stride, open_ in zip(value.strides, opened) if open_ == "?"]
        if not given and "?" in dims[1:]:
            numbers += [stride for i, stride in enumerate(value.strides) if "?" in dims[i + 1:]]
        path = value.path
        if value.is_result:
            shape = "x".join(map(str, value.memory))
            path = f"inout={path}:{path}" if path in self.written else f"out={path}:{value.element}:{shape}"
            self.written.add(value.path)
        return [path, *(f"i64:{number}" for number in numbers)]

    def view(self, match):
        """A buffer in the work space."""
        sizes = iter(match[2].split(", "))
        shape = [self.values.get(next(sizes)) if dim == "?" else int(dim) for dim in match[3].split("x")]
        if None not in shape:  # else a copy of a tensor with other strides
            self.values[match[1]] = Tensor(f"{match[1][1:]}.npy", match[4], shape, True)

    def drop_ones(self, match):
        """All of a buffer, without some dimensions of size 1."""
        whole = self.values[match[2]]
        kept = match[3].split("x")[:-1]
        dims = [d for d in range(len(whole.shape)) if whole.shape[d] != 1]
        part = Tensor(whole.path, whole.element, [], True)
        part.memory = whole.memory
        for size in kept:
            d = None if size == "1" or not dims else dims.pop(0)
            part.shape.append(1 if d is None else whole.shape[d])
        part.strides = [int(np.prod(part.shape[i + 1:])) for i in range(len(part.shape))]
        self.values[match[1]] = part

    def launch(self, line):
        name = re.search(r"@kernels::@(\w+)", line)[1]
        if any(value not in self.values for value in re.findall(r"(%\w+) : ", re.search(r"args\((.*)\)", line)[1])):
            return ""  # a copy of a tensor with other strides
        grid, block = ([int(self.values[v]) for v in re.search(rf"{word} in \((%\w+), (%\w+), (%\w+)\)", line).groups()] for word in ("blocks", "threads"))
        if 0 in grid:
            return ""
        shared = self.values[re.search(r"dynamic_shared_memory_size (%\w+)", line)[1]]
        taken = [part for text in re.split(r", (?=%)", re.search(r"args\((.*)\)", line)[1]) for part in self.argument(text)]
        command = ["ptxsim", self.ptx, f"--entry={name}", f"--grid={','.join(map(str, grid))}", f"--block={','.join(map(str, block))}",
                   f"--dynamic-shared={shared}", *self.options, *taken]
        self.commands.append(command)
        result = subprocess.run(command, capture_output=True, text=True)
        self.report += result.stdout
        return result.stderr.strip() if result.returncode else ""

    def run(self, name, ports):
        """What is wrong, or nothing. `ports`: a Tensor for each argument and result."""
        self.values = {f"%arg{i}": port for i, port in enumerate(ports)}
        self.written, self.commands = set(), []
        text = self.text[self.text.index(f"@{name}.kernel("):]
        skips = 0
        for line in text[:text.index("\n    return")].splitlines()[1:]:
            if skips or re.search(r"scf\.(if|for)\b", line):  # copies of tensors with other strides
                skips += line.count("{") - line.count("}")
            elif m := re.search(r"(%\S+) = arith.constant (-?\d+) : ", line):
                self.values[m[1]] = int(m[2])
            elif m := re.search(r"(%\S+) = arith.constant (true|false)", line):
                self.values[m[1]] = m[2] == "true"
            elif m := re.search(r"(%\S+) = memref.dim (%\w+), (%\w+) ", line):
                self.values[m[1]] = self.values[m[2]].shape[self.values[m[3]]]
            elif m := re.search(r"(%\S+) = arith.cmpi (\w+), (%\w+), (%\w+) ", line):
                if m[3] in self.values and m[4] in self.values:
                    self.values[m[1]] = PREDICATES[m[2]](self.values[m[3]], self.values[m[4]])
            elif m := re.search(r"(%\S+) = arith.select (%\w+), (%\w+), (%\w+) ", line):
                taken = m[3] if self.values.get(m[2], False) else m[4]  # what is unknown is about strides
                self.values[m[1]] = self.values.get(taken)
            elif m := re.search(r"(%\S+) = memref.view %\w+\[%\w+\]\[(.*?)\] : memref<\?xi8> to memref<(.*)x(\w+)>", line):
                self.view(m)
            elif m := re.search(r"(%\S+) = memref.subview (%\w+)\[[0, ]*\] .* to memref<((?:[?\d]+x)+)\w+, strided<", line):
                self.drop_ones(m)
            elif m := re.search(r"(%\S+) = memref.cast (%\w+)", line):
                self.values[m[1]] = self.values.get(m[2])
            elif m := re.search(r"(%\S+) = arith.(\w+) (%\w+), (%\w+) : ", line):
                if m[3] in self.values and m[4] in self.values:
                    self.values[m[1]] = NUMBERS[m[2]](self.values[m[3]], self.values[m[4]])
            elif "launch_func" in line:
                if problem := self.launch(line):
                    return problem
        return ""
