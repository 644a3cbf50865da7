# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Other orders and groups of the dimensions of a traced function's tensors."""
import numbers

from ._sizes import empty, index, size_of, value_of
from ._tensor import Program, shown, tensor
from ._trace import refuse
from ._types import TensorType, factors, product, quotient, total


def axis_of(x, axis, more=0):
    """The place of an axis, counted from the front; `more` dimensions are yet to come."""
    ndim = x.ndim + more
    if not isinstance(axis, numbers.Integral) or not -ndim <= axis < ndim:
        refuse(f"expected an axis of {shown(x)}, but got {axis!r}")
    return int(axis) % ndim


def concat(tensors, axis=0):
    """Tensors one behind the other along an axis, such as past and new keys; with None, all elements of each."""
    tensors = [tensor(x, "tensors") for x in tensors]
    if not tensors:
        refuse("concat: expected a tensor or several, but got none")
    if axis is None:
        tensors, axis = [flatten(x) for x in tensors], 0
    first, axis = tensors[0], axis_of(tensors[0], axis)
    for other in tensors[1:]:
        known = [(a, b) for i, (a, b) in enumerate(zip(first.shape, other.shape)) if i != axis]
        if other.ndim != first.ndim or other.dtype != first.dtype or any(
                isinstance(a, int) and isinstance(b, int) and a != b for a, b in known):
            refuse(f"concat: expected tensors that differ along axis {axis} alone, but got {first.type} and {other.type}")
    shape = list(first.shape)
    shape[axis] = total([x.shape[axis] for x in tensors])
    for x in tensors[1:]:
        shape = [b if i != axis and isinstance(b, int) else a for i, (a, b) in enumerate(zip(shape, x.shape))]
    type = TensorType(first.dtype, shape)
    types = ", ".join(str(x.type) for x in tensors)
    return Program.now().op(f"tensor.concat dim({axis}) {', '.join(x.value for x in tensors)} : ({types}) -> {type}", type, "joined")


def transpose(x, axes=None):
    """Axes in another order; without one, backwards."""
    x = tensor(x, "x")
    axes = list(reversed(range(x.ndim))) if axes is None else [axis_of(x, axis) for axis in axes]
    if sorted(axes) != list(range(x.ndim)):
        refuse(f"transpose: expected each axis of {x.type} once, but got {axes}")
    program, type = Program.now(), TensorType(x.dtype, [x.shape[axis] for axis in axes])
    out = empty(type, [size_of(x, axis) for axis in axes])
    order = ", ".join(map(str, axes))
    made = program.op(f"linalg.transpose ins({x.value} : {x.type}) outs({out.value} : {type}) permutation = [{order}]", type,
                      "transposed")
    made.swapped = x if x.ndim > 1 and axes == [*range(x.ndim - 2), x.ndim - 1, x.ndim - 2] else None
    return made


def swapaxes(x, first, second):
    """Two axes in each other's place."""
    x = tensor(x, "x")
    axes, first, second = list(range(x.ndim)), axis_of(x, first), axis_of(x, second)
    axes[first], axes[second] = second, first
    return transpose(x, axes)


def _groups(count, starts):
    """All axes in groups, of which each but the first begins where it is said."""
    starts = [0, *starts[1:]] if starts else []
    return [list(range(a, b)) for a, b in zip(starts, [*starts[1:], count])]


def collapse(x, groups):
    """Neighbouring dimensions as one each."""
    if len(groups) == x.ndim:
        return x
    type = TensorType(x.dtype, [product([x.shape[axis] for axis in group]) for group in groups])
    text = f"tensor.collapse_shape {x.value} {groups} : {x.type} into {type}"
    return Program.now().op(text, type, "collapsed")


def expand(x, groups, shape, sizes):
    """Dimensions as several each; `sizes` are %names or numbers of `shape`."""
    if len(shape) == x.ndim:
        return x
    type = TensorType(x.dtype, shape)
    text = f"tensor.expand_shape {x.value} {groups} output_shape [{', '.join(sizes)}] : {x.type} into {type}"
    return Program.now().op(text, type, "expanded")


def expand_dims(x, axis):
    """A new dimension of size 1 at an axis of the result, or several."""
    x = tensor(x, "x")
    axes = list(axis) if isinstance(axis, (tuple, list)) else [axis]
    ones = {axis_of(x, a, len(axes)) for a in axes}
    if len(ones) != len(axes):
        refuse(f"expand_dims: expected each axis once, but got {axes}")
    count, shape, sizes, old = x.ndim + len(ones), [], [], 0
    starts = []
    for i in range(count):
        if i in ones:
            shape.append(1), sizes.append("1")
            continue
        starts.append(i)
        shape.append(x.shape[old]), sizes.append(size_of(x, old))
        old += 1
    return expand(x, _groups(count, starts), shape, sizes)


def squeeze(x, axis):
    """Without dimensions of size 1."""
    x = tensor(x, "x")
    axes = {axis_of(x, a) for a in (axis if isinstance(axis, (tuple, list)) else [axis])}
    if any(x.shape[a] != 1 for a in axes):
        refuse(f"squeeze: expected dimensions of size 1, but got axis {axis} of {shown(x)}")
    return drop(x, axes)


