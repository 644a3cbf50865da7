# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The five steps of a specification's attention, as kernels compute them.

A specification that is written in steps (attn.scores .. attn.context) names
each of them. The same text that returns another value of its body is a kernel
for that value, so every number of a picture is what a kernel returned.
"""
import json
import os
import re

import numpy as np

from . import _driver, _lab
from ._call import Error

_DEFINED = re.compile(r"^\s*%(\w+)\s*= ((?:attn|arith|math)\.\w+) %(\w+)(?:, %(\w+))?(.*)$", re.MULTILINE)
_TYPES = re.compile(r": \(([^()]+?), ([^()]+?)\) -> (\S+)$")
_RETURN = re.compile(r"^\s*return .*$", re.MULTILINE)


class Steps:
    """The names of the values of the one attention in `text`, the specification
    of the function `name`. Raises Error where there is no such attention."""

    def __init__(self, text, name):
        begin = re.search(rf"func\.func (?:public )?@{re.escape(name)}\(", text)
        end = text.find("\n}", begin.end()) if begin else -1
        if end < 0:
            raise Error(f"{name}: its specification cannot be shown in steps")
        self.name = name
        self._text, self._span = text, (begin.start(), end)
        self._body = text[begin.start():end]
        self._made = {made: rest for made, *rest in _DEFINED.findall(self._body)}
        contexts = [rest for rest in self._made.values() if rest[0] == "attn.context"]
        if len(contexts) != 1:
            raise Error(f"{name}: a picture shows one attention, written from attn.scores to attn.context, but this specification has "
                        f"{len(contexts)}; attn.attention makes others that have pictures")
        _, self.weights, self.value, rest = contexts[0]
        self.out = next(made for made, found in self._made.items() if found is contexts[0])
        self._find_scores()
        self.types = dict(zip((self.weights, self.value, self.out), self._types(rest)))
        query, key, scores = self._types(self._made[self.raw][3])
        self.types.update({self.query: query, self.key: key}, **dict.fromkeys((self.raw, self.scaled, self.masked), scores))

    def _types(self, rest):
        found = _TYPES.search(rest)
        if not found:
            raise Error(f"{self.name}: its specification cannot be shown in steps, since a type stands in a line of its own")
        return found.groups()

    def _find_scores(self):
        op, self.masked, _, rest = self._made.get(self.weights, ("nothing", "", "", ""))
        if op not in ("attn.softmax", "attn.sigmoid"):
            raise Error(f"{self.name}: a picture shows weights of attn.softmax or attn.sigmoid, but these are made by {op}")
        if " sinks " in rest:
            raise Error(f"{self.name}: this attention has sinks, which no picture shows")
        self.normalization = op.removeprefix("attn.")
        chain = [self.masked]
        while self._made.get(chain[-1], ("",))[0] not in ("attn.scores", ""):
            chain.append(self._made[chain[-1]][1])
        if chain[-1] not in self._made:
            raise Error(f"{self.name}: a picture shows weights of attn.scores, but these are made of %{chain[-1]}")
        self.raw = self.scaled = chain[-1]
        _, self.query, self.key, _ = self._made[self.raw]
        self.scale = 1.0
        if len(chain) > 1 and self._made[chain[-2]][0] == "attn.scale":
            self.scaled = chain[-2]
            self.scale = float(re.search(r" by (\S+)", self._made[self.scaled][3])[1])

    def returning(self, *values):
        """The specification, with these results."""
        results = ", ".join(self.types[v] for v in values)
        body = _RETURN.sub(f"  return {', '.join('%' + v for v in values)} : {results}", self._body)
        head = body.index("->")
        body = body[:head] + f"-> ({results})" + body[re.compile(r" \{\n").search(body, head).start():]
        return self._text[:self._span[0]] + body + self._text[self._span[1]:]


def _formulas(part):
    """What --explain=json says of a set of tiles, in the form of --explain."""
    for piece in part["parts"]:
        low, high = (f"{word}({', '.join(b)})" if len(b) > 1 else b[0] for word, b in (("max", piece["lower"]), ("min", piece["upper"])))
        yield f"kt in [{low} .. {high}]" + "".join(f"  if {c}" for c in piece["if"] + piece["tests"])


def tiles_of(kernel, masked):
    """The tile map of the kernel's one attention, with the sizes and bounds that
    the compiler chose; None where heads see other pairs."""
    explained = json.loads(_driver.run(["-", "--explain=json", f"--entry={kernel.name}", f"--target={kernel.info['target']}",
                                        "--emit=header", "-o", os.devnull], kernel.mlir, "explaining"))
    attention, = explained["functions"][0]["attentions"]
    visible = masked != -np.inf
    if visible.ndim == 3 and (visible != visible[:1]).any():
        return None
    bounds = [f"visit: {f}" for f in _formulas(attention["visit"])] + [f"test the mask: {f}" for f in _formulas(attention["not_full"])]
    return _lab.tile_map(masked, attention["schedule"]["queries"], attention["schedule"]["keys"], bounds)


def picture(kernel, compile, arrays, tokens=None, keys=None, title=None, batch=0):
    """A page of one call of `kernel`; `compile` makes kernels of texts."""
    steps = Steps(kernel.mlir, kernel.name)
    arguments = dict(zip((a.name for a in kernel.arguments), arrays))

    def run(*values):
        results = compile(steps.returning(*values), kernel.name, target=kernel.info["target"])(*arrays)
        return results if isinstance(results, tuple) else (results,)

    def one(array):
        return _lab.entry(array, batch)

    given = {n: arguments[n] for n in (steps.query, steps.key, steps.value) if n in arguments}
    computed = [n for n in dict.fromkeys((steps.query, steps.key, steps.value)) if n not in given]
    given.update(zip(computed, run(*computed) if computed else ()))
    out, weights = map(one, run(steps.out, steps.weights))
    raw, scaled, masked = (one(run(steps.out, stage)[1]) for stage in (steps.raw, steps.scaled, steps.masked))
    query, key, value = (one(given[n]) for n in (steps.query, steps.key, steps.value))
    keys = keys or (tokens if tokens is not None and len(tokens) == key.shape[-2] else None)
    return _lab.Picture(_lab.describe(
        title=title or kernel.name, entry=kernel.name, query=query, key=key, value=value, scores=raw, scaled=scaled, masked=masked,
        weights=weights, out=out, scale=steps.scale, normalization=steps.normalization, queries=tokens, keys=keys,
        tiles=tiles_of(kernel, masked), specification=kernel.mlir))
