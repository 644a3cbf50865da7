# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tensors of a traced function (_graph.py), and steps of scores. Sizes that are
not known are compared when the kernel runs."""
import re

from . import _attention, _emit
from ._call import Error
from ._capture import Explicit, element_type, is_array
from ._masks import Operands
from ._trace import Stack, refuse, where_in_user_code
from ._types import ElementType, TensorType

f16, bf16, f32, f64, i1, i32, i64 = map(ElementType, ("f16", "bf16", "f32", "f64", "i1", "i32", "i64"))


class Program(Operands):
    """The function that is being traced."""

    active = Stack()

    def __init__(self, arguments):
        super().__init__(4, taken=[x.value[1:] for x in arguments])
        self.arguments, self.lines = arguments, []
        self.numbers, self.sizes = {}, {}
        self.of_products = set()  # what depends on a product of two tensors
        self.products = []  # each attn.scores, and where it stands
        self.drops = False  # whether it has a dropout, which is for training

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
        if not self.of_products.isdisjoint(re.findall(r"%\w+", text)):
            self.of_products.update(f"%{v}" for v in values)
        return [Tensor(f"%{v}", t) for v, t in zip(values, types)]

    def users(self, value):
        """The lines that depend on a value, in order."""
        reached, found = {value}, []
        for line in self.lines:
            made, _, text = line.partition(" = ")
            if reached & set(re.findall(r"%\w+", text)):
                reached.update(made.split(", "))
                found.append(line)
        return found

    def check_attention(self):
        """Refuses scores that no softmax and context stand behind."""
        for made, where in self.products:
            if not any(" = attn.context " in line for line in self.users(made.value)):
                raise Error(f"{where}attn.scores begins an attention, which attn.softmax or attn.sigmoid and attn.context end, but no "
                            "attn.context depends on it; write q @ k.swapaxes(-1, -2) for products of their own")


class Tensor:
    """A tensor of a traced function. What is written on it, as + and sum, is in
    _operators.py."""

    __slots__ = ("value", "type", "stage", "as_scores", "swapped", "base", "behind")
    __hash__ = object.__hash__

    def __init__(self, value, type):
        self.value, self.type = value, type
        # "products" of queries and keys, which are scaled; "scores" behind that, until softmax; then "weights". "rows" are weights of
        # any other tensor.
        self.stage = None
        self.as_scores = None  # makes the same by attn.scores, where a product of matrices may be that
        self.base = None  # scores, and the function of each of them that these are
        self.behind = ()  # "bias" and "mask", where these are scores behind one
        self.swapped = None  # what it has the last two axes of in the other order

    dtype = property(lambda self: self.type.dtype)
    shape = property(lambda self: self.type.shape)
    ndim = property(lambda self: len(self.type.shape))
    is_float = property(lambda self: self.type.dtype[0] in "bf")
    is_scores = property(lambda self: self.stage in ("products", "scores"))

    def __repr__(self):
        return f"<{self.value}: {self.type}>"


def tensor(x, name):
    if isinstance(x, Tensor):
        return x
    if isinstance(x, Explicit):
        x = x.array
    if is_array(x):  # an argument that the kernel carries along
        kind = TensorType(element_type(x), map(int, x.shape))
        return Tensor(Program.now().add(x, name if name.isidentifier() else "array", str(kind)).split(" : ")[0], kind)
    if isinstance(x, str):
        refuse(f"{name}: expected a tensor of the function, but got {x!r}; a size that a call chooses is no number yet, x.mean(axis) divides "
               "by it")
    return refuse(f"{name}: expected a tensor of the function, but got {type(x).__name__}")


def shown(x):
    """A type as it is written in Python."""
    return f"{x.dtype}[{', '.join(map(str, x.shape))}]"


def floats(op, x, ranks=None, name="x"):
    """A tensor of floats, of these numbers of dimensions."""
    x = tensor(x, name)
    if not x.is_float:
        refuse(f"{op}: expected floats, but got {shown(x)}; write x.astype(attn.f32)")
    if ranks and x.ndim not in ranks:
        refuse(f"{op}: expected {' or '.join(map(str, ranks))} dimensions, but got {shown(x)}; x[None] has one more, x.reshape(..) others")
    return x


def row(op, name, x, dtype, *sizes):
    """A tensor of one dimension and one of these sizes, where both are known."""
    x = tensor(x, name)
    alike = x.ndim == 1 and any(isinstance(size, str) or isinstance(x.shape[0], str) or size == x.shape[0] for size in sizes)
    if not alike or x.dtype != dtype:
        refuse(f"{op}: expected {name} to be {dtype}[{' or '.join(map(str, sizes))}], but got {shown(x)}")
    return x


# --- scores ---

def scores_tensor(x, op):
    """`x` as scores of an attention, which alone `op` is for."""
    x = tensor(x, "scores")
    if x.is_scores:
        return x
    if x.as_scores:
        return x.as_scores()
    return refuse(f"{op}: expected scores of attn.scores(q, k) or q @ k.swapaxes(-1, -2), but got {shown(x)}, which is none; "
                  "attn.where, + and attn.softmax take any tensor")


def scale(x, factor):
    """x * factor, a number of Python. Usually written so."""
    x = tensor(x, "x")
    if x.stage == "scores":  # attention scales in front of other steps
        return score_mod(x, lambda score, *_: score * factor)
    made = Program.now().op(f"attn.scale {x.value} by {_emit.float_text(float(factor), 'f64')} : {x.type}", x.type, "scaled")
    if x.is_scores:
        made.stage, made.base = x.stage, (x, lambda score, *_: score * factor)
    return made


def step_of(scores, made):
    """What a step makes of scores."""
    made.stage, made.behind = scores.stage and "scores", scores.behind
    return made


def in_front(op, scores):
    """The same scores where `op` may follow: attention adds a bias behind functions, and masks at last."""
    if "mask" in scores.behind:
        refuse(f"{op}: expected scores in front of a mask, but got some behind one, which has excluded pairs; write the mask last")
    if "bias" not in scores.behind:
        return scores
    if not scores.base:
        refuse(f"{op}: expected scores in front of a bias, but got some behind one whose sizes have other names than theirs; write the bias "
               "last")
    return score_mod(*scores.base)


def score_mod(scores, function):
    """Each score changed by function(score, batch, head, query, key)."""
    scores = in_front("score_mod", scores_tensor(scores, "score_mod"))
    program = Program.now()
    program.statistics = scores.dtype
    region = _attention.score_region(function, program, scores.dtype).removeprefix("score_mod ")
    made = step_of(scores, program.op(f"attn.score_mod {scores.value} {region} : {scores.type}", scores.type, "modified"))
    made.base = scores, function
    return made
