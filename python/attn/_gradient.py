# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Gradients: the two kernels that attn-opt makes of a function that learns."""
import re

import numpy as np

from . import _driver
from ._call import Error, results_type
from ._kernel import Kernel
from ._types import is_whole

_LEARNED = "attn.gradient"
_HEAD = re.compile(r"^\s*func\.func\s+(?:public\s+)?@([\w$.]+)\(", re.MULTILINE)
_ARGUMENT = re.compile(r"%([\w$.-]+):\s*tensor<([^>]*)>\s*(\{[^{}]*\})?")


def _signature_end(text, start):
    """The place of the bracket that closes a list of arguments."""
    depth, quoted = 0, False
    for i in range(start, len(text)):
        quoted ^= text[i] == '"' and text[i - 1] != "\\"
        depth += not quoted and (text[i] == "(") - (text[i] == ")")
        if depth < 0:
            return i
    raise Error("the specification has no whole signature")


def _port(name, attributes):
    """The name that an argument has for its callers."""
    given = re.search(r'attn\.name\s*=\s*"([^"]*)"', attributes or "")
    return given[1] if given else re.sub(r"\W", "_", name)


def _is_float(dims):
    return dims.rsplit("x", 1)[-1].strip() in ("f16", "bf16", "f32", "f64")


def learning(text, name, wrt, carried=()):
    """The specification with `attn.gradient` at the arguments `wrt` of function `name` and at no others; with None, those that have
    it, or all floats where none has but what the kernel carries along."""
    text = _driver.run(["-", "--compile-to=input"], text)  # without comments, and spaced alike
    heads = [head for head in _HEAD.finditer(text) if head[1] == name]
    if not heads:
        raise Error(f"the specification has no function {name!r} whose gradient could be asked for")
    begin = heads[0].end()
    end = _signature_end(text, begin)
    signature = text[begin:end]
    if wrt is None and _LEARNED in signature:
        return text
    found = {_port(a[1], a[3]): a for a in _ARGUMENT.finditer(signature)}
    places = list(found)
    wanted = [n for n, a in found.items() if _is_float(a[2]) and n not in carried] if wrt is None else [
        places[n] if is_whole(n) and 0 <= n < len(places) else n for n in wrt]
    if not wanted:
        raise TypeError(f"wrt: expected an argument of {name} to learn, but got none")
    for argument in wanted:
        if argument not in found:
            raise TypeError(f"wrt: {name} has no argument {argument!r}, only {', '.join(found)}")
        if not _is_float(found[argument][2]):
            raise TypeError(f"wrt: expected an argument of floats to learn, but {argument} has elements of {found[argument][2].rsplit('x', 1)[-1]}")

    def mark(match):
        inner = [a for a in (match[3] or "{}").strip("{}").split(", ") if a and a != _LEARNED]
        inner += [_LEARNED] if _port(match[1], match[3]) in wanted else []
        return f"%{match[1]}: tensor<{match[2]}>" + (f" {{{', '.join(inner)}}}" if inner else "")

    return text[:begin] + _ARGUMENT.sub(mark, signature) + text[end:]


class Pair:
    """The forward function and the gradient of a specification's function.

    `forward` and `gradient` are Kernels; `results` are those of the function
    itself, which stand in front of the residuals."""

    def __init__(self, text, name, wrt=None, target="native", carried=()):
        text = learning(text, name, wrt, carried)
        self.name = name
        self.forward, self.gradient = (self._load(text, f"{name}_{which}", target) for which in ("forward", "gradient"))
        ports = {a.name for a in self.gradient.arguments if not a.optional}
        cotangents = {a.name for a in self.gradient.arguments if a.optional}
        kept = re.compile(r"residual_\d+")
        self.results = tuple(r for r in self.forward.results if not (kept.fullmatch(r.name) and r.name in ports))
        self.cotangents = tuple(r.name if f"d_{r.name}" in cotangents else None for r in self.results)
        self._tuple = results_type(f"{name}_results", tuple(r.name for r in self.results))

    def needs_cotangent(self, result):
        """Whether a result has a size that no other argument of the gradient has, as `past+new`: then one that is 0 has to be given."""
        return any(isinstance(s, str) and not s.isidentifier() for s in self.results[result].shape)

    @staticmethod
    def _load(text, name, target):
        return _driver.load(Kernel, text, name, [f"--target={target}", f"--entry={name}"])

    def run(self, arrays, threads=0):
        """Results and residuals, by name."""
        got = self.forward(*arrays, threads=threads)
        return dict(zip([r.name for r in self.forward.results], got if len(self.forward.results) > 1 else [got]))

    def pull(self, arrays, kept, cotangents, threads=0):
        """Gradients, as a tuple in the order of the learned arguments; `cotangents` may lack names."""
        given = dict(zip([a.name for a in self.forward.arguments], arrays))
        for i, n in enumerate(self.cotangents):
            if n is not None:
                given[f"d_{n}"] = np.zeros_like(kept[n]) if n not in cotangents and self.needs_cotangent(i) else cotangents.get(n)
        given.update({n: a for n, a in kept.items() if n not in given})
        return self.gradient(*(given.get(a.name) for a in self.gradient.arguments), threads=threads)


