# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What is written on tensors of a traced function: the operators and methods of
NumPy, NumPy's functions of these names, and clear words for all others."""
import functools
import inspect

from . import _arrays, _composed, _parts, _products, _reductions, _views
from ._call import Error
from ._capture import Captures
from ._casts import astype
from ._tensor import Tensor, shown
from ._trace import FUNCTIONS, refuse, where_in_user_code

_OPERATORS = {
    "add": functools.partial(_arrays.elementwise, "add"), "sub": functools.partial(_arrays.elementwise, "sub"),
    "mul": functools.partial(_arrays.elementwise, "mul"), "truediv": functools.partial(_arrays.elementwise, "div"),
    "floordiv": _arrays.floor_divide, "mod": _arrays.remainder, "pow": _arrays.power, "matmul": _products.matmul,
    "and": functools.partial(_arrays.logical, "and"), "or": functools.partial(_arrays.logical, "or"),
    "xor": functools.partial(_arrays.logical, "xor"),
}
_COMPARISONS = ("lt", "le", "gt", "ge", "eq", "ne")
_METHODS = {
    "sum": _reductions.sum, "mean": _reductions.mean, "max": _reductions.max, "min": _reductions.min, "var": _reductions.var,
    "std": _reductions.std, "astype": astype, "reshape": _views.reshape, "flatten": _views.flatten, "swapaxes": _views.swapaxes,
    "ravel": _views.flatten, "squeeze": _views.squeeze, "clip": _composed.clip, "round": _composed.round,
}
# torch's names, and what they are here.
_ELSEWHERE = {
    "permute": "x.transpose(0, 2, 1, 3)", "view": "x.reshape(..)", "unsqueeze": "attn.expand_dims(x, axis)", "size": "x.shape",
    "float": "x.astype(attn.f32)", "half": "x.astype(attn.f16)", "bfloat16": "x.astype(attn.bf16)", "to": "x.astype(attn.f32)",
    "softmax": "attn.softmax(x)", "exp": "attn.exp(x)", "log": "attn.log(x)", "sqrt": "attn.sqrt(x)", "tanh": "attn.tanh(x)",
    "abs": "abs(x)", "pow": "x ** 2", "mT": "x.swapaxes(-1, -2)", "amax": "x.max(axis)", "amin": "x.min(axis)",
    "masked_fill": "attn.where(mask, value, x)", "gather": "x[ids]", "argmax": "the index of the maximum outside of the function",
    "item": "the tensor as it is", "copy": "the tensor as it is",
}


def _refused(message):
    def method(self, *_, **__):
        refuse(message)

    return method


class _NoSuch(Error, AttributeError):
    """An attribute that tensors lack; hasattr says no."""


def _missing(self, name):
    if name.startswith("__"):
        raise AttributeError(name)
    instead = f"; write {_ELSEWHERE[name]}" if name in _ELSEWHERE else f"; they have {', '.join(sorted([*_METHODS, 'transpose', 'T']))}"
    raise _NoSuch(f"{where_in_user_code()}tensors of a function have no {name!r}{instead}")


def _get(self, indices):
    if Captures.active:  # a score or mask function that got it not by name
        return Captures.active[-1].capture(self, self.value[1:])[indices]
    return _parts.part(self, indices if isinstance(indices, tuple) else (indices,))


def _length(self):
    if not self.ndim or not isinstance(self.shape[0], int):
        refuse(f"len: expected a known first size, but got {shown(self)}")
    return self.shape[0]


def _entries(self):
    if not self.ndim or not isinstance(self.shape[0], int):
        refuse(f"expected a known first size to go through, but got {shown(self)}; write x.sum(0), x.max(0) and the like")
    return iter([self[i] for i in range(self.shape[0])])


def _transposed(self, *axes):
    if len(axes) == 1 and (axes[0] is None or isinstance(axes[0], (tuple, list))):
        axes = axes[0]
    return _views.transpose(self, axes or None)


def _taken(x, places, axis=None):
    if axis is None:
        refuse("take: expected an axis, since NumPy's takes of all elements without one; write axis=0 for rows")
    return _parts.take(x, places, axis)


# Functions of NumPy by their names there, many of which are torch's, too.
_FUNCTIONS = {
    **_METHODS, "amax": _reductions.max, "amin": _reductions.min, "transpose": _views.transpose, "permute": _transposed,
    "expand_dims": _views.expand_dims, "unsqueeze": _views.expand_dims, "take": _taken, "concatenate": _views.concat,
    "cat": _views.concat, "concat": _views.concat, "where": _arrays.where, "matmul": _products.matmul,
    "add": _OPERATORS["add"], "subtract": _OPERATORS["sub"], "sub": _OPERATORS["sub"], "multiply": _OPERATORS["mul"],
    "mul": _OPERATORS["mul"], "divide": _OPERATORS["truediv"], "true_divide": _OPERATORS["truediv"], "div": _OPERATORS["truediv"],
    "floor_divide": _arrays.floor_divide, "remainder": _arrays.remainder, "power": _arrays.power, "pow": _arrays.power,
    "float_power": _arrays.power, "square": lambda x: _arrays.power(x, 2), "negative": _arrays.negative, "neg": _arrays.negative,
    "positive": lambda x: x, "absolute": _arrays.absolute, "fabs": _arrays.absolute, "abs": _arrays.absolute,
    "maximum": functools.partial(_arrays.elementwise, "maximum"), "minimum": functools.partial(_arrays.elementwise, "minimum"),
    "less": functools.partial(_arrays.compare, "lt"), "less_equal": functools.partial(_arrays.compare, "le"),
    "greater": functools.partial(_arrays.compare, "gt"), "greater_equal": functools.partial(_arrays.compare, "ge"),
    "equal": functools.partial(_arrays.compare, "eq"), "not_equal": functools.partial(_arrays.compare, "ne"),
    "logical_and": _OPERATORS["and"], "bitwise_and": _OPERATORS["and"], "logical_or": _OPERATORS["or"], "bitwise_or": _OPERATORS["or"],
    "logical_xor": _OPERATORS["xor"], "bitwise_xor": _OPERATORS["xor"], "logical_not": _arrays.invert, "invert": _arrays.invert,
    "bitwise_not": _arrays.invert, "rint": _composed.round, "zeros_like": lambda x, dtype=None: _composed.full_like(x, 0, dtype),
    "ones_like": lambda x, dtype=None: _composed.full_like(x, 1, dtype),
    **{name: getattr(_composed, name) for name in (
        "stack", "vstack", "hstack", "split", "moveaxis", "norm", "dot", "roll", "repeat", "tile", "pad", "einsum", "full_like", "broadcast_to")},
    **{name: functools.partial(_arrays.function_of, name) for name in FUNCTIONS if name not in ("where", "minimum", "maximum", "abs")},
}