def drop(x, axes):
    """Without `axes`, which have size 1."""
    starts = []
    for i in range(x.ndim):
        if i not in axes:
            starts.append(i)
    return collapse(x, _groups(x.ndim, starts)) if axes else x


def reshape(x, *shape):
    """The same elements in other groups of neighbouring dimensions. Sizes are numbers, names of x.shape, and -1 once for what is left.
    Where they are not known they have to follow from the type: (n, 8) is (n, 2, 4), (2*n, 4) or (-1, 4, 8), but not (m, 8)."""
    x = tensor(x, "x")
    shape = list(shape[0]) if len(shape) == 1 and isinstance(shape[0], (tuple, list)) else list(shape)
    for size in shape:
        if not (isinstance(size, str) and size) and not (isinstance(size, numbers.Integral) and size >= -1):
            refuse(f"reshape: expected sizes, names of sizes and -1, but got {size!r}")
    shape = [size if isinstance(size, str) else int(size) for size in shape]
    whole = product(x.shape)
    if shape.count(-1) > 1:
        refuse(f"reshape: expected -1 at most once, but got {shape}")
    if -1 in shape:
        others = product([size for size in shape if size != -1])
        left = quotient(whole, others)
        if left is None and isinstance(whole, str) and others != 0:
            return _divided(x, shape)
        if left is not None:
            shape[shape.index(-1)] = left
    if product(shape) != whole or -1 in shape:
        refuse(f"reshape: expected as many elements as those of {list(x.shape)}, but got {shape}; sizes that a call chooses follow from "
               "names of x.shape, or are -1")
    old, new = _without_ones(x.shape), _without_ones(shape)
    groups = [(old, new)] if whole == 0 else _pairs(x.shape, shape, old, new)
    return _regroup(x, shape, groups)


def flatten(x):
    """All elements along one dimension."""
    return reshape(x, -1)


def _without_ones(shape):
    return [axis for axis, size in enumerate(shape) if size != 1]


def _pairs(old_shape, new_shape, old, new):
    """Neighbouring axes of the one shape and of the other that have as many elements, as small as they are. What is left in the end has
    no pair."""
    pairs, i, j = [], 0, 0
    while i < len(old) and j < len(new):
        a, b = i + 1, j + 1
        while True:
            left, right = product([old_shape[k] for k in old[i:a]]), product([new_shape[k] for k in new[j:b]])
            if left == right:
                break
            more_left, more_right = quotient(right, left) is not None, quotient(left, right) is not None
            a, b = a + (more_left or not more_right), b + (more_right or not more_left)
            if a > len(old) or b > len(new):
                return pairs
        pairs.append((old[i:a], new[j:b]))
        i, j = a, b
    return pairs


def _divided(x, shape):
    """A reshape whose -1 is an unknown size divided by a number; that nothing is left over is seen when the kernel runs."""
    at, old, new = shape.index(-1), _without_ones(x.shape), _without_ones(shape)
    here = new.index(at)
    front = _pairs(x.shape, shape, old, new[:here])
    begin = sum(len(pair[0]) for pair in front), sum(len(pair[1]) for pair in front)
    back = _pairs(x.shape, shape, old[begin[0]:][::-1], new[here + 1:][::-1])
    end = len(old) - sum(len(pair[0]) for pair in back), len(new) - sum(len(pair[1]) for pair in back)
    middle = old[begin[0]:end[0]], new[begin[1]:end[1]]
    by, whole = product([shape[axis] for axis in middle[1] if axis != at]), product([x.shape[axis] for axis in middle[0]])
    if not isinstance(by, int) or not isinstance(whole, str):
        refuse(f"reshape: expected a size of {list(x.shape)} that numbers divide, but got {shape}")
    shape[at] = f"({whole})/{by}"
    return _regroup(x, shape, [*front, middle, *((a[::-1], b[::-1]) for a, b in back[::-1])])


def _regroup(x, shape, pairs):
    made = collapse(x, _groups(x.ndim, [old[0] for old, _ in pairs]))
    if made.ndim == len(shape):
        return made
    groups = _groups(len(shape), [new[0] for _, new in pairs])
    sizes = [None] * len(shape)
    for place, (group, (old, new)) in enumerate(zip(groups, pairs)):
        divided = [axis for axis in new if isinstance(shape[axis], str) and "/" in shape[axis] and shape[axis] not in x.shape]
        for axis in group:
            if len(new) == 1 and axis == new[0]:
                sizes[axis] = size_of(made, place)
            elif axis not in divided:
                sizes[axis] = value_of(shape[axis], [x])
        for axis in divided:
            if sizes[axis] is None:
                by = factors(product([shape[other] for other in new if other != axis]))[0]
                sizes[axis] = Program.now().index(f"arith.floordivsi {size_of(made, place)}, {index(by)} : index")
    return expand(made, groups, shape, [size or "1" for size in sizes])