def unwrap(function):
    """Text, name and target of what attn compiles, and the arrays that it carries along."""
    if hasattr(function, "_trace"):  # attn.function, which need not have been compiled
        return function.mlir, function._name, function._target, dict(function._bound)
    bound = {}
    while not isinstance(function, Kernel):
        if not hasattr(function, "kernel"):
            raise TypeError(f"expected a kernel, an attention or a function of attn, but got {type(function).__name__}")
        bound.update(getattr(function, "_bound", {}))
        function = function.kernel
    return function.mlir, function.name, function.info["target"], bound


def value_and_grad(function, wrt=None):
    """A function that returns what `function` does and, behind it, its gradient:

        layer = attn.value_and_grad(attn.compile("layer.mlir"), wrt=("x", "w"))
        out, gradient = layer(x, w)
        d = gradient(2 * out)          # d.d_x, d.d_w

    `function` is a Kernel, what `attn.attention` returns, or an `attn.function`. `wrt` names the arguments that are learned, or counts them from 0; without
    it those with `attn.gradient`, or all of floats that a call passes; arrays that the function carries along, of its closure or as a
    bias, are learned where `wrt` names them. `gradient` takes the derivative of a loss by each result, in their order or by
    name, of which some may be left out, and returns that by each argument: a named tuple, or one array where there is one. A result
    of a single number needs none."""
    text, name, target, bound = unwrap(function)
    if isinstance(wrt, str) or is_whole(wrt):
        wrt = (wrt,)
    pair = Pair(text, name, wrt, target, bound)

    def call(*arrays, threads=0, **named):
        if bound:
            rest = [a.name for a in pair.forward.arguments if a.name not in bound]
            given = dict(zip(rest, arrays))
            if len(arrays) > len(rest) or set(given) & set(named) or set(named) - set(rest):
                raise TypeError(f"{name} takes {', '.join(rest)}, each once, but got {len(arrays)} arrays" + f" and {', '.join(named)}" * bool(named))
            arrays, named = (), {**given, **named, **bound}
        arrays = pair.forward._bind(arrays, named)
        kept = pair.run(arrays, threads)
        values = [kept[r.name] for r in pair.results]

        def gradient(*cotangents, **by_name):
            names = [n for n in pair.cotangents if n is not None]
            if len(cotangents) > len(names):
                raise TypeError(f"{name} has {len(names)} results with a gradient ({', '.join(names)}), but got {len(cotangents)} cotangents")
            wrong = [n for n in by_name if n not in names]
            if wrong:
                raise TypeError(f"{name} has no result {wrong[0]!r} with a gradient, only {', '.join(names)}")
            given = {**dict(zip(names, cotangents)), **by_name}
            if not given and len(names) == 1 and np.prod(np.shape(kept[names[0]])) == 1:
                given = {names[0]: np.ones_like(kept[names[0]])}
            if not given and names:
                raise TypeError(f"{name}: expected the derivative of the loss by {' or '.join(names)}")
            return pair.pull(arrays, kept, given, threads)

        return (values[0] if len(values) == 1 else pair._tuple(*values)), gradient

    call.__name__ = f"{name}_with_gradient"
    call.pair = pair
    return call
