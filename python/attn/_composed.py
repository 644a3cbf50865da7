# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions of NumPy that are made of others, of tensors of a traced function."""
import numbers

import numpy as np

from ._arrays import elementwise, full, function_of, number_of
from ._casts import type_name
from ._loops import broadcast, loop, spread
from ._parts import part
from ._products import matmul
from ._reductions import root
from ._reductions import sum as sum_along
from ._sizes import empty, index, size_of, value_of
from ._tensor import Program, Tensor, TensorType, floats, shown, tensor
from ._trace import refuse
from ._types import Size, difference, is_whole, plus
from ._views import axis_of, collapse, concat, drop, expand, expand_dims, flatten, reshape, transpose


def clip(x, a_min=None, a_max=None, *, min=None, max=None):
    """Numbers within two, of which one may be left out."""
    low, high = (a if b is None else b for a, b in ((a_min, min), (a_max, max)))
    x = tensor(x, "x")
    x = x if low is None else elementwise("maximum", x, low)
    return x if high is None else elementwise("minimum", x, high)


def stack(tensors, axis=0):
    """Tensors of one shape along a new axis."""
    return concat([expand_dims(x, axis) for x in tensors], axis)


def _with_rank(x, rank):
    """At least so many dimensions: those in front have size 1."""
    x = tensor(x, "tensors")
    return expand_dims(x, list(range(rank - x.ndim))) if x.ndim < rank else x


def vstack(tensors):
    """Tensors, or rows, one below the other."""
    return concat([_with_rank(x, 2) for x in tensors], 0)


def hstack(tensors):
    """Tensors one beside the other: along the second axis, and vectors along their only one."""
    tensors = [_with_rank(x, 1) for x in tensors]
    return concat(tensors, 0 if tensors and tensors[0].ndim == 1 else 1)


def full_like(x, fill_value, dtype=None):
    """A number for each element of a tensor."""
    x = tensor(x, "x")
    return full(x, fill_value, x.dtype if dtype is None else type_name(dtype))


def broadcast_to(x, shape):
    """The same elements over and over, by NumPy's rule; sizes are numbers and names of x.shape or of arguments."""
    x = tensor(x, "x")
    kind = TensorType(x.dtype, shape if isinstance(shape, (tuple, list)) else (shape,))
    if broadcast("broadcast_to", [x, Tensor("", kind)]) != kind.shape:
        refuse(f"broadcast_to: expected sizes of {shown(x)}, or any for 1 and in front, but got {list(kind.shape)}")
    return spread([x], kind.shape, [value_of(size, [x]) for size in kind.shape])[0]


def round(x, decimals=0):
    """The nearest whole number, of two as near the even one."""
    if decimals:
        refuse("round: expected no decimals; write (x * 100).round() / 100")
    return function_of("roundeven", x)


