# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Loops over the elements of tensors (linalg.generic), and NumPy's rule of
broadcasting: shapes stand against each other from the right, and a size that is
known to be 1 goes with any other. A name never counts as 1."""
from ._sizes import empty, size_of
from ._tensor import Program, TensorType, shown
from ._trace import refuse
from ._views import drop


def broadcast(op, tensors):
    """The shape that tensors have together."""
    shape = []
    for place in range(1, max(x.ndim for x in tensors) + 1):
        sizes = [x.shape[-place] for x in tensors if x.ndim >= place and x.shape[-place] != 1]
        known = {size for size in sizes if isinstance(size, int)}
        if len(known) > 1:
            refuse(f"{op}: expected shapes that broadcast, of which each size is 1 or that of the others, but got "
                   f"{' and '.join(shown(x) for x in tensors)}{_advice(tensors)}")
        shape.insert(0, known.pop() if known else sizes[0] if sizes else 1)
    return tuple(shape)


def _advice(tensors):
    first, second = tensors[-2:]
    if second.ndim == 1 and second.shape[0] in first.shape[:-1]:
        return f"; write x[{', '.join([':', *['None'] * (first.ndim - 1 - first.shape.index(second.shape[0]))])}] for a column"
    return ""


def aligned(x, shape):
    """`x` without the dimensions that broadcast to `shape`, and the axes of `shape` that it has."""
    axes = list(range(len(shape) - x.ndim, len(shape)))
    ones = {i for i, axis in enumerate(axes) if x.shape[i] == 1 and shape[axis] != 1}
    return drop(x, ones), [axis for i, axis in enumerate(axes) if i not in ones]


def sizes_among(operands, shape):
    """%names or numbers of the sizes of `shape`, each of an operand that has it."""
    return [str(size) if isinstance(size, int) else
            next(size_of(x, axes.index(i)) for x, axes in operands if i in axes and x.shape[axes.index(i)] == size)
            for i, size in enumerate(shape)]


def spread(operands, shape, sizes=None):
    """Tensors that all have `shape`; `sizes` are %names or numbers of it, which by default an operand has."""
    pairs = [aligned(x, shape) for x in operands]
    sizes = sizes or sizes_among(pairs, shape) if any(len(axes) < len(shape) for _, axes in pairs) else []
    pairs = [(_known(x, [shape[axis] for axis in axes]), axes) for x, axes in pairs]
    return [x if len(axes) == len(shape) else _spread(x, axes, shape, sizes) for x, axes in pairs]


def _known(x, shape):
    """`x`, whose names of sizes are numbers where `shape` has them."""
    type = TensorType(x.dtype, shape)
    return x if str(x.type) == str(type) else Program.now().op(f"tensor.cast {x.value} : {x.type} to {type}", type, "known")


def _spread(x, axes, shape, sizes):
    out = empty(TensorType(x.dtype, shape), sizes)
    more = [axis for axis in range(len(shape)) if axis not in axes]
    text = f"linalg.broadcast ins({x.value} : {x.type}) outs({out.value} : {out.type}) dimensions = {more}"
    return Program.now().op(text, out.type, "spread")


class Body:
    """The ops of one element. Values are numbered, as in regions of scores."""

    def __init__(self, count):
        self.arguments = [f"%{i}" for i in range(count)]
        self.lines = []

    def op(self, text):
        """%number of an op."""
        value = f"%{len(self.arguments) + len(self.lines)}"
        self.lines.append(f"    {value} = {text}")
        return value


def loop(operands, out, name, write, axes=None):
    """A linalg.generic into `out`. `operands` are tensors, each with the loops that it has as axes; `axes` are those of `out`, by default
    all in their order. The others are reduced. `write(body, *elements)` returns the result's element; the last one is that of `out`."""
    axes = list(range(out.ndim)) if axes is None else axes
    pairs = [*operands, (out, axes)]
    count = max([axis + 1 for _, of in pairs for axis in of], default=0)
    dims = [f"d{i}" for i in range(count)]
    maps = ", ".join(f"affine_map<({', '.join(dims)}) -> ({', '.join(dims[axis] for axis in of)})>" for _, of in pairs)
    kinds = ", ".join('"parallel"' if i in axes else '"reduction"' for i in range(count))
    body = Body(len(pairs))
    result = write(body, *body.arguments)
    arguments = ", ".join(f"{value}: {x.dtype}" for value, (x, _) in zip(body.arguments, pairs))
    ins = f" ins({', '.join(x.value for x, _ in operands)} : {', '.join(str(x.type) for x, _ in operands)})" if operands else ""
    head = f"linalg.generic {{indexing_maps = [{maps}], iterator_types = [{kinds}]}}{ins} outs({out.value} : {out.type}) {{"
    lines = [head, f"  ^bb0({arguments}):", *body.lines, f"    linalg.yield {result} : {out.dtype}", f"  }} -> {out.type}"]
    return Program.now().op("\n".join(lines), out.type, name)
