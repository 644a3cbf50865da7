# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Dropout of weights: the forward pass and the gradient of compiled kernels against NumPy in f64 and attn-reference, which have Philox
4x32-10 each by themselves; the generator against its authors' answers (Random123, kat_vectors); bits for any number of threads; what a
negative seed, a probability of 0 and infinities do.

Other options go to attn-opt."""
import argparse
import re
import subprocess
import tempfile

import numpy as np

import elements
from kernels import attention, attn_opt, compare, finish, weigh
from learned import Learned, learning

ANSWERS = [((0, 0, 0, 0), (0, 0), (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
           ((0xFFFFFFFF,) * 4, (0xFFFFFFFF,) * 2, (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)),
           ((0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344), (0xA4093822, 0x299F31D0), (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1))]


def philox(counter, key):
    """Four words of each counter, which are arrays that broadcast."""
    low, shift = np.uint64(0xFFFFFFFF), np.uint64(32)
    c = [np.asarray(x, np.uint64) for x in counter]
    k = list(key)
    for _ in range(10):
        first, second = np.uint64(0xD2511F53) * c[0], np.uint64(0xCD9E8D57) * c[2]
        c = [(second >> shift) ^ c[1] ^ np.uint64(k[0]), second & low, (first >> shift) ^ c[3] ^ np.uint64(k[1]), first & low]
        k = [(k[0] + 0x9E3779B9) % 2**32, (k[1] + 0xBB67AE85) % 2**32]
    return c


def factors(shape, seed, probability):
    """What weights (batch x heads x queries x keys) are multiplied with."""
    if seed < 0:
        return np.ones(shape)
    b, h, q, k = np.meshgrid(*map(np.arange, shape), indexing="ij", sparse=True)
    words = np.stack(np.broadcast_arrays(*philox((k // 4, q, h, b), (seed % 2**32, seed >> 32))))
    own = np.take_along_axis(words, np.broadcast_to(k % 4, shape)[None], 0)[0]
    return np.where(own < np.uint64(round(probability * 2**32)), 0, 1 / (1 - probability))


class Case:
    def __init__(self, name, element="f32", heads=2, key_heads=2, dim=16, value_dim=16, probability=0.3, causal=True, normalization="softmax",
                 sinks=False, maps=1, cap=False, learns=True):
        self.__dict__.update(locals())

    def types(self):
        statistics = elements.statistics(self.element)
        of = lambda heads, dim: f"tensor<?x{heads}x?x{dim}x{self.element}>"
        return {"q": of(self.heads, self.dim), "k": of(self.key_heads, self.dim), "v": of(self.key_heads, self.value_dim),
                "out": of(self.heads, self.value_dim), "s": f"tensor<?x{self.heads}x?x?x{statistics}>", "sinks": f"tensor<{self.heads}x{statistics}>",
                "lam": f"tensor<{self.heads}x{statistics}>"}

    def learned(self):
        return ["q", "k", "v"] + ["sinks"] * self.sinks + ["q2", "k2", "lam"] * (self.maps == 2)

    def text(self):
        t = self.types()
        t |= {"q2": t["q"], "k2": t["k"]}
        lines, weights = [], []
        for i in range(1, self.maps + 1):
            n = "" if i == 1 else "2"
            lines.append(f"%a{i} = attn.scores %q{n}, %k{n} : ({t['q']}, {t['k']}) -> {t['s']}")
            lines.append(f"%b{i} = attn.scale %a{i} by {self.dim**-0.5!r} : {t['s']}")
            lines.append(f"%c{i} = attn.softcap %b{i} at 2.0 : {t['s']}" if self.cap else "")
            last = f"%c{i}" if self.cap else f"%b{i}"
            lines.append(f"%m{i} = attn.mask {last} where causal(bottom_right) : {t['s']}" if self.causal else "")
            last = f"%m{i}" if self.causal else last
            sinks = f" sinks %sinks : {t['sinks']}" if self.sinks else ""
            lines.append(f"%w{i} = attn.{self.normalization} {last}{sinks} : {t['s']}")
            weights.append(f"%w{i}")
        if self.maps == 2:
            lines.append(f"%w = attn.subtract_weights %w1, %w2 by %lam : {t['s']}, {t['lam']}")
        last = "%w" if self.maps == 2 else "%w1"
        lines.append(f"%d = attn.dropout {last} by {self.probability!r} seed %seed : {t['s']}, tensor<i64>")
        lines.append(f"%out = attn.context %d, %v : ({t['s']}, {t['v']}) -> {t['out']}")
        names = ["q", "k", "v"] + [n for n in self.learned() if n not in ("q", "k", "v")]
        arguments = ", ".join([f"%{n}: {t[n]}" for n in names] + ["%seed: tensor<i64>"])
        body = "\n  ".join(line for line in lines if line)
        return learning(f"func.func @layer({arguments}) -> {t['out']} {{\n  {body}\n  return %out : {t['out']}\n}}\n", self.learned())

    def inputs(self, sizes, seed, rng):
        batch, queries, keys = sizes
        shapes = {"q": (batch, self.heads, queries, self.dim), "k": (batch, self.key_heads, keys, self.dim),
                  "v": (batch, self.key_heads, keys, self.value_dim), "sinks": (self.heads,), "lam": (self.heads,)}
        shapes |= {"q2": shapes["q"], "k2": shapes["k"]}
        wide = elements.statistics(self.element)
        arrays = {n: elements.store(rng.standard_normal(shapes[n]), wide if n in ("sinks", "lam") else self.element) for n in self.learned()}
        return arrays | {"seed": np.array(seed, np.int64)}

    def expected(self, arrays, sizes):
        """By definition, in f64."""
        batch, queries, keys = sizes
        q, k = np.arange(queries)[:, None], np.arange(keys)[None]
        seen = np.broadcast_to(k <= q + keys - queries if self.causal else k >= 0, (batch, self.heads, queries, keys))
        modify = (lambda s, *place: 2 * np.tanh(s / 2)) if self.cap else None

        def map_of(q, k):
            if self.normalization == "softmax":
                return attention(arrays[q], arrays[k], arrays["v"], self.dim**-0.5, seen, None, modify, arrays.get("sinks"))[2]
            scores = attention(arrays[q], arrays[k], arrays["v"], self.dim**-0.5, seen)[3]
            return np.where(seen, 1 / (1 + np.exp(-(modify(scores) if modify else scores))), 0)
        weights = map_of("q", "k")
        if self.maps == 2:
            weights = weights - elements.numbers(arrays["lam"])[:, None, None] * map_of("q2", "k2")
        kept = weights * factors(weights.shape, int(arrays["seed"]), self.probability)
        return weigh(kept, np.repeat(elements.numbers(arrays["v"]), self.heads // self.key_heads, 1))


CASES = [Case("plain"), Case("group", heads=4, key_heads=2, dim=24, causal=False, probability=0.1), Case("f64", element="f64", value_dim=5, heads=3, key_heads=1),
         Case("bf16", element="bf16", probability=0.5), Case("f16", element="f16", causal=False), Case("sigmoid", normalization="sigmoid", probability=0.2),
         Case("sinks_cap", sinks=True, cap=True), Case("two_maps", maps=2, probability=0.25), Case("nearly_all", probability=0.97)]
SIZES = [(1, 1, 1), (2, 3, 7), (1, 70, 131), (2, 33, 20)]
TOLERANCE = {"f64": 1e-11, "f32": 2e-5, "f16": 6e-3, "bf16": 5e-2}


def near(what, got, want, element):
    compare(what, got, want, rtol=TOLERANCE[element], atol=TOLERANCE[element] * max(1.0, float(np.abs(elements.numbers(want)).max(initial=0))))


def check_case(case, folder, options):
    layer = Learned(case.text(), folder)
    kernels = {which: layer.kernel(which, options.target, options.flags) for which in ("forward", "gradient")}
    rng = np.random.default_rng(5)
    for number, sizes in enumerate(SIZES):
        what = f"{case.name} {sizes}"
        arrays = case.inputs(sizes, [7, 2**40 + 3, 2**63 - 1, -1][number], rng)
        out = case.expected(arrays, sizes)
        near(what + " (Reference)", layer.evaluate("forward", arrays)[layer.ports("forward")[1][0].name], out, case.element)
        cotangents = {"d_" + layer.ports("forward")[1][0].name: elements.store(rng.standard_normal(out.shape), case.element)}
        given = layer.gradient_inputs(arrays, cotangents)
        room = [elements.empty(forward_shape(case, p, sizes), p.element) for p in layer.ports("forward")[1]]
        got = kernels["forward"]([arrays[p.name] for p in layer.ports("forward")[0]], room, 2)
        near(what, got[0], out, case.element)
        want = layer.evaluate("gradient", given)
        answers = []
        for threads in (1, 2, 3, 7):
            room = [elements.empty(arrays[p.name[2:]].shape, p.element) for p in layer.ports("gradient")[1]]
            answers.append(kernels["gradient"]([given[p.name] for p in layer.ports("gradient")[0]], room, threads))
        for other in answers[1:]:
            if any(a.tobytes() != b.tobytes() for a, b in zip(answers[0], other)):
                raise AssertionError(f"{what}: other bits with more threads")
        for port, gradient in zip(layer.ports("gradient")[1], answers[0]):
            near(f"{what} {port.name}", gradient, want[port.name], case.element)
        if case.element == "f64":
            along(case, what, arrays, sizes, given[next(iter(cotangents))], want, rng)


def forward_shape(case, port, sizes):
    batch, queries, _ = sizes
    return (batch, case.heads, queries, case.value_dim) if len(port.shape) == 4 else (batch, case.heads, queries)


def along(case, what, arrays, sizes, cotangent, gradient, rng):
    """The reference's gradient is that of the definition."""
    v = {n: rng.standard_normal(arrays[n].shape) for n in case.learned()}
    loss = lambda t: (case.expected({n: a + t * v[n] if n in v else a for n, a in arrays.items()}, sizes) * cotangent).sum()
    h = 1e-4
    slope = (8 * (loss(h) - loss(-h)) - loss(2 * h) + loss(-2 * h)) / (12 * h)
    compare(what + " along a direction", np.array(sum((gradient[f"d_{n}"] * v[n]).sum() for n in v)), np.array(slope), rtol=1e-7, atol=1e-7)


