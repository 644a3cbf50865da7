# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sizes of tensors of a traced function: as text, and as values of the kernel."""
import math
import re

from ._tensor import Program
from ._trace import refuse


def plus(size, number):
    """The size `number` above another."""
    if isinstance(size, int):
        return size + number
    base, given = re.fullmatch(r"(.*?)([+-]\d+)?", size).groups()
    number += int(given or 0)
    return f"{base}{number:+d}" if number else base


def factors(size):
    """The number and the sorted names whose product a size is: 4*n is 4 and [n]."""
    if isinstance(size, int):
        return size, []
    parts, depth = [""], 0
    for letter in size:
        depth += (letter == "(") - (letter == ")")
        if letter in "+-/" and not depth:
            return 1, [size]
        if letter == "*" and not depth:
            parts.append("")
        else:
            parts[-1] += letter
    parts = [part[1:-1] if part[0] == "(" else part for part in parts]
    return math.prod(int(part) for part in parts if part.isdigit()), sorted(part for part in parts if not part.isdigit())


def product(sizes):
    """The size that sizes have together."""
    found = [factors(size) for size in sizes]
    number, names = math.prod(n for n, _ in found), sorted(name for _, names in found for name in names)
    if not number or not names:
        return number
    return "*".join([str(number)] * (number != 1) + [name if name.isidentifier() or len(names) + (number != 1) == 1 else f"({name})"
                                                     for name in names])


def quotient(size, by):
    """The size whose product with `by` is `size`, if it is one; None otherwise."""
    (number, names), (other, divided) = factors(size), factors(by)
    names = list(names)
    if not other or number % other:
        return None
    for name in divided:
        if name not in names:
            return None
        names.remove(name)
    return product([number // other, *names])


def index(number):
    """%name of a constant index."""
    return Program.now().constant(f"c{number}" if number >= 0 else f"cm{-number}", f"{number} : index")


def size_of(x, axis):
    """%name of a size, or its number."""
    if isinstance(x.shape[axis], int):
        return str(x.shape[axis])
    program = Program.now()
    if (x.value, axis) not in program.sizes:
        program.sizes[x.value, axis] = program.index(f"tensor.dim {x.value}, {index(axis)} : {x.type}")
    return program.sizes[x.value, axis]


def value_of(size, tensors):
    """%name of a size that follows from those of the tensors, or its number."""
    for x in tensors:
        if size in x.shape:
            return size_of(x, x.shape.index(size))
    number, names = factors(size)
    if not names:
        return str(number)
    if names == [size]:
        refuse(f"expected numbers and names of sizes of {', '.join(str(list(x.shape)) for x in tensors)}, but got {size!r}")
    return multiplied([str(number), *(value_of(name, tensors) for name in names)])


def multiplied(values):
    """%name or number of the product of sizes, each %name or number."""
    number = math.prod(int(value) for value in values if value[0] != "%")
    values = [value for value in values if value[0] == "%"]
    if number != 1 and values:
        values.append(index(number))
    for value in values[1:]:
        values[0] = Program.now().index(f"arith.muli {values[0]}, {value} : index")
    return values[0] if values else str(number)


def empty(type, sizes):
    """A tensor whose elements are written next; `sizes` are %names or numbers, one per dimension."""
    unknown = ", ".join(value for value, size in zip(sizes, type.shape) if not isinstance(size, int))
    return Program.now().op(f"tensor.empty({unknown}) : {type}", type, "empty")