# Those that mean something else there.
_NOT_OF_TORCH = ("var", "std", "max", "min", "take", "transpose", "flatten", "astype", "split", "repeat", "pad", "norm", "roll")
_OF_TORCH = {name: function for name, function in _FUNCTIONS.items() if name not in _NOT_OF_TORCH} | {"transpose": _views.swapaxes, "clamp": _composed.clip, "movedim": _composed.moveaxis}


def _by_name(table, function, inputs, options):
    name = function.__name__.strip("_")
    if name not in table:
        refuse(f"{name} of tensors of a function is not known; there are {', '.join(sorted(table))}")
    known = inspect.signature(table[name]).parameters  # an out=None that it does not take says nothing
    return called(name, table[name], inputs, {n: v for n, v in options.items() if v is not None or n in known})


def called(name, function, values, options):
    """What a function answers; arguments that it does not take are refused."""
    signature = inspect.signature(function)
    try:
        signature.bind(*values, **options)
    except TypeError as error:
        refuse(f"{name}: {error}; it takes {', '.join(signature.parameters)}")
    return function(*values, **options)


def _method(name, function):
    @functools.wraps(function)
    def method(self, *values, **options):
        return called(name, function, (self, *values), options)

    return method


def _of_numpy(self, ufunc, method, *inputs, **options):
    if method != "__call__":
        refuse(f"np.{ufunc.__name__}.{method} of tensors of a function is not known; write x.sum(axis), x.max(axis) and the like")
    return _by_name(_FUNCTIONS, ufunc, inputs, options)


def _of_torch(cls, function, types, inputs=(), options=None):
    name = function.__name__.strip("_")
    if name[1:] in _OPERATORS and name not in _OF_TORCH:  # __radd__, of a tensor of torch at the left
        return _OPERATORS[name[1:]](inputs[1], inputs[0])
    return _by_name(_OF_TORCH, function, inputs, options or {})


def _operator(function):
    return lambda self, other: function(self, other)


def _reflected(function):
    return lambda self, other: function(other, self)


def _install():
    for name, function in _OPERATORS.items():
        setattr(Tensor, f"__{name}__", _operator(function))
        setattr(Tensor, f"__r{name}__", _reflected(function))
    for name in _COMPARISONS:
        setattr(Tensor, f"__{name}__", _operator(functools.partial(_arrays.compare, name)))
    for name, function in _METHODS.items():
        setattr(Tensor, name, _method(name, function))
    Tensor.transpose, Tensor.T = _transposed, property(_views.transpose)
    Tensor.__neg__, Tensor.__abs__, Tensor.__invert__ = _arrays.negative, _arrays.absolute, _arrays.invert
    Tensor.__pos__ = lambda self: self
    Tensor.__getitem__, Tensor.__getattr__, Tensor.__len__, Tensor.__iter__ = _get, _missing, _length, _entries
    Tensor.__divmod__ = lambda self, other: (_arrays.floor_divide(self, other), _arrays.remainder(self, other))
    Tensor.__round__ = _composed.round
    Tensor.__array_ufunc__ = _of_numpy
    Tensor.__array_function__ = lambda self, function, types, inputs, options: _by_name(_FUNCTIONS, function, inputs, options)
    Tensor.__torch_function__ = classmethod(_of_torch)
    Tensor.__bool__ = _refused("a traced tensor has no truth value while its function is traced; write attn.where(condition, a, b) for if, "
                               "and & | ~ for and, or, not")
    Tensor.__float__ = Tensor.__int__ = Tensor.__index__ = _refused(
        "a traced tensor is no number of Python yet; write attn.exp(x) and the like for functions of math")
    Tensor.__setitem__ = _refused("tensors of a function are not changed in place; write attn.where(condition, a, b) or "
                                  "attn.concat(parts, axis)")
    Tensor.__array__ = _refused("a traced tensor is no array of NumPy; np.stack([x, y]) and np.concatenate([x, y]) join tensors, and "
                                "an array is looked up in by attn.take(array, ids)")
    Tensor.__contains__ = _refused("a traced tensor has no elements that Python could look for; write (x == a).sum() > 0")


_install()
