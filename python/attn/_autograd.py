# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels as operators of PyTorch, and their gradients in its autograd.

An operator of a kernel is `torch.ops.attn.NAME_HASH`. One that learns is two: the forward function, which returns the residuals behind
the results, and the gradient, which autograd calls. They are made per kernel and per set of arguments that require gradients.
"""
import functools
import hashlib
import threading

import torch

from . import _gradient
from ._call import size_of

TYPES = {"f32": torch.float32, "f64": torch.float64, "f16": torch.float16, "bf16": torch.bfloat16, "i1": torch.bool,
         "i32": torch.int32, "i64": torch.int64}
library = torch.library.Library("attn", "DEF")


def empty_results(kernel, tensors):
    """Results without contents, for tensors whose sizes may be symbols. An optional tensor may be None."""
    sizes = {}
    for port, tensor in zip(kernel.arguments, tensors):
        for name, size in zip(port.shape, tensor.shape if tensor is not None else ()):
            sizes.setdefault(name, size)
    return [tensors[0].new_empty([size_of(s, sizes) for s in r.shape], dtype=TYPES[r.dtype]) for r in kernel.results]


def run(kernel, tensors):
    """Results as a list. Below autograd, so that nothing is recorded."""
    with torch.no_grad():
        results = kernel(*(t if t is None else t.detach() for t in tensors))
    return [results] if len(kernel.results) == 1 else list(results)


_defined = {}
_defining = threading.RLock()


def _one_at_a_time(function):
    @functools.wraps(function)
    def locked(*arguments):
        with _defining:
            return function(*arguments)

    return locked


@_one_at_a_time
def define(kernel):
    """The operator of a kernel."""
    name = f"{kernel.name}_{hashlib.sha256(repr((kernel.mlir, kernel.library)).encode()).hexdigest()[:12]}"
    if name in _defined:
        return _defined[name]
    arguments = ", ".join(f"Tensor{'?' * a.optional} {a.name}" for a in kernel.arguments)
    library.define(f"{name}({arguments}) -> ({', '.join('Tensor' for _ in kernel.results)})", tags=(torch.Tag.needs_fixed_stride_order,))

    def one_or_all(results):
        return results[0] if len(results) == 1 else tuple(results)

    library.impl(name, lambda *tensors: one_or_all(run(kernel, tensors)), "CPU")
    torch.library.register_fake(f"attn::{name}", lambda *tensors: one_or_all(empty_results(kernel, tensors)), lib=library)
    _defined[name] = getattr(torch.ops.attn, name)
    return _defined[name]


class Learned:
    """A kernel's forward function and gradient by the arguments `wrt`, on lists of tensors."""

    def __init__(self, text, name, target, wrt):
        self.pair = _gradient.Pair(text, name, wrt, target)
        self.wrt = wrt
        self.results = len(self.pair.results)
        forward = self.pair.forward
        self.arguments = [a.name for a in forward.arguments]
        self._inputs = {a.name: i for i, a in enumerate(forward.arguments)}
        self._kept = {r.name: i for i, r in enumerate(forward.results)}
        self._cotangents = {f"d_{n}": i for i, n in enumerate(self.pair.cotangents) if n is not None}

    def operands(self, inputs, kept, cotangents):
        """The arguments of the gradient: inputs and results of the forward function, and one cotangent, or None, per result."""
        def find(port):
            if port.name in self._inputs:
                return inputs[self._inputs[port.name]]
            if port.name in self._kept:
                return kept[self._kept[port.name]]
            result = self._cotangents[port.name]
            if cotangents[result] is None and self.pair.needs_cotangent(result):
                return torch.zeros_like(kept[result])
            return cotangents[result]

        return [find(port) for port in self.pair.gradient.arguments]

    def spread(self, gradients, inputs):
        """One gradient, or None, per input, of its type."""
        by_name = dict(zip((r.name for r in self.pair.gradient.results), gradients))
        return tuple(by_name[f"d_{n}"].to(x.dtype) if n in self.wrt else None for n, x in zip(self.arguments, inputs))


@functools.lru_cache(256)
def learned(text, name, target, wrt):
    return Learned(text, name, target, wrt)


_transformable = {}


def _transformable_of(operator, backward, setup):
    """The operator as torch.func wants it: a class whose results are a tuple, and that says what vmap does, which is one call after the other."""
    is_list = operator.default._schema.returns[0].type.kind() == "ListType"

    class Transformable(torch.autograd.Function):
        @staticmethod
        def forward(*inputs):
            results = operator(*inputs)
            return tuple(results) if isinstance(results, list) else results

        setup_context = staticmethod(setup)

        @staticmethod
        def backward(ctx, *cotangents):
            return backward(ctx, list(cotangents)) if is_list else backward(ctx, *cotangents)

        @staticmethod
        def vmap(info, dims, *inputs):
            def of_turn(x, dim, i):
                if isinstance(x, list):
                    return [of_turn(y, d, i) for y, d in zip(x, dim)]
                return x if dim is None else x.select(dim, i)

            turns = [Transformable.apply(*(of_turn(x, d, i) for x, d in zip(inputs, dims))) for i in range(info.batch_size)]
            if isinstance(turns[0], torch.Tensor):
                return torch.stack(turns), 0
            return tuple(torch.stack(results) for results in zip(*turns)), (0,) * len(turns[0])

    return Transformable


def refuse_second(ctx, *_):
    raise NotImplementedError("attn: the gradient of a gradient has no kernel")


def add_gradient(operator, backward=refuse_second, setup=lambda ctx, inputs, output: None):
    """Tells autograd, and torch.func, the gradient of an operator."""
    torch.library.register_autograd(operator.default._name, backward, setup_context=setup, lib=library)
    _transformable[operator.default._name] = _transformable_of(operator, backward, setup)


def call(operator, *inputs):
    """Runs an operator whose gradient is known."""
    if torch._C._are_functorch_transforms_active():
        return _transformable[operator.default._name].apply(*inputs)
    return operator(*inputs)


@_one_at_a_time
def differentiable(kernel, wrt):
    """The name of the operator of a kernel's forward function, whose gradient autograd knows. Residuals stand behind the results."""
    text, name, target, _ = _gradient.unwrap(kernel)
    made = learned(text, name, target, wrt)
    forward, gradient = define(made.pair.forward), define(made.pair.gradient)
    if forward.default._name not in _transformable:

        def setup(ctx, inputs, output):
            output = output if isinstance(output, tuple) else (output,)
            ctx.save_for_backward(*inputs, *output)
            ctx.set_materialize_grads(False)
            ctx.mark_non_differentiable(*output[made.results:])

        def backward(ctx, *cotangents):
            saved = ctx.saved_tensors  # once: torch.utils.checkpoint computes them again
            inputs, kept = saved[:len(made.arguments)], saved[len(made.arguments):]
            if all(c is None for c in cotangents):
                return (None,) * len(inputs)
            found = call(gradient, *made.operands(inputs, kept, cotangents))
            return made.spread([found] if isinstance(found, torch.Tensor) else found, inputs)

        add_gradient(forward, backward, setup)
        add_gradient(gradient)
    return forward._qualified_op_name.split("::")[-1]


# As torch.compiler.assume_constant_result says it, which takes seconds to import: torch.compile runs it, and keeps what it returns.
differentiable._dynamo_marked_constant = True
