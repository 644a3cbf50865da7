# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arithmetic on scores of an attention and tensors that broadcast to them. It
becomes a step of the attention, so that scores never lie in memory."""
import math
import numbers

from ._capture import Captures
from ._casts import astype
from ._masks import as_mask
from ._tensor import Program, Tensor, in_front, score_mod, scores_tensor, shown, step_of, tensor
from ._trace import FUNCTIONS, refuse


def masked(scores, mask):
    """Scores of -inf where the mask, or function, sees no pair."""
    scores = scores_tensor(scores, "mask")
    if hasattr(mask, "shape") and tensor(mask, "mask").dtype != "i1":
        refuse(f"mask: expected truth values, but got {shown(tensor(mask, 'mask'))}; write x != 0, or scores + x for a bias")
    program = Program.now()
    program.rank, program.statistics = scores.ndim, scores.dtype
    text = f"attn.mask {scores.value} where {as_mask(mask).text(program)} : {scores.type}"
    made = step_of(scores, program.op(text, scores.type, "masked"))
    made.behind = (*scores.behind, "mask")
    return made


def _has_names(scores, other):
    """Whether each size is 1, or known or named as that of the scores."""
    return all(size == 1 or size == of_scores and (isinstance(size, int) or size.isidentifier())
               for size, of_scores in zip(other.shape[::-1], scores.shape[::-1]))


def _operand(scores, other, named):
    """`other`, which broadcasts to the scores from the right. Where it is read by index (`named`) its sizes have the scores' names, by
    which a call compares them."""
    other = tensor(other, "operand")
    if other.ndim > scores.ndim:
        refuse(f"scores {shown(scores)} go with tensors that broadcast to them, but got {shown(other)}")
    differ = any(size != 1 and isinstance(size, int) and isinstance(of_scores, int) and size != of_scores
                 for size, of_scores in zip(other.shape[::-1], scores.shape[::-1]))
    if differ or named and not _has_names(scores, other):
        refuse(f"scores {shown(scores)} go with tensors whose sizes are 1 or have the same names, but got {shown(other)}")
    if _depends(scores, other):
        refuse("scores of an attention go with tensors that do not depend on them; write attn.softmax for the whole row, attn.score_mod "
               "for a function of each score, or q @ k.swapaxes(-1, -2) for products of their own")
    return other


def _depends(scores, other):
    """Whether a tensor depends on the products that scores are made of: the last ones on the way to them."""
    program = Program.now()
    for product, _ in reversed(program.products):
        made = [product.value, *(line.partition(" = ")[0] for line in program.users(product.value))]
        if scores.value in made:
            return other.value in made
    return False


def bias_of(scores, other):
    """Their sum, by attn.bias."""
    if isinstance(other, Tensor) and other.is_scores:
        return _of_two("add", scores, other, lambda a, b, _: a + b)
    bias = astype(_operand(scores, other, False), scores.dtype)
    scores = in_front("+", scores) if "bias" in scores.behind else scores
    text = f"attn.bias {scores.value}, {bias.value} : {scores.type}, {bias.type}"
    made = step_of(scores, Program.now().op(text, scores.type, "biased"))
    made.behind = (*scores.behind, "bias")
    if _has_names(scores, bias):
        element = _reader(bias, scores.ndim)
        made.base = scores, lambda score, *place: score + element(place)
    return made


def _path(scores):
    """The scores from which these are computed one by one, the nearest first, each with the functions that lead from it to these."""
    path, functions = [(scores, ())], ()
    while scores.base:
        scores, function = scores.base
        functions = (function, *functions)
        path.append((scores, functions))
    return path


def _followed(functions, score, place):
    for function in functions:
        score = Captures.active[-1].rewrite(function)(score, *place)
    return score


def _of_two(name, first, second, function):
    """function(one, other, place) of two scores that are functions of the same."""
    there = {id(scores): functions for scores, functions in _path(second)}
    for scores, functions in _path(first):
        if id(scores) in there:
            others = there[id(scores)]
            return score_mod(scores, lambda score, *place: function(
                _followed(functions, score, place), _followed(others, score, place), place))
    return refuse(f"{name}: expected scores that are functions of the same, but got those of two attentions, or behind a bias or a mask; "
                  "write q @ k.swapaxes(-1, -2) for products of their own")


def changed(name, scores, other, function):
    """function(score, element of other), as a score function."""
    if isinstance(other, numbers.Real):
        return score_mod(scores, lambda score, *_: function(score, other))
    if isinstance(other, Tensor) and other.is_scores:
        return _of_two(name, scores, other, lambda a, b, _: function(a, b))
    element = _reader(_operand(scores, other, True), scores.ndim)
    return score_mod(scores, lambda score, *place: function(score, element(place)))


def _reader(x, ndim):
    """A function of (batch, head, query, key) that reads an element."""
    if isinstance(x, numbers.Real):
        return lambda place: x

    def read(place):
        inner = place[len(place) - x.ndim:]
        return x[tuple(0 if size == 1 else at for size, at in zip(x.shape, inner))]

    return read


def excluded(condition, a, b):
    """where(condition, a, b) of which one is scores; -inf is a mask."""
    first = isinstance(a, Tensor) and a.is_scores
    scores, other = (a, b) if first else (b, a)
    if isinstance(other, Tensor) and other.is_scores:
        seen = _reader(_operand(scores, condition, True), scores.ndim)
        return _of_two("where", a, b, lambda first, second, place: FUNCTIONS["where"](seen(place), first, second))
    condition = _operand(scores, condition, True)
    if isinstance(other, numbers.Real) and other == -math.inf:
        return masked(scores, as_mask(condition) if first else ~as_mask(condition))
    reads = [_reader(x, scores.ndim) for x in (condition, other if isinstance(other, numbers.Real) else _operand(scores, other, True))]

    def choose(score, *place):
        seen, value = (read(place) for read in reads)
        return FUNCTIONS["where"](seen, *((score, value) if first else (value, score)))

    return score_mod(scores, choose)
