# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Packed sequences with few queries each: kernels of kind decode whose rows are cut at documents, and those of kind prefill where
the mean number of queries asks for them. Some sequences have no query, some no key."""
import argparse
import re
import subprocess
import tempfile

import numpy as np

import elements
from kernels import attention, attn_opt, compare, finish, load_kernel, reference

CUMULATIVE = "document(cumulative %i : tensor<?xi32>, %j : tensor<?xi32>)"
NUMBERS = "document(%i : tensor<?xi32>, %j : tensor<?xi32>)"
CAUSAL = " and causal(bottom_right in document)"


class Ragged:
    def __init__(self, name, dim=64, heads=4, group=1, mask=CUMULATIVE, layout="bshd", element="f32", sinks=False, state=False):
        self.name, self.dim, self.heads, self.group, self.mask = name, dim, heads, group, mask
        self.layout, self.element, self.sinks, self.state = layout, element, sinks, state
        self.cumulative, self.causal = "cumulative" in mask, CAUSAL in mask

    def text(self):
        def tensor(heads):
            return f"tensor<{f'?x{heads}' if self.layout == 'bshd' else f'{heads}x?'}x{self.dim}x{self.element}>"
        q, kv, lse = tensor(self.heads), tensor(self.heads // self.group), f"tensor<{self.heads}x?xf32>"
        sinks = f" sinks %s : tensor<{self.heads}xf32>" if self.sinks else ""
        argument = f", %s: tensor<{self.heads}xf32>" if self.sinks else ""
        types = [q, lse] + [lse, lse, q.replace("x" + self.element, "xf32")] * self.state
        values = ["%out", "%lse", "%m", "%l", "%a"][:len(types)]
        layouts = ", ".join(f"{x}_layout = #attn<layout {self.layout}>" for x in ("query", "key", "value", "out"))
        return (f"func.func @kernel(%q: {q}, %k: {kv}, %v: {kv}, %i: tensor<?xi32>, %j: tensor<?xi32>{argument}) -> ({', '.join(types)}) {{\n"
                f"  {', '.join(values)} = attn.sdpa %q, %k, %v scale 0.125 where {self.mask}{sinks} "
                f"returning(out, lse{', state' if self.state else ''}) {{{layouts}}} : ({q}, {kv}, {kv}) -> ({', '.join(types)})\n"
                f"  return {', '.join(values)} : {', '.join(types)}\n}}\n")


    def compare(self, what, got, want):
        if self.state:  # errors of acc grow with the sum
            total = np.maximum(want[3], 1)
            total = (total.T if self.layout == "bshd" else total)[..., None]
            got, want = [*got[:4], got[4] / total], [*want[:4], want[4] / total]
        for name, g, w in zip(("out", "lse", "maximum", "sum", "acc"), got, want):
            element = self.element if name == "out" else "f32"
            near = elements.near(element, w, atol=2e-6 if self.element == "f32" else elements.ROUGH)
            if w.size:
                compare(f"{what} {name}", g, w, **near)


CASES = [
    Ragged("plain"), Ragged("causal", mask=CUMULATIVE + CAUSAL), Ragged("group", heads=8, group=4, mask=CUMULATIVE + CAUSAL),
    Ragged("group_odd", 40, heads=6, group=3), Ragged("head_major", 72, heads=4, group=2, mask=CUMULATIVE + CAUSAL, layout="bhsd"),
    Ragged("sinks", heads=4, group=4, sinks=True), Ragged("state", 24, heads=4, group=2, state=True),
    Ragged("f16", 128, heads=8, group=8, element="f16"), Ragged("bf16", heads=4, group=2, mask=CUMULATIVE + CAUSAL, element="bf16"),
    Ragged("numbers", heads=4, group=2, mask=NUMBERS), Ragged("numbers_head_major", 17, mask=NUMBERS, layout="bhsd"),
]
# Queries of each sequence, and keys.
SEQUENCES = [
    ([1], [100]), ([1, 1, 1, 1, 1], [3, 300, 0, 97, 960]), ([0, 3, 1, 0, 2], [5, 200, 96, 7, 0]), ([2, 2, 2], [192, 96, 96]),
    ([15, 15], [130, 1000]), ([14, 0, 1, 13, 9], [50, 9, 0, 333, 1]), ([40, 3], [70, 200]), ([], []),
]


def starts(counts):
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)


def check(case, kernel, queries, keys, seed, folder):
    rng = np.random.default_rng(seed)
    behind = 2 * (seed % 2) if case.cumulative else 0  # positions outside of all documents
    sq, skv = sum(queries) + behind, sum(keys) + behind
    of = lambda counts: np.repeat(np.arange(len(counts)), counts)
    rows, columns = np.concatenate([of(queries), -np.ones(behind)]), np.concatenate([of(keys), -2 * np.ones(behind)])
    if not case.cumulative and seed % 2:
        rng.shuffle(columns)
    seen = rows[:, None] == columns
    if case.causal:
        last = starts(keys)[1:] - starts(queries)[1:] if queries else np.zeros(1, int)
        seen &= np.arange(skv) <= np.arange(sq)[:, None] + last[np.clip(rows, 0, None).astype(int)][:, None]
    arrays = [elements.store(rng.standard_normal((1, h, n, case.dim)), case.element)
              for h, n in ((case.heads, sq), (case.heads // case.group, skv), (case.heads // case.group, skv))]
    hidden = ~seen.any(axis=0)
    arrays[1][:, :, hidden], arrays[2][:, :, hidden] = elements.store(np.nan, case.element), elements.store(np.inf, case.element)
    sinks = rng.standard_normal(case.heads).astype(np.float32) if case.sinks else None
    out, lse, _, scores = attention(*arrays, 0.125, np.broadcast_to(seen, (1, case.heads, sq, skv)), sinks=sinks)
    want = [out, lse]
    if case.state:
        maximum = np.where(seen, scores, -np.inf).max(-1, initial=-np.inf)
        total = np.where(maximum == -np.inf, 0, np.exp(lse - maximum, where=np.isfinite(maximum), out=np.zeros_like(lse)))
        want += [maximum, total, out * total[..., None]]
    given = lambda x: np.ascontiguousarray(x[0].swapaxes(0, 1) if case.layout == "bshd" and x.ndim == 4 else x[0])
    documents = [starts(queries), starts(keys)] if case.cumulative else [rows.astype(np.int32), columns.astype(np.int32)]
    inputs = [*map(given, arrays), *documents, *([sinks] if case.sinks else [])]
    outputs = [elements.empty(given(w).shape, case.element if i == 0 else "f32") for i, w in enumerate(want)]
    got = kernel(inputs, outputs, 1 + seed % 3)
    what = f"{case.name} {queries} x {keys}"
    case.compare(what, got, [given(w) for w in want])
    if sq * skv and sq * skv < 3000:
        case.compare(what + " (Reference)", got, reference(kernel.source, inputs, len(got), folder))


def main():
    parser = argparse.ArgumentParser(description=__doc__, epilog="Other options go to attn-opt.")
    parser.add_argument("--target", default="native")
    options, flags = parser.parse_known_args()
    count, failures = 0, []
    for number, case in enumerate(CASES):
        with tempfile.TemporaryDirectory() as folder:
            kernel = load_kernel(case.text(), folder, options.target, flags)
            scheduled = subprocess.run([attn_opt(), kernel.source, "--compile-to=scheduled", "--target=" + options.target, *flags],
                                       check=True, capture_output=True, text=True).stdout
            if not re.search(r"decode_schedule = .*kind = decode", scheduled):
                failures.append(f"{case.name}: no kernel of kind decode")
            for i, (queries, keys) in enumerate(SEQUENCES):
                if case.mask == NUMBERS and (sum(queries) == 0 or sum(keys) == 0):
                    continue
                try:
                    check(case, kernel, queries, keys, 10 * number + i, folder)
                except (AssertionError, RuntimeError) as error:
                    failures.append(str(error))
                count += 1
    finish(count, failures)


if __name__ == "__main__":
    main()
