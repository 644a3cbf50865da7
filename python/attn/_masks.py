# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Masks: which keys a query sees. Terms as in docs/SpecMasks.md, and `& | ~`.

A number of a term is an int, which is part of the kernel; an array, one number
or one per batch entry, which the kernel takes along; or a string, the name of
an argument that every call passes.
"""
import difflib
import numbers
import re

import numpy as np

from . import _call, _emit
from ._call import Error
from ._capture import call_traced, element_type
from ._trace import lift, to_bool
from ._types import known_type


class Mask:
    """A set of pairs of query and key: those that see each other."""

    __array_ufunc__ = None  # array & mask is a mask, not an array of masks

    def __and__(self, other):
        return _Joined("and", self, as_mask(other))

    def __rand__(self, other):
        return _Joined("and", as_mask(other), self)

    def __or__(self, other):
        return _Joined("or", self, as_mask(other))

    def __ror__(self, other):
        return _Joined("or", as_mask(other), self)

    def __invert__(self):
        return _Not(self)

    def __bool__(self):
        raise TypeError("a mask has no truth value; write & | ~ for and, or, not")

    def text(self, operands):
        """The mask in the language; what it reads is added to `operands`."""
        raise NotImplementedError


class _Joined(Mask):
    def __init__(self, word, *parts):
        self.word = word
        self.parts = [q for p in parts for q in (p.parts if isinstance(p, _Joined) and p.word == word else [p])]

    def text(self, operands):
        return f" {self.word} ".join(f"({p.text(operands)})" if isinstance(p, _Joined) else p.text(operands) for p in self.parts)

    def __repr__(self):
        return "(" + f" {'&' if self.word == 'and' else '|'} ".join(map(repr, self.parts)) + ")"


class _Not(Mask):
    def __init__(self, part):
        self.part = part

    def text(self, operands):
        inner = self.part.text(operands)
        return f"not ({inner})" if isinstance(self.part, _Joined) else f"not {inner}"

    def __repr__(self):
        return f"~{self.part!r}"


class _Term(Mask):
    """A term whose text `write` makes: (operands) -> str."""

    def __init__(self, name, write, shown):
        self.name, self.write, self.shown = name, write, shown

    def text(self, operands):
        return self.write(operands)

    def __repr__(self):
        return f"attn.{self.name}({', '.join(f'{k}={v!r}' for k, v in self.shown.items() if v is not None)})"


def as_mask(value):
    """A mask, or a function (batch, head, query, key) -> bool as one."""
    if isinstance(value, Mask):
        return value
    if callable(value) and getattr(value, "__module__", None) == __name__:
        raise TypeError(f"expected a mask, but got the function attn.{value.__name__}; write attn.{value.__name__}(..)")
    if callable(value):
        return mask_function(value)
    if isinstance(value, str) or (hasattr(value, "dtype") and hasattr(value, "shape")):
        return allowed(value)
    raise TypeError(f"expected a mask, a function of (batch, head, query, key) or an array of bool, but got {type(value).__name__}")


def _is_constant(number):
    return isinstance(number, numbers.Integral) and not isinstance(number, bool)


def _number(value, operands, name):
    if _is_constant(value):
        return str(int(value))
    if isinstance(value, (float, np.floating)):
        raise TypeError(f"{name}: expected a whole number, an array of them or the name of an argument, but got {value!r}")
    return operands.number(value, name)


_POSITIONS = ("top_left", "bottom_right")


def _check_position(position):
    """Refuses what is nearly a word; other names are those of arguments."""
    if not isinstance(position, str) or position in _POSITIONS:
        return
    words = re.split(r"[\W_]+", position.lower())
    if set(words) <= {"top", "bottom", "left", "right"} or difflib.get_close_matches(position.lower(), _POSITIONS, 1, 0.85):
        raise ValueError(f"position: expected 'top_left', 'bottom_right', a number or the name of an argument, but got {position!r}")


def _position(position, in_document, operands):
    if in_document:
        return f"{position} in document"
    if isinstance(position, str) and position in _POSITIONS:
        return position
    return f"offset = {_number(position, operands, 'offset')}"


def causal(position="top_left", *, in_document=False):
    """A query sees the keys up to its own position. `position` says which key
    the first query stands on: "top_left" key 0; "bottom_right" puts the last
    query on the last live key; a number is that key. With `in_document`,
    positions count within the documents of `document(cumulative=..)`."""
    _check_position(position)
    return _Term("causal", lambda o: f"causal({_position(position, in_document, o)})",
                 dict(position=position, in_document=in_document or None))


def key_length(n):
    """The first n keys hold data, the rest is padding: k < n, per batch entry."""
    return _Term("key_length", lambda o: f"key_length({o.number(np.int64(n) if _is_constant(n) else n, 'key_length')})", dict(n=n))


def window(left=None, right=None, position="top_left", *, in_document=False):
    """p - left <= k <= p + right, where p is the key that the query stands on;
    None is without limit."""
    def write(o):
        parts = [f"{side} = {_number(n, o, side)}" for side, n in (("left", left), ("right", right)) if n is not None]
        if not isinstance(position, str) or position != "top_left" or in_document:
            parts.append(_position(position, in_document, o))
        return f"window({', '.join(parts)})"

    _check_position(position)
    if left is None and right is None:
        raise TypeError("window: give left, right or both")
    return _Term("window", write, dict(left=left, right=right, position=position, in_document=in_document or None))


def prefix(n):
    """The first n keys, for every query."""
    return _Term("prefix", lambda o: f"prefix({_number(n, o, 'prefix')})", dict(n=n))


def sink(n):
    """The first n keys, an int: attention sinks beside a window."""
    return _Term("sink", lambda o: f"sink({int(n)})", dict(n=n))


def chunked(size, position="top_left", *, in_document=False):
    """Keys in the same run of `size` positions as the query."""
    _check_position(position)
    return _Term("chunked", lambda o: f"chunked({int(size)}, {_position(position, in_document, o)})", dict(size=size, position=position))


def dilated(step, position="top_left", *, in_document=False):
    """Keys at a multiple of `step` from the query's position."""
    _check_position(position)
    return _Term("dilated", lambda o: f"dilated({int(step)}, {_position(position, in_document, o)})", dict(step=step, position=position))


