# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Parts of tensors of a traced function: slices, and rows that are looked up."""
import numbers

from ._capture import is_array
from ._loops import aligned, broadcast, loop, sizes_among
from ._sizes import empty, index, size_of, value_of
from ._tensor import Program, Tensor, shown, tensor
from ._trace import refuse
from ._types import Size, TensorType, difference, is_whole, plus
from ._views import axis_of, expand_dims


def _beyond(x, axis, number):
    """%name or number of the size of an axis plus `number`, and its text."""
    size = x.shape[axis]
    if isinstance(size, int):
        return str(size + number), size + number
    whole = size_of(x, axis)
    value = Program.now().index(f"arith.addi {whole}, {index(number)} : index") if number else whole
    return value, plus(size, number)


def _place(x, axis, place):
    """The size at which a slice begins or ends, and its %name or number."""
    if isinstance(place, Size):
        return place, value_of(place, [x])
    if place >= 0:
        return place, str(place)
    return _beyond(x, axis, place)[::-1]


def _range(x, axis, piece):
    """Offset, size, its text and step of a slice of Python."""
    size, step = x.shape[axis], 1 if piece.step is None else int(piece.step)
    start, stop = (place if place is None or isinstance(place, Size) else int(place) for place in (piece.start, piece.stop))
    if isinstance(size, int) and not isinstance(start, Size) and not isinstance(stop, Size):
        start, stop, _ = slice(start, stop, step).indices(size)
        length = len(range(start, stop, step))
        return str(start if length else 0), str(length), length, str(step if length > 1 else 1)
    is_from_end = isinstance(start, int) and start < 0
    if is_from_end and isinstance(stop, int) and stop >= 0:
        refuse(f"expected a slice whose size follows from that of {x.type}, but got [{start}:{stop}]")
    first, begin = _place(x, axis, start or 0)
    last = size if stop is None else _place(x, axis, stop)[0]
    text = difference(last, first)
    if isinstance(text, int):
        length = len(range(0, text, step))
        return begin, str(length), length, str(step)
    size = value_of(text, [x])
    if step > 1:
        program = Program.now()
        more = program.index(f"arith.addi {size}, {index(step - 1)} : index")
        size, text = program.index(f"arith.floordivsi {more}, {index(step)} : index"), f"({plus(text, step - 1)})/{step}"
    return begin, size, text, str(step)


def _is_looked_up(piece):
    return isinstance(piece, Tensor) or is_array(piece)


def part(x, indices):
    """A view by slices and whole numbers, as of NumPy; where a size is not
    known, a place behind the end is refused when the kernel runs. A slice may
    begin and end at sizes of x.shape. None is a dimension of 1, and tensors of
    i32 or i64 are places that are looked up."""
    dots = [i for i, piece in enumerate(indices) if piece is Ellipsis]
    named = sum(piece is not None and piece is not Ellipsis for piece in indices)
    if len(dots) > 1 or named > x.ndim:
        refuse(f"expected at most {x.ndim} slices or whole numbers, but got {len(indices) - len(dots)}")
    at = dots[0] if dots else len(indices)
    indices = (*indices[:at], *[slice(None)] * (x.ndim - named), *indices[at + 1:])
    _check_places(indices)
    made = _cut(x, [slice(None) if _is_looked_up(piece) else piece for piece in indices if piece is not None])
    left = [piece for piece in indices if not isinstance(piece, numbers.Integral)]
    looked_up = [piece for piece in left if _is_looked_up(piece)]
    if looked_up:
        places = [i for i, piece in enumerate(left) if _is_looked_up(piece)]
        if places[-1] - places[0] >= len(places):
            refuse("expected tensors of places side by side, but got others between them")
        first = sum(piece is not None for piece in left[:places[0]])
        made = take_all(made, first, [tensor(piece, "places") for piece in looked_up])
        more = made.ndim - sum(piece is not None for piece in left)
        left[places[0]:places[-1] + 1] = [slice(None)] * (len(places) + more)
    ones = [i for i, piece in enumerate(left) if piece is None]
    return expand_dims(made, ones) if ones else made