def check_infinite(folder, options):
    """A value, or a cotangent, that no kept weight meets reaches nothing."""
    case = Case("infinite", causal=False, heads=1, key_heads=1, probability=0.5)
    layer, sizes = Learned(case.text(), folder), (1, 12, 9)
    arrays = case.inputs(sizes, 11, np.random.default_rng(1))
    dropped = factors((1, 1, 12, 9), 11, 0.5)[0, 0, :, 4] == 0
    arrays["v"][0, 0, 4] = np.inf
    room = [elements.empty(forward_shape(case, p, sizes), p.element) for p in layer.ports("forward")[1]]
    out = layer.kernel("forward", options.target, options.flags)([arrays[p.name] for p in layer.ports("forward")[0]], room)[0]
    finite = np.isfinite(out[0, 0]).all(-1)
    if (finite != dropped).any() or dropped.all() or not dropped.any():
        raise AssertionError("an infinite value reaches other rows than those that keep its weight")


def assembly(text, *flags):
    return subprocess.run([attn_opt(), "-", "--emit=asm", "-o", "-", *flags], input=text, check=True, capture_output=True, text=True).stdout


def body(text, function):
    """The instructions of the kernels."""
    return re.findall(rf"^{function}\S*\.(?:online|grad)\w*:.*?^\.Lfunc_end", text, flags=re.MULTILINE | re.DOTALL)


