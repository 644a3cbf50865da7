# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tensors of a traced function (_graph.py): their types, arithmetic, and views.

A size of a type is a number, or text: the name of what a call chooses, or what
is computed from such ("past+new", "s-1"). Sizes that are not known are compared
when the kernel runs.
"""
import numbers
import operator
import re

from . import _attention, _emit
from ._call import Error
from ._capture import Captures, element_type, is_array
from ._masks import Operands
from ._trace import FUNCTIONS, refuse, where_in_user_code


class TensorType:
    """An element type and sizes: numbers, or names of what a call chooses."""

    def __init__(self, dtype, shape):
        self.dtype, self.shape = dtype, tuple(shape)
        for size in self.shape:
            if not (isinstance(size, int) and size >= 0) and not (isinstance(size, str) and size):
                raise TypeError(f"sizes are numbers or names, but got {size!r}")

    def __str__(self):
        return f"tensor<{''.join('?x' if isinstance(s, str) else f'{s}x' for s in self.shape)}{self.dtype}>"


class ElementType:
    """`attn.f32["n", 64]` is a type of tensors; `attn.f32[()]` is one number."""

    def __init__(self, name):
        self.name = name

    def __getitem__(self, shape):
        return TensorType(self.name, shape if isinstance(shape, tuple) else (shape,))

    def __repr__(self):
        return f"attn.{self.name}"


f16, bf16, f32, f64, i1, i32, i64 = map(ElementType, ("f16", "bf16", "f32", "f64", "i1", "i32", "i64"))


class Program(Operands):
    """The function that is being traced."""

    active = []

    def __init__(self, names):
        super().__init__(4, taken=names)
        self.lines = []
        self.numbers = {}

    @classmethod
    def now(cls):
        if not cls.active:
            raise Error(where_in_user_code() + "ops on tensors stand in functions of @attn.function; arrays have attn.attention, "
                        "attn.flex_attention and compiled kernels")
        return cls.active[-1]

    def add(self, value, name, type):
        if isinstance(value, Tensor):
            return f"{value.value} : {value.type}"
        if isinstance(value, str):
            refuse("in a function, masks name its arguments, not strings")
        return super().add(value, name, type)

    def op(self, text, type, name):
        """Appends an op with one result; its name is `name`, or name_1 .."""
        return self.ops(text, [type], [name])[0]

    def index(self, text):
        """%name of an op with one number."""
        return self.ops(text, [None], ["n"])[0].value

    def constant(self, name, text):
        """%name of a number, which stands once in the function."""
        if text not in self.numbers:
            self.numbers[text] = self.ops(f"arith.constant {text}", [None], [name])[0].value
        return self.numbers[text]

    def ops(self, text, types, names):
        values = []
        for name in names:
            unique, n = name, 0
            while unique in self.names:
                n += 1
                unique = f"{name}_{n}"
            self.names.add(unique)
            values.append(unique)
        self.lines.append(f"{', '.join(f'%{v}' for v in values)} = {text}")
        return [Tensor(f"%{v}", t) for v, t in zip(values, types)]


class Tensor:
    """A tensor of a traced function."""

    __slots__ = ("value", "type", "stage")
    __array_priority__ = 1000
    __array_ufunc__ = None

    def __init__(self, value, type):
        self.value, self.type = value, type
        self.stage = None  # "products" of queries and keys, which are scaled; "scores" behind that, until softmax

    dtype = property(lambda self: self.type.dtype)
    shape = property(lambda self: self.type.shape)
    ndim = property(lambda self: len(self.type.shape))
    is_float = property(lambda self: self.type.dtype[0] in "bf")

    def __repr__(self):
        return f"<{self.value}: {self.type}>"

    def __bool__(self):
        refuse("a traced tensor has no truth value while its function is traced")

    def __getitem__(self, indices):
        if Captures.active:  # a score or mask function that got it not by name
            return Captures.active[-1].capture(self, self.value[1:])[indices]
        return part(self, indices if isinstance(indices, tuple) else (indices,))

    @property
    def T(self):
        return transpose(self)

    def __add__(self, other):
        return elementwise("add", self, other)

    def __sub__(self, other):
        return elementwise("sub", self, other)

    def __mul__(self, other):
        return elementwise("mul", self, other)

    def __truediv__(self, other):
        return elementwise("div", self, other)

    def __radd__(self, other):
        return elementwise("add", self, other)

    def __rsub__(self, other):
        return elementwise("add", -self, other)

    def __rmul__(self, other):
        return elementwise("mul", self, other)

    def __rtruediv__(self, other):
        if self.stage and isinstance(other, numbers.Real):
            return score_mod(self, lambda score, *_: other / score)
        return elementwise("div", _filled(self, other), self)

    def __neg__(self):
        return scale(self, -1.0)


def tensor(x, name):
    if isinstance(x, Tensor):
        return x
    if is_array(x):  # an argument that the kernel carries along
        kind = TensorType(element_type(x), map(int, x.shape))
        return Tensor(Program.now().add(x, name, str(kind)).split(" : ")[0], kind)
    return refuse(f"{name}: expected a tensor of the function, but got {type(x).__name__}")


def scale(x, factor):
    """x * factor, a number of Python. Usually written so."""
    x = tensor(x, "x")
    if x.stage == "scores":  # attention scales in front of other steps
        return score_mod(x, lambda score, *_: score * factor)
    made = Program.now().op(f"attn.scale {x.value} by {_emit.float_text(float(factor), 'f64')} : {x.type}", x.type, "scaled")
    made.stage = x.stage
    return made


def step_of(scores, made):
    """What a step makes of scores."""
    made.stage = scores.stage and "scores"
    return made


def score_mod(scores, function):
    """Each score changed by function(score, batch, head, query, key)."""
    scores = tensor(scores, "scores")
    program = Program.now()
    program.statistics = scores.dtype
    region = _attention.score_region(function, program, scores.dtype).removeprefix("score_mod ")
    return step_of(scores, program.op(f"attn.score_mod {scores.value} {region} : {scores.type}", scores.type, "modified"))


def bias(scores, bias):
    """Scores plus a bias, which broadcasts to them from the right."""
    scores, bias = tensor(scores, "scores"), tensor(bias, "bias")
    text = f"attn.bias {scores.value}, {bias.value} : {scores.type}, {bias.type}"
    return step_of(scores, Program.now().op(text, scores.type, "biased"))


_OF_NUMBERS = {"add": operator.add, "sub": operator.sub, "maximum": FUNCTIONS["maximum"], "minimum": FUNCTIONS["minimum"]}


def elementwise(name, a, b):
    """An op of arith; a number of Python is one for each element."""
    if isinstance(b, numbers.Real):
        if name == "mul":
            return scale(a, b)
        if name == "div":
            return scale(a, 1 / b)
        if a.stage:
            return score_mod(a, lambda score, *_: _OF_NUMBERS[name](score, b))
        b = _filled(a, b)
    b = tensor(b, "right operand")
    if str(a.type) != str(b.type):
        if name == "add" and a.dtype == b.dtype and b.ndim <= a.ndim:
            return bias(a, b)
        refuse(f"{name}: expected tensors of one type, but got {a.type} and {b.type}; attn.bias broadcasts to scores")
    if a.is_float:
        name += "f"
    else:
        name = {"maximum": "maxsi", "minimum": "minsi"}.get(name, name + "i")
    return Program.now().op(f"arith.{name} {a.value}, {b.value} : {a.type}", a.type, name[:-1])


# --- sizes ---

def _plus(size, number):
    """The size `number` above another."""
    if isinstance(size, int):
        return size + number
    base, given = re.fullmatch(r"(.*?)([+-]\d+)?", size).groups()
    number += int(given or 0)
    return f"{base}{number:+d}" if number else base


def _index(number):
    """%name of a constant index."""
    return Program.now().constant(f"c{number}" if number >= 0 else f"cm{-number}", f"{number} : index")


def size_of(x, axis):
    """%name of a size, or its number."""
    if isinstance(x.shape[axis], int):
        return str(x.shape[axis])
    at = _index(axis)
    return Program.now().index(f"tensor.dim {x.value}, {at} : {x.type}")


def _unknown_sizes(x):
    return [size_of(x, i) for i, size in enumerate(x.shape) if not isinstance(size, int)]


def _filled(like, number):
    """`number` for each element of a tensor."""
    if not isinstance(number, numbers.Real):
        refuse(f"expected a tensor or a number, but got {type(number).__name__}")
    if not like.is_float and number != int(number):
        refuse(f"expected a whole number for a tensor of {like.dtype}, but got {number}")
    text = _emit.float_text(float(number), like.dtype) if like.is_float else str(int(number))
    value = Program.now().constant("number", f"{text} : {like.dtype}")
    sizes = _unknown_sizes(like)
    known = f"[{', '.join(sizes)}]" if sizes else ""
    return Program.now().op(f"tensor.splat {value}{known} : {like.type}", like.type, "numbers")


# --- views ---

def _axis(x, axis):
    if not -x.ndim <= axis < x.ndim:
        refuse(f"expected an axis of {x.type}, but got {axis}")
    return axis % x.ndim


def _beyond(x, axis, number):
    """%name or number of the size of an axis plus `number`, and its text."""
    size = x.shape[axis]
    if isinstance(size, int):
        return str(size + number), size + number
    whole = size_of(x, axis)
    value = Program.now().index(f"arith.addi {whole}, {_index(number)} : index") if number else whole
    return value, _plus(size, number)


def _range(x, axis, piece):
    """Offset, size, its text and step of a slice of Python."""
    step = 1 if piece.step is None else piece.step
    if not all(isinstance(place, int) for place in (piece.start or 0, piece.stop or 0, step)) or step < 1:
        refuse(f"expected whole numbers to cut a tensor at, and a step of at least 1, but got {piece}")
    if isinstance(x.shape[axis], int):
        start, stop, _ = piece.indices(x.shape[axis])
        length = len(range(start, stop, step))
        return str(start), str(length), length, str(step)
    start, stop = piece.start or 0, piece.stop
    # The size, once or not at all, and a number.
    begins, ends = start < 0, stop is None or stop < 0
    begin = _beyond(x, axis, start)[0] if begins else str(start)
    number = (stop or 0) - start
    if begins == ends:
        length = len(range(0, number, step))
        return begin, str(length), length, str(step)
    if begins:
        refuse(f"expected a slice whose size follows from that of {x.type}, but got [{start}:{stop}]")
    size, text = _beyond(x, axis, number)
    if step > 1:
        program = Program.now()
        more = program.index(f"arith.addi {size}, {_index(step - 1)} : index")
        size, text = program.index(f"arith.floordivsi {more}, {_index(step)} : index"), f"({_plus(text, step - 1)})/{step}"
    return begin, size, text, str(step)


def part(x, indices):
    """A view by slices and whole numbers, as of NumPy; where a size is not
    known, a place behind the end is refused when the kernel runs."""
    if indices.count(Ellipsis) > 1 or len(indices) - indices.count(Ellipsis) > x.ndim:
        refuse(f"expected at most {x.ndim} slices or whole numbers, but got {len(indices)}")
    if Ellipsis not in indices:
        indices += (Ellipsis,)
    at = indices.index(Ellipsis)
    indices = indices[:at] + (slice(None),) * (x.ndim - len(indices) + 1) + indices[at + 1:]
    cuts, shape = [], []
    for axis, piece in enumerate(indices):
        if isinstance(piece, slice):
            *cut, text, step = _range(x, axis, piece)
            cuts.append((*cut, step)), shape.append(text)
            continue
        if not isinstance(piece, numbers.Integral):
            refuse(f"expected slices and whole numbers, but got {type(piece).__name__}; elements are read in score and mask functions")
        size = x.shape[axis]
        if isinstance(size, int) and not -size <= piece < size:
            refuse(f"expected a place in a dimension of size {size}, but got {piece}")
        cuts.append((_beyond(x, axis, piece)[0] if piece < 0 else str(piece), "1", "1"))
    type_ = TensorType(x.dtype, shape)
    cut = " ".join(f"[{', '.join(texts)}]" for texts in zip(*cuts))
    return Program.now().op(f"tensor.extract_slice {x.value}{cut} : {x.type} to {type_}", type_, "part")


def concat(tensors, axis):
    """Tensors one behind the other along an axis, such as past and new keys."""
    tensors = [tensor(x, "tensors") for x in tensors]
    if not tensors:
        refuse("concat: expected a tensor or several, but got none")
    first, axis = tensors[0], _axis(tensors[0], axis)
    for other in tensors[1:]:
        known = [(a, b) for i, (a, b) in enumerate(zip(first.shape, other.shape)) if i != axis]
        if other.ndim != first.ndim or other.dtype != first.dtype or any(
                isinstance(a, int) and isinstance(b, int) and a != b for a, b in known):
            refuse(f"concat: expected tensors that differ along axis {axis} alone, but got {first.type} and {other.type}")
    parts = [x.shape[axis] for x in tensors]
    number = sum(size for size in parts if isinstance(size, int))
    names = "+".join(size for size in parts if isinstance(size, str))
    shape = list(first.shape)
    shape[axis] = _plus(names, number) if names else number
    for x in tensors[1:]:
        shape = [b if i != axis and isinstance(b, int) else a for i, (a, b) in enumerate(zip(shape, x.shape))]
    type = TensorType(first.dtype, shape)
    types = ", ".join(str(x.type) for x in tensors)
    return Program.now().op(f"tensor.concat dim({axis}) {', '.join(x.value for x in tensors)} : ({types}) -> {type}", type, "joined")


def transpose(x, axes=None):
    """Axes in another order; without one, backwards."""
    x = tensor(x, "x")
    axes = list(reversed(range(x.ndim))) if axes is None else [_axis(x, axis) for axis in axes]
    if sorted(axes) != list(range(x.ndim)):
        refuse(f"transpose: expected each axis of {x.type} once, but got {axes}")
    program, type = Program.now(), TensorType(x.dtype, [x.shape[axis] for axis in axes])
    sizes = ", ".join(size_of(x, axis) for axis in axes if not isinstance(x.shape[axis], int))
    empty = program.op(f"tensor.empty({sizes}) : {type}", type, "empty")
    order = ", ".join(map(str, axes))
    return program.op(f"linalg.transpose ins({x.value} : {x.type}) outs({empty.value} : {type}) permutation = [{order}]", type,
                      "transposed")