def _check_places(indices):
    for piece in indices:
        if isinstance(piece, slice):
            _check_slice(piece)
        elif isinstance(piece, (list, tuple)):
            refuse("expected slices, whole numbers and tensors of places, but got a list; write np.array([..])")
        if piece is not None and not _is_looked_up(piece) and (isinstance(piece, bool) or not isinstance(piece, (slice, numbers.Integral))):
            refuse(f"expected slices and whole numbers, but got {type(piece).__name__}; elements are read in score and mask functions")
    kinds = ["n" if isinstance(p, numbers.Integral) else "t" for p in indices if isinstance(p, numbers.Integral) or _is_looked_up(p)]
    if len(set(kinds)) > 1:
        refuse("expected tensors of places without whole numbers beside them; write x[0][ids] for x[0, ids]")


def _check_slice(piece):
    places = piece.start, piece.stop, piece.step
    if any(isinstance(place, Tensor) for place in places):
        refuse("expected a slice between whole numbers and sizes of x.shape, of which the result's size follows, but got a tensor; x[place] is "
               "one entry, and a mask leaves out what a call excludes")
    if not all(place is None or is_whole(place) or isinstance(place, Size) for place in places) or isinstance(piece.step, Size) or (
            piece.step is not None and piece.step < 1):
        refuse(f"expected whole numbers and sizes to cut a tensor at, and a step of at least 1, but got {piece}")


def _cut(x, indices):
    if all(isinstance(piece, slice) and piece == slice(None) for piece in indices):
        return x
    cuts, shape = [], []
    for axis, piece in enumerate(indices):
        if isinstance(piece, slice):
            *cut, text, step = _range(x, axis, piece)
            cuts.append((*cut, step)), shape.append(text)
            continue
        size = x.shape[axis]
        if isinstance(size, int) and not -size <= piece < size:
            refuse(f"expected a place in a dimension of size {size}, but got {piece}")
        cuts.append((_beyond(x, axis, piece)[0] if piece < 0 else str(piece), "1", "1"))
    type_ = TensorType(x.dtype, shape)
    if 0 in x.shape:  # there is no place at which such a slice could begin
        return empty(type_, [size for (_, size, _), piece in zip(cuts, indices) if isinstance(piece, slice)])
    cut = " ".join(f"[{', '.join(texts)}]" for texts in zip(*cuts))
    return Program.now().op(f"tensor.extract_slice {x.value}{cut} : {x.type} to {type_}", type_, "part")


# --- lookups ---

def take(x, places, axis=0):
    """The entries of `x` along an axis at `places`, a tensor of i32 or i64: those of an embedding table. A place outside of it is the
    nearest one."""
    x, places = tensor(x, "x"), tensor(places, "places")
    return take_all(x, axis_of(x, axis), [places])


def take_all(x, first, places):
    """The entries at places of the dimensions from `first` on, which broadcast."""
    for axis, each in enumerate(places, first):
        if each.dtype == "i1":
            refuse("expected places of i32 or i64, but got truth values, of which the number of rows would follow; write "
                   "attn.where(seen, x, 0)")
        if each.dtype not in ("i32", "i64"):
            refuse(f"expected places of i32 or i64, but got {shown(each)}; write ids.astype(attn.i32)")
        if x.shape[axis] == 0:
            refuse(f"expected a tensor that has places to look up, but got {shown(x)}")
    inner, behind = broadcast("lookup", places), first + len(places)
    shape = (*x.shape[:first], *inner, *x.shape[behind:])
    pairs = [aligned(each, inner) for each in places]
    sizes = [size_of(x, axis) for axis in range(first)] + sizes_among(pairs, inner) + [size_of(x, axis) for axis in range(behind, x.ndim)]
    out = empty(TensorType(x.dtype, shape), sizes)

    def write(body, *elements):
        at = [body.op(f"linalg.index {axis} : index") for axis in range(first)]
        at += [body.op(f"arith.index_cast {element} : {each.dtype} to index") for element, each in zip(elements, places)]
        at += [body.op(f"linalg.index {axis} : index") for axis in range(first + len(inner), len(shape))]
        return body.op(f"tensor.extract {x.value}[{', '.join(at)}] : {x.type}")

    return loop([(each, [first + axis for axis in axes]) for each, axes in pairs], out, "looked_up", write)