def check_nothing(options):
    """A probability of 0 has the code of no dropout."""
    case = Case("none", probability=0.0)
    plain = re.sub(r"  %d = attn\.dropout[^\n]*\n", "", case.text()).replace("%d,", "%w1,")
    flags = ["--target=" + options.target, *options.flags]
    with_clause, without = (body(assembly(text, *flags), "layer") for text in (case.text(), plain))
    if not without or with_clause != without:
        raise AssertionError("a dropout of probability 0 changes a kernel")


def check_rate():
    for probability in (0.1, 0.5, 0.9):
        drawn = factors((2, 4, 128, 128), 3, probability)
        share, spread = (drawn == 0).mean(), (probability * (1 - probability) / drawn.size) ** 0.5
        if abs(share - probability) > 4 * spread:
            raise AssertionError(f"{share:.4f} of weights are dropped, not {probability}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--target", default="native")
    parser.add_argument("--only", default="", metavar="NAME,..")
    options, options.flags = parser.parse_known_args()
    failures, tried = [], 0
    for counter, key, words in ANSWERS:
        if tuple(int(w) for w in philox(counter, key)) != words:
            failures.append(f"philox of {counter} is wrong")
    checks = [(check_case, case) for case in CASES if any(n in case.name for n in options.only.split(","))]
    for check, case in checks:
        tried += 1
        with tempfile.TemporaryDirectory() as folder:
            try:
                check(case, folder, options)
            except (AssertionError, RuntimeError) as error:
                failures.append(str(error))
    with tempfile.TemporaryDirectory() as folder:
        for check in (lambda: check_infinite(folder, options), lambda: check_nothing(options), check_rate):
            tried += 1
            try:
                check()
            except AssertionError as error:
                failures.append(str(error))
    finish(tried + len(ANSWERS), failures)


if __name__ == "__main__":
    main()