def block(rows, columns, bits):
    """Blocks of `rows` queries and `columns` keys see each other where the bit
    is 1. A nested list is part of the kernel; an array of bool, or the name of
    an argument of two dimensions, is looked up at run time."""
    def write(o):
        if isinstance(bits, (list, tuple)):
            listed = ", ".join(f"[{', '.join(str(int(bool(b))) for b in row)}]" for row in bits)
            return f"block({int(rows)}, {int(columns)}, bits = [{listed}])"
        return f"block({int(rows)}, {int(columns)}, {o.tensor(bits, 'bits', ('?', '?'), 'i1')})"

    return _Term("block", write, dict(rows=rows, columns=columns))


def tree(tokens, bits):
    """Draft tokens of speculative decoding: draft i sees draft j if bit j of
    bits[i] is set. `bits` has `tokens` integers, or a row per batch entry."""
    return _Term("tree", lambda o: f"tree({int(tokens)}, {o.tensor(bits, 'bits', (int(tokens),), 'i64', fixed=True)})", dict(tokens=tokens))


def document(ids=None, key_ids=None, *, cumulative=None):
    """A query sees the keys of its own document. `ids` numbers the document of
    every position, or of every query where `key_ids` numbers those of the keys.
    `cumulative` instead holds where each begins and where the last one ends,
    one array or a pair for queries and keys."""
    if (ids is None) == (cumulative is None):
        raise TypeError("document: give ids or cumulative")

    def write(o):
        if cumulative is not None:
            pair = cumulative if isinstance(cumulative, (tuple, list)) else (cumulative,)
            return f"document(cumulative {', '.join(o.tensor(x, 'cumulative', ('?',), 'i32') for x in pair)})"
        return f"document({', '.join(o.tensor(x, 'ids', ('?',), 'i32') for x in (ids, key_ids) if x is not None)})"

    return _Term("document", write, dict(ids=ids, key_ids=key_ids, cumulative=cumulative))


