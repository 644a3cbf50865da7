# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Products of matrices in a traced function, by NumPy's rule."""
from ._casts import astype
from ._loops import aligned, broadcast, loop, sizes_among
from ._sizes import empty, size_of
from ._tensor import Program, Tensor, TensorType, shown, tensor
from ._trace import refuse, where_in_user_code
from ._views import collapse, drop, expand, expand_dims


def _check(a, b):
    if not a.ndim or not b.ndim:
        refuse(f"@: expected tensors of a dimension at least, but got {shown(a)} and {shown(b)}; write a * b")
    if a.dtype != b.dtype:
        refuse(f"@: expected tensors of one type, but got {shown(a)} and {shown(b)}; write x.astype(..)")
    if a.dtype == "i1":
        refuse("@: expected numbers, but got truth values; write seen.astype(attn.f32)")
    left, right = a.shape[-1], b.shape[-2 if b.ndim > 1 else 0]
    if isinstance(left, int) and isinstance(right, int) and left != right:
        turned = b.ndim > 1 and b.shape[-1] == left
        refuse(f"@: expected the last size of the left operand and the {'second last' if b.ndim > 1 else 'only'} of the right one to be the "
               f"same, but got {shown(a)} and {shown(b)}" + "; write x @ y.swapaxes(-1, -2)" * turned)


def matmul(a, b):
    """a @ b: sums of products of the last axis of `a` and the second last of `b`, of vectors the only one; what is in front broadcasts.
    Products of 16 bits are summed in f32."""
    a, b = tensor(a, "left operand"), tensor(b, "right operand")
    if a.is_scores or b.is_scores:
        refuse("@: expected weights, but got scores of an attention; write attn.softmax(scores) @ v, or q @ k.swapaxes(-1, -2) for products "
               "of their own")
    if _is_context(a, b):
        return context_of(a, b)
    _check(a, b)
    # Of two matrices either may be weights of an attention that is written out, which is read from products.
    if a.is_float and b.ndim == 2 and (a.ndim > 2 or a.ndim == 2 and a.dtype in ("f16", "bf16") and b.swapped is None and a.stage != "rows"):
        return _project(a, b)
    rows, columns = a.ndim > 1, b.ndim > 1
    first, second = a if rows else expand_dims(a, 0), b if columns else expand_dims(b, 1)
    made = _contract(first, second)
    made.as_scores = _scores_of(a, b)
    ones = ({made.ndim - 2} if not rows else set()) | ({made.ndim - 1} if not columns else set())
    return drop(made, ones)


def _is_context(weights, value):
    """Whether it is the end of an attention: weights of all heads, times values of as many, or of one for all."""
    alike = weights.ndim == value.ndim and all(
        a == b or b == 1 and isinstance(a, int) and i == weights.ndim - 3
        for i, (a, b) in enumerate(zip(weights.shape[:-2], value.shape[:-2])))
    return weights.stage == "weights" and alike and (weights.dtype == "f64") == (value.dtype == "f64") and value.is_float


def context_of(weights, value):
    """Sums of values, weighted: attn.context."""
    kind = TensorType(value.dtype, [*weights.shape[:-1], value.shape[-1]])
    return Program.now().op(f"attn.context {weights.value}, {value.value} : ({weights.type}, {value.type}) -> {kind}", kind, "out")


def _scores_of(a, b):
    """What makes a product of rows of two tensors by attn.scores; None where it is no such product."""
    key = b.swapped
    alike = a.is_float and 2 <= a.ndim <= 4 and a.ndim == b.ndim and all(
        size == other and (isinstance(size, int) or a.ndim == 4 and i == 0)
        for i, (size, other) in enumerate(zip(a.shape[:-2], b.shape[:-2])))
    return (lambda: scores_of(a, key)) if alike and key is not None else None


def scores_of(query, key):
    """Products of every query with every key: attn.scores."""
    kind = TensorType("f64" if query.dtype == "f64" else "f32", [*query.shape[:-1], key.shape[-2]])
    program = Program.now()
    made = program.op(f"attn.scores {query.value}, {key.value} : ({query.type}, {key.type}) -> {kind}", kind, "scores")
    made.stage = "products"
    program.products.append((made, where_in_user_code()))
    return made


def _project(a, b):
    """attn.project, which takes tensors of 2 and 3 dimensions."""
    rows = collapse(a, [list(range(a.ndim - 1)), [a.ndim - 1]]) if a.ndim > 3 else a
    kind = TensorType(a.dtype, [*rows.shape[:-1], b.shape[1]])
    made = Program.now().op(f"attn.project {rows.value}, {b.value} : ({rows.type}, {b.type}) -> {kind}", kind, "projected")
    if a.ndim < 4:
        return made
    sizes = [size_of(a, axis) for axis in range(a.ndim - 1)] + [size_of(made, 1)]
    return expand(made, [list(range(a.ndim - 1)), [a.ndim - 1]], [*a.shape[:-1], b.shape[1]], sizes)


def _contract(a, b):
    """Products of matrices behind dimensions that broadcast."""
    front = broadcast("@", [Tensor("", TensorType(x.dtype, x.shape[:-2])) for x in (a, b)])
    count = len(front)
    row, column, depth = count, count + 1, count + 2
    first, at = aligned(a, (*front, *a.shape[-2:]))
    second, there = aligned(b, (*front, *b.shape[-2:]))
    pairs = [(first, [depth if axis == column else axis for axis in at]),
             (second, [{row: depth, column: column}.get(axis, axis) for axis in there])]
    shape = (*front, a.shape[-2], b.shape[-1])
    kind = a.dtype if a.dtype in ("f64", "i32", "i64") else "f32"
    out, program = empty(TensorType(kind, shape), sizes_among(pairs, shape)), Program.now()
    zero = program.constant("number", f"{'0.0' if a.is_float else '0'} : {kind}")
    begin = program.op(f"linalg.fill ins({zero} : {kind}) outs({out.value} : {out.type}) -> {out.type}", out.type, "start")

    def write(body, left, right, total):
        if a.dtype != kind:
            left, right = (body.op(f"arith.extf {x} : {a.dtype} to {kind}") for x in (left, right))
        suffix = "f" if a.is_float else "i"
        product = body.op(f"arith.mul{suffix} {left}, {right} : {kind}")
        return body.op(f"arith.add{suffix} {total}, {product} : {kind}")

    made = loop(pairs, begin, "product", write, list(range(depth)))
    program.of_products.add(made.value)
    return astype(made, a.dtype)
