# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What `attn.attention` and `flex_attention` compute, as steps of the function that is traced."""
from . import _attention, _graph, _tensor
from ._trace import refuse
from ._views import swapaxes


def attend(tensors, results, *, problem, mask, score_mod, bias, scale, sinks, normalization, dropout=0.0, **_):
    """Results of one attention of query, key and value, tensors of the traced function."""
    if dropout:
        refuse("an attention that is called in a function has no dropout; write attn.scores, attn.softmax, attn.dropout and attn.context")
    for name in results:
        if name not in ("out", "weights"):
            refuse(f"an attention that is called in a function returns out and weights, but this one {name}")
    if len(tensors) != 3:
        refuse(f"expected query, key and value in a function, but got {len(tensors)} tensors; masks and biases name its arguments")
    query, key, value = (_turned(_tensor.tensor(x, name), problem) for x, name in zip(tensors, ("query", "key", "value")))
    for x, name, heads, features in ((query, "query", problem.query_heads, problem.dim), (key, "key", problem.key_heads, problem.dim),
                                     (value, "value", problem.key_heads, problem.value_dim)):
        if x.dtype != problem.dtype or x.ndim != problem.rank or x.shape[-1] != features or heads is not None and x.shape[-3] != heads:
            refuse(f"expected {name} of {problem.rank} dimensions, {'' if heads is None else f'{heads} heads and '}{features} features of "
                   f"{problem.dtype}, but got {_tensor.shown(x)}")
    bias, sinks = (_attention._floats(name, x, problem.statistics) for name, x in (("bias", bias), ("sinks", sinks)))
    scores = _tensor.scale(_graph.scores(query, key), scale)
    if score_mod is not None:
        scores = _tensor.score_mod(scores, score_mod)
    if bias is not None:
        scores = scores + bias
    if mask is not None:
        scores = _graph.mask(scores, mask)
    weights = _graph.softmax(scores, sinks) if normalization == "softmax" else _graph.sigmoid(scores)
    made = {"out": _turned(_graph.context(weights, value), problem), "weights": weights}
    return made[results[0]] if len(results) == 1 else tuple(made[name] for name in results)


def _turned(x, problem):
    """(B, S, H, D) as (B, H, S, D), and back."""
    return swapaxes(x, 1, 2) if problem.layout == "bshd" and problem.rank == 4 else x
