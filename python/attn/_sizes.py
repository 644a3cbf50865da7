# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sizes of tensors of a traced function, as values of the kernel."""
import math

from ._tensor import Program
from ._trace import refuse
from ._types import factors, terms


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
    """%name of a size that follows from those of the tensors or of arguments, or its number."""
    for x in [*tensors, *Program.now().arguments]:
        if size in x.shape:
            return size_of(x, x.shape.index(size))
    counts, number = terms(size)
    if not counts:
        return str(number)
    if number or len(counts) > 1:
        return _added(counts, number, tensors)
    whole, slash, by = str(size).rpartition("/")
    if slash and by.isdigit() and whole[0] == "(" and whole[-1] == ")":
        return Program.now().index(f"arith.floordivsi {value_of(whole[1:-1], tensors)}, {index(int(by))} : index")
    number, names = factors(size)
    if names == [size]:
        refuse(f"expected numbers and names of sizes of {', '.join(str(list(x.shape)) for x in tensors)}, but got {str(size)!r}")
    return multiplied([str(number), *(value_of(name, tensors) for name in names)])


def _added(counts, number, tensors):
    """%name of a sum of sizes, some of which are taken away, and a number."""
    made = index(number) if number else None
    for name, count in counts.items():
        value = multiplied([str(abs(count)), value_of(name, tensors)])
        made = value if made is None and count > 0 else Program.now().index(
            f"arith.{'add' if count > 0 else 'sub'}i {made or index(0)}, {value} : index")
    return made


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