def split(x, sections, axis=0):
    """Parts along an axis: as many of one size, or ones that begin at the places of a list."""
    x = tensor(x, "x")
    axis = axis_of(x, axis)
    if isinstance(sections, numbers.Integral):
        size = x.shape[axis]
        if not isinstance(size, int) or sections < 1 or size % sections:
            refuse(f"split: expected a known size that {sections} divides, but got axis {axis} of {shown(x)}")
        sections = [size // int(sections) * i for i in range(1, int(sections))]
    before = (slice(None),) * axis
    return [part(x, (*before, slice(a, b))) for a, b in zip([None, *sections], [*sections, None])]


def moveaxis(x, source, destination):
    """Axes at other places, all others in their order."""
    x = tensor(x, "x")
    source, destination = ([axis_of(x, a) for a in (axes if isinstance(axes, (tuple, list)) else [axes])] for axes in (source, destination))
    if len(source) != len(destination) or len(set(source)) != len(source) or len(set(destination)) != len(source):
        refuse(f"moveaxis: expected as many places as axes, each once, but got {source} and {destination}")
    order = [axis for axis in range(x.ndim) if axis not in source]
    for place, axis in sorted(zip(destination, source)):
        order.insert(place, axis)
    return transpose(x, order)


def norm(x, ord=None, axis=None, *, keepdims=False):
    """Roots of sums of squares."""
    x = floats("norm", x)
    count = x.ndim if axis is None else len(axis) if isinstance(axis, (tuple, list)) else 1
    if ord not in (None, 2) or ord == 2 and count > 1 or axis is not None and count > 2:  # of a matrix, 2 means its singular values
        refuse(f"norm: expected roots of sums of squares, but got ord={ord!r}, axis={axis!r}; write abs(x).sum(axis), abs(x).max(axis)")
    return root(sum_along(x * x, axis, keepdims=keepdims))


def dot(a, b):
    """Products of vectors and matrices."""
    a, b = tensor(a, "a"), tensor(b, "b")
    if not a.ndim or not b.ndim:
        return elementwise("mul", a, b)
    if b.ndim > 2:
        refuse(f"dot: expected a vector or a matrix, but got {shown(b)}; write a @ b, whose front dimensions broadcast")
    return matmul(a, b)


def roll(x, shift, axis=None):
    """Elements further along an axis, the last ones in front of the first; without one, along all elements in their order."""
    x = tensor(x, "x")
    if axis is None:
        return reshape(roll(flatten(x), shift, 0), x.shape)
    if not isinstance(shift, numbers.Integral):
        refuse(f"roll: expected a whole number of places, but got {shift!r}; write a call per axis")
    axis = axis_of(x, axis)
    size = x.shape[axis]
    if isinstance(size, int):
        shift = shift % size if size else 0
    if not shift:
        return x
    if not isinstance(size, int):
        return _rolled(x, int(shift), axis)
    before = (slice(None),) * axis
    return concat([part(x, (*before, slice(-shift, None))), part(x, (*before, slice(None, -shift)))], axis)


def _rolled(x, shift, axis):
    """The same where the size, and so what remains of the shift, is not known."""
    sizes = [size_of(x, a) for a in range(x.ndim)]
    by, whole = index(shift), sizes[axis]

    def write(body, _):
        at = [body.op(f"linalg.index {a} : index") for a in range(x.ndim)]
        moved = body.op(f"arith.subi {at[axis]}, {by} : index")
        left = body.op(f"arith.floordivsi {moved}, {whole} : index")
        at[axis] = body.op(f"arith.subi {moved}, {body.op(f'arith.muli {left}, {whole} : index')} : index")
        return body.op(f"tensor.extract {x.value}[{', '.join(at)}] : {x.type}")

    return loop([], empty(x.type, sizes), "rolled", write)


def arange(start, stop=None, step=1, *, dtype="i64"):
    """Whole numbers from `start`, or 0, to below `stop`, which may be a size of x.shape."""
    start, stop = (0, start) if stop is None else (start, stop)
    if not is_whole(start) or not is_whole(step) or step < 1 or not (is_whole(stop) or isinstance(stop, Size)):
        refuse(f"arange: expected whole numbers, and a size of x.shape to stop at or a number, but got {start!r}, {stop!r} and {step!r}")
    dtype, count = type_name(dtype), difference(stop, int(start))
    if dtype == "i1":
        refuse("arange: expected a type of numbers, but got attn.i1")
    count = len(range(0, count, int(step))) if isinstance(count, int) else count
    size = value_of(count, [])
    if isinstance(count, str) and step > 1:
        more = Program.now().index(f"arith.addi {size}, {index(step - 1)} : index")
        size, count = Program.now().index(f"arith.floordivsi {more}, {index(step)} : index"), f"({plus(count, step - 1)})/{step}"
    begin, steps = index(int(start)), index(int(step))

    def write(body, _):
        place = body.op(f"arith.muli {body.op('linalg.index 0 : index')}, {steps} : index")
        number = body.op(f"arith.index_cast {body.op(f'arith.addi {place}, {begin} : index')} : index to {'i32' if dtype == 'i32' else 'i64'}")
        return body.op(f"arith.sitofp {number} : i64 to {dtype}") if dtype[0] in "bf" else number

    return loop([], empty(TensorType(dtype, [count]), [size]), "numbers", write)


def repeat(x, repeats, axis=None):
    """Each element of an axis several times, one behind the other; without one, of all elements in their order."""
    x = tensor(x, "x")
    x, axis = (flatten(x), 0) if axis is None else (x, axis)
    axis = axis_of(x, axis)
    if not isinstance(repeats, numbers.Integral) or repeats < 1:
        refuse(f"repeat: expected a number of times above 0, but got {repeats!r}")
    return _several(x, int(repeats), axis, axis + 1)


def _several(x, times, axis, place):
    """An axis that holds x so many times: a new one at `place`, in front of it or behind it, joined with it."""
    if times == 1:
        return x
    sizes = [size_of(x, a) for a in range(x.ndim)]
    made, = spread([expand_dims(x, place)], (*x.shape[:place], times, *x.shape[place:]), [*sizes[:place], times, *sizes[place:]])
    return collapse(made, [[a] for a in range(axis)] + [[axis, axis + 1]] + [[a] for a in range(axis + 2, made.ndim)])


def tile(x, reps):
    """The whole tensor several times along each axis."""
    x = tensor(x, "x")
    reps = [reps] if isinstance(reps, numbers.Integral) else list(reps)
    if any(not isinstance(times, numbers.Integral) or times < 1 for times in reps):
        refuse(f"tile: expected numbers of times above 0, but got {reps}")
    x = expand_dims(x, list(range(len(reps) - x.ndim))) if len(reps) > x.ndim else x
    for axis, times in enumerate(reps, x.ndim - len(reps)):
        x = _several(x, int(times), axis, axis)
    return x


def pad(x, pad_width, mode="constant", *, constant_values=0):
    """A number in front of each axis and behind it; a width, or two, are those of every axis."""
    x = tensor(x, "x")
    try:
        pairs = np.broadcast_to(pad_width, (x.ndim, 2))
    except ValueError:
        pairs = np.array([-1])
    if mode != "constant" or pairs.dtype.kind not in "iu" or (pairs < 0).any():
        refuse(f"pad: expected two widths of at least 0 per axis and mode 'constant', but got {pad_width} and {mode!r}")
    program, number = Program.now(), number_of(constant_values, x.dtype)
    for axis, widths in enumerate(pairs.tolist()):
        parts = [x]
        for place, width in zip((0, 2), widths):
            if not width:
                continue
            type = TensorType(x.dtype, [*x.shape[:axis], width, *x.shape[axis + 1:]])
            room = empty(type, [str(width) if a == axis else size_of(x, a) for a in range(x.ndim)])
            parts.insert(place, program.op(f"linalg.fill ins({number} : {x.dtype}) outs({room.value} : {type}) -> {type}", type, "pad"))
        x = concat(parts, axis)
    return x


def _letters(text, x):
    if len(text) != x.ndim or len(set(text)) != len(text) or not text.isalpha():
        refuse(f"einsum: expected a letter per dimension, each once, but got {text!r} for {shown(x)}")
    return list(text)


def _as_matrices(x, letters, groups):
    """`x` with the letters of each group as one dimension, which may have none; the first group's stay apart."""
    order = [letters.index(letter) for group in groups for letter in group]
    x = x if order == sorted(order) else transpose(x, order)
    ends, at = [[a] for a in range(len(groups[0]))], len(groups[0])
    for group in groups[1:]:
        ends += [list(range(at, at + len(group)))] if group else []
        at += len(group)
    x = collapse(x, ends)
    for place, group in enumerate(groups[1:], len(groups[0])):
        x = x if group else expand_dims(x, place)
    return x


def einsum(subscripts, a, b=None):
    """Sums of products of two tensors, or sums and orders of one: "bqhd,bkhd->bhqk"."""
    a, b = tensor(a, "a"), None if b is None else tensor(b, "b")
    inputs, arrow, out = subscripts.replace(" ", "").partition("->")
    texts = inputs.split(",")
    if len(texts) != (1 if b is None else 2):
        refuse(f"einsum: expected letters of {1 if b is None else 2} tensors, but got {subscripts!r}; more than two take several calls")
    letters = [_letters(text, x) for text, x in zip(texts, (a, b))]
    seen = letters[0] + letters[-1] * (b is not None)
    if not arrow:
        out = "".join(sorted(letter for letter in seen if seen.count(letter) == 1))
    if len(set(out)) != len(out) or not set(out) <= set(seen):
        refuse(f"einsum: expected letters of the tensors behind ->, each once, but got {subscripts!r}")
    operands = []
    for x, own, others in zip((a, b), letters, letters[::-1] if b is not None else [[]]):
        gone = [i for i, letter in enumerate(own) if letter not in out and letter not in others]
        operands.append((sum_along(x, tuple(gone)) if gone else x, [letter for i, letter in enumerate(own) if i not in gone]))
    (x, left), (y, right) = operands[0], operands[-1]
    if b is None:
        return x if left == list(out) else transpose(x, [left.index(letter) for letter in out])
    batch = [letter for letter in left if letter in right and letter in out]
    summed = [letter for letter in left if letter in right and letter not in out]
    rows, columns = [n for n in left if n not in right], [n for n in right if n not in left]
    made = matmul(_as_matrices(x, left, [batch, rows, summed]), _as_matrices(y, right, [batch, summed, columns]))
    made = drop(made, ({len(batch)} if not rows else set()) | ({len(batch) + 1} if not columns else set()))
    names, groups = batch + rows + columns, [[i] for i in range(len(batch))]
    for group in (rows, columns):
        begin = sum(len(g) for g in groups)
        groups += [list(range(begin, begin + len(group)))] if group else []
    places = [(x, left.index(n)) if n in left else (y, right.index(n)) for n in names]
    made = expand(made, groups, [of.shape[axis] for of, axis in places], [size_of(of, axis) for of, axis in places])
    return made if names == list(out) else transpose(made, [names.index(letter) for letter in out])
