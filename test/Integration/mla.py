# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Values that are a part of the keys' features: multi-head latent attention. The kernel gets one tensor for both. Few
and many queries, all element types, at the sizes of models and at odd ones; the oracle is the definition in f64."""
import argparse
import tempfile

import numpy as np

import elements
from kernels import attention, compare, finish, load_kernel, reference


class Latent:
    """`width` features of a row are the key, the `dv` from `first` on are the value."""

    def __init__(self, name, width, dv, heads, first=0, element="f32", sequence_first=False, lengths=None):
        self.name, self.width, self.dv, self.heads, self.first = name, width, dv, heads, first
        self.element, self.sequence_first = element, sequence_first
        self.lengths = lengths or [(1, 1, 1), (2, 1, 70), (1, 4, 1100), (2, 3, 97), (2, 40, 60)]

    def shape(self, heads, length, features):
        dims = (length, heads) if self.sequence_first else (heads, length)
        return f"tensor<?x{dims[0]}x{dims[1]}x{features}x{self.element}>"

    def text(self):
        q, c = self.shape(self.heads, "?", self.width), self.shape(1, "?", self.width)
        v, out = self.shape(1, "?", self.dv), self.shape(self.heads, "?", self.dv)
        wide, s = elements.statistics(self.element), 1 if self.sequence_first else 2
        sizes = "%s, 1" if self.sequence_first else "1, %s"
        layouts = ", ".join(f"{n}_layout = #attn<layout bshd>" for n in ("query", "key", "value", "out"))
        return (f"func.func @kernel(%q: {q}, %c: {c}, %n: tensor<?xi32>) -> ({out}, tensor<?x{self.heads}x?x{wide}>) {{\n"
                f"  %c0 = arith.constant 0 : index\n  %cs = arith.constant {s} : index\n"
                f"  %b = tensor.dim %c, %c0 : {c}\n  %s = tensor.dim %c, %cs : {c}\n"
                f"  %v = tensor.extract_slice %c[0, 0, 0, {self.first}] [%b, {sizes}, {self.dv}] [1, 1, 1, 1] : {c} to {v}\n"
                f"  %out, %lse = attn.sdpa %q, %c, %v scale {self.width ** -0.5!r} where causal(bottom_right) and "
                f"key_length(%n : tensor<?xi32>) returning(out, lse){' {' + layouts + '}' if self.sequence_first else ''}\n"
                f"      : ({q}, {c}, {v}) -> ({out}, tensor<?x{self.heads}x?x{wide}>)\n"
                f"  return %out, %lse : {out}, tensor<?x{self.heads}x?x{wide}>\n}}\n")


CASES = [
    Latent("model", 576, 512, 16), Latent("model_bf16", 576, 512, 16, element="bf16"),
    Latent("many_heads", 576, 512, 128, lengths=[(1, 1, 130), (1, 2, 40)]),
    Latent("model_bshd", 576, 512, 16, sequence_first=True, lengths=[(2, 3, 97), (1, 20, 70)]),
    Latent("odd", 21, 13, 3), Latent("odd_f16", 21, 13, 3, element="f16"), Latent("odd_f64", 21, 13, 3, element="f64"),
    Latent("odd_bf16", 9, 8, 2, element="bf16"), Latent("behind", 40, 33, 4, first=7),
    Latent("behind_bshd", 40, 33, 4, first=7, element="bf16", sequence_first=True),
]


def check(kernel, case, sizes, seed, threads, folder):
    batch, queries, keys = sizes
    rng = np.random.default_rng(seed)
    q = elements.store(rng.standard_normal((batch, case.heads, queries, case.width)), case.element)
    c = elements.store(rng.standard_normal((batch, 1, keys, case.width)), case.element)
    n = rng.integers(0, keys + 1, batch).astype(np.int32)
    c[np.arange(keys)[None, None, :] >= n[:, None, None]] = elements.store(np.nan, case.element)
    row, column = np.arange(queries)[:, None], np.arange(keys)[None, :]
    seen = np.stack([(column <= row + m - queries) & (column < m) for m in n])[:, None]
    seen = np.broadcast_to(seen, (batch, case.heads, queries, keys))
    v = c[..., case.first:case.first + case.dv]
    out, lse = attention(q, c, v, case.width**-0.5, seen)[:2]
    order = (lambda x: np.ascontiguousarray(x.swapaxes(1, 2))) if case.sequence_first else (lambda x: x)
    inputs = [order(q), order(c), n]
    results = [order(elements.empty(out.shape, case.element)), elements.empty(lse.shape, elements.statistics(case.element))]
    got = [kernel(inputs, results, threads)]
    if seed % 5 == 3 and q.size * keys < 1e6:
        got.append(reference(kernel.source, inputs, 2, folder))
    for who, (o, l) in zip(("", " (Reference)"), got):
        wide = elements.statistics(case.element)
        allowed = elements.tolerance(case.element, out, kernel.error_scale)
        # A score is a sum of up to 576 products. In f32 that alone, with all else exact, errs by 4e-6 in scores and by
        # 2.4e-6 in out; errors grow with the square root of the features.
        allowed["atol"] = allowed["atol"] + (case.element == "f32") * 2e-6
        compare(f"{case.name} {sizes} out{who}", order(o), out, **allowed)
        compare(f"{case.name} {sizes} lse{who}", l, lse, **elements.tolerance(wide, lse))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--target", default="native")
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    count, failures = 0, []
    for number, case in enumerate(CASES):
        if options.only not in case.name:
            continue
        with tempfile.TemporaryDirectory() as folder:
            kernel = load_kernel(case.text(), folder, options.target)
            for i, sizes in enumerate(case.lengths):
                try:
                    check(kernel, case, sizes, 10 * number + i, 1 + i % 3, folder)
                except (AssertionError, RuntimeError) as error:
                    failures.append(str(error))
                count += 1
    finish(count, failures)


if __name__ == "__main__":
    main()