def allowed(mask, rank=2):
    """An array of bool, true where the query sees the key, which broadcasts to
    the scores from the right; or the name of an argument of `rank` dimensions."""
    kind = getattr(mask, "dtype", None)
    if kind is not None and known_type(kind) != "i1":
        raise TypeError(f"mask: expected truth values, but got {known_type(kind) or kind}; write mask != 0, or bias= for numbers that are added")
    return _Term("allowed", lambda o: o.tensor(mask, "allowed", ("?",) * rank, "i1"), dict(mask=mask))


def mask_function(function):
    """A function (batch, head, query, key) -> bool over traced integers. What
    is linear in the positions becomes loop bounds, as for the terms."""
    def write(o):
        inputs = _emit.mask_inputs()
        answer = lift(call_traced(function, inputs))
        if answer.kind == "float":
            raise Error(f"{_named(function)}: a mask function answers true or false, but this one answers with a float")
        writer = _emit.Writer(inputs, o.statistics)
        answer = to_bool(answer)
        writer.find_captures(answer)
        writer.write(answer)
        operands = [o.captured(c) for c in writer.captured]
        return f"predicate({', '.join([writer.program(), *operands])})"

    return _Term("mask_function", write, dict(function=function))


def _named(function):
    code = getattr(function, "__code__", None)
    return f"{code.co_filename}:{code.co_firstlineno}" if code else repr(function)


class Operands:
    """What a program takes beside query, key and value: arrays that it carries
    along, and arguments that every call passes."""

    def __init__(self, rank, statistics="f32", taken=("q", "k", "v")):
        self.rank, self.statistics = rank, statistics
        self.names = set(taken)
        self.list = []  # (name, type, array or None)
        self.constants = []  # lines at the head of the function
        self._at = {}

    def add(self, value, name, type):
        """An operand of that type: a name, or an array to be called `name`.
        Returns how the text reads it."""
        at = value if isinstance(value, str) else (id(value), type)  # a term leaves sizes open, a function does not
        if at in self._at:
            found, had = self._at[at]
            if had != type:
                raise Error(f"{found}: is read as {had} and as {type}")
            return f"%{found} : {type}"
        unique, n = value if isinstance(value, str) else name, 0
        if isinstance(value, str) and (not value.isidentifier() or value in self.names):
            raise Error(f"{value!r} is no name for an argument, or is taken; taken are {', '.join(sorted(self.names))}")
        while unique in self.names:
            n += 1
            unique = f"{name}_{n}"
        self.names.add(unique)
        self._at[at] = unique, type
        self.list.append((unique, type, None if isinstance(value, str) else value))
        return f"%{unique} : {type}"

    def number(self, value, name):
        """One number, or one per batch entry."""
        if isinstance(value, str):
            return self.add(value, value, "tensor<?xi32>" if self.rank > 2 else "tensor<i32>")
        return self.tensor(value, name, (), "i32")

    def tensor(self, value, name, shape, dtype, fixed=False):
        """An operand: a name, of that shape and type, or an array."""
        if isinstance(value, str):
            return self.add(value, value, f"tensor<{''.join(f'{s}x' for s in shape)}{dtype}>")
        value = np.asarray(value) if not hasattr(value, "dtype") or isinstance(value, np.generic) else value
        sizes = [str(s) if s == 1 or fixed and i == len(value.shape) - 1 else "?" for i, s in enumerate(value.shape)]
        return self.add(value, name, f"tensor<{''.join(f'{s}x' for s in sizes)}{element_type(value)}>")

    def captured(self, captured):
        """An array that a traced function reads."""
        if not captured.is_constant:
            return self.add(captured.array, captured.name, captured.type)
        name = f"constant{len(self.constants)}"
        self.constants.append(f"%{name} = arith.constant {_dense(captured)} : {captured.type}")
        return f"%{name} : {captured.type}"


def _dense(captured):
    view = _call._view(captured.array, captured)
    array = view.array
    if captured.dtype == "bf16":
        array = (array.view(np.uint16).astype(np.uint32) << 16).view(np.float32)

    def text(values):
        if values.ndim:
            return f"[{', '.join(text(v) for v in values)}]"
        if array.dtype.kind in "biu":
            return str(values.item()).lower()
        return _emit.float_text(float(values), captured.dtype)

    return f"dense<{text(array)}>"
