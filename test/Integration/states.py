# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Partial states: the keys are split into random parts, some without a key, each part is computed by itself, the states are
merged in any order, and the result is that over all keys. Merging an empty state changes no bit."""
import argparse
import pathlib
import tempfile

import numpy as np

import elements
from kernels import attention, compare, finish, load_kernel, reference
from values import Case

OPEN = [("causal", ("operand", "start"))]  # the mask of a part; the offset is where its first key lies
MASKED = [("allowed", "ok")]


class Part(Case):
    """An attention over some keys, in any rank and with out in either layout. `rest` is what it returns besides the state."""

    def __init__(self, name, dk=64, rank=4, layout=None, rest=("lse",), **options):
        super().__init__(name, dk, **options)
        self.rank, self.layout, self.rest = rank, layout, rest

    def shape(self, *dims):
        """MLIR's text of a shape, without the dimensions that tensors of this rank lack."""
        return "x".join(map(str, dims[4 - self.rank:]))

    def types(self):
        heads = self.heads, self.heads // self.group
        q = f"tensor<{self.shape('?', heads[0], '?', self.dk)}x{self.query_type}>"
        k = f"tensor<{self.shape('?', heads[1], '?', self.dk)}x{self.query_type}>"
        v = f"tensor<{self.shape('?', heads[1], '?', self.dv)}x{self.value_type}>"
        out = self.shape("?", heads[0], "?", self.dv)
        if self.layout:
            out = self.shape("?", "?", heads[0], self.dv)
        row = f"tensor<{'x'.join(map(str, ('?', heads[0], '?')[4 - self.rank:]))}x{self.wide_type}>"
        return q, k, v, f"tensor<{out}x{self.value_type}>", row, f"tensor<{out}x{self.wide_type}>"

    def attention_text(self):
        q, k, v, out, row, acc = self.types()
        arguments, where = f"%q: {q}, %k: {k}, %v: {v}", ""
        if self.mask == OPEN:
            arguments, where = arguments + ", %start: tensor<?xi32>", " where causal(offset = %start : tensor<?xi32>)"
        elif self.mask == MASKED:
            arguments, where = arguments + ", %ok: tensor<?x?xi1>", " where %ok : tensor<?x?xi1>"
        results = [out, *(row for _ in self.rest), row, row, acc]
        layout = f" {{out_layout = #attn<layout {self.layout}>}}" if self.layout else ""
        listed = ", ".join(("out", *self.rest, "state"))
        returned = range(0 if self.rest else 1, len(results))  # without the rest, out has no use
        names, types = ", ".join(f"%r#{i}" for i in returned), ", ".join(results[i] for i in returned)
        return (f"func.func @kernel({arguments}) -> ({types}) {{\n"
                f"  %r:{len(results)} = attn.sdpa %q, %k, %v scale {self.scale!r}{where} returning({listed}){layout}"
                f" : ({q}, {k}, {v}) -> ({', '.join(results)})\n  return {names} : {types}\n}}\n")

    def state_types(self):
        """Those of merge and finalize, which know one layout only."""
        plain = Part(self.name, self.dk, self.rank, dv=self.dv, heads=self.heads, types=(self.query_type, self.value_type))
        _, _, _, out, row, acc = plain.types()
        return out, row, acc

    def merge_text(self):
        _, row, acc = self.state_types()
        arguments = ", ".join(f"%m{i}: {row}, %l{i}: {row}, %a{i}: {acc}" for i in (1, 2))
        return (f"func.func @kernel({arguments}) -> ({row}, {row}, {acc}) {{\n"
                f"  %m, %l, %a = attn.merge_states %m1, %l1, %a1 with %m2, %l2, %a2 : {row}, {acc}\n"
                f"  return %m, %l, %a : {row}, {row}, {acc}\n}}\n")

    def finalize_text(self):
        out, row, acc = self.state_types()
        return (f"func.func @kernel(%m: {row}, %l: {row}, %a: {acc}) -> ({out}, {row}) {{\n"
                f"  %out, %lse = attn.finalize_state %m, %l, %a : ({row}, {row}, {acc}) -> ({out}, {row})\n"
                f"  return %out, %lse : {out}, {row}\n}}\n")

    def arrays(self, sizes, rng):
        b, sq, skv = sizes
        hkv = self.heads // self.group
        normal = lambda element, *s: elements.store(rng.standard_normal(s), element)
        return (normal(self.query_type, b, self.heads, sq, self.dk), normal(self.query_type, b, hkv, skv, self.dk),
                normal(self.value_type, b, hkv, skv, self.dv))

    def given(self, array):
        """An array of rank 4, or of rank 3 for rows, in the rank of the kernel."""
        return np.ascontiguousarray(array.reshape(array.shape[4 - self.rank:]))


CASES = [
    Part("plain"), Part("odd", 17, dv=5, heads=3), Part("one", 1, dv=1), Part("group", 40, heads=8, group=4),
    Part("causal", 64, heads=4, group=2, mask=OPEN), Part("wide", 128, dv=72, mask=OPEN), Part("masked", 40, mask=MASKED),
    Part("rank3", 64, 3, heads=4, group=2), Part("rank2", 24, 2, heads=1, mask=MASKED),
    Part("sequence_first", 64, layout="bshd", heads=4, mask=OPEN), Part("state_only", 64, rest=(), heads=4, group=2),
    Part("f64", 40, types=("f64", "f64"), mask=OPEN), Part("f16", 64, types=("f16", "f16"), heads=4, group=4),
    Part("bf16_f32", 72, types=("bf16", "f32"), mask=MASKED),
]
LENGTHS = [(1, 1, 7), (2, 3, 130), (1, 20, 97), (2, 33, 300), (1, 150, 40), (1, 2, 2500)]


def same_bits(what, got, want):
    for name, g, w in zip(("maximum", "sum", "acc"), got, want):
        if g.tobytes() != w.tobytes():
            raise AssertionError(f"{what}: {name} differs in a bit")


def expected_state(case, q, k, v, seen):
    """m, l and acc by their definition."""
    out, lse, _, scores = attention(q, k, v, case.scale, seen)
    m = np.where(seen, scores, -np.inf).max(-1, initial=-np.inf)
    with np.errstate(invalid="ignore"):
        total = np.where(m == -np.inf, 0, np.exp(lse - m))
    return m, total, out * total[..., None]


class Checker:
    def __init__(self, case, folder, target, flags):
        self.case = case
        self.kernels = {}
        for name in ("attention", "merge", "finalize"):
            place = pathlib.Path(folder) / name
            place.mkdir()
            self.kernels[name] = load_kernel(getattr(case, name + "_text")(), str(place), target, flags)
        self.folder = folder

    def state_outputs(self, b, sq):
        case = self.case
        rows = [self.rows(np.full((b, case.heads, sq), np.nan)) for _ in range(2)]
        return [*rows, self.rows(np.full((b, case.heads, sq, case.dv), np.nan))]

    def rows(self, array):
        """Statistics in the rank of the kernel."""
        array = np.asarray(array, elements.STORED[self.case.wide_type])
        return np.ascontiguousarray(array.reshape(array.shape[4 - self.case.rank:]))

    def attend(self, q, k, v, seen, extra, threads):
        """The state of some keys in the order bhsd, checked against its definition."""
        case, (b, _, sq, _) = self.case, q.shape
        state = self.state_outputs(b, sq)
        shape = state[2].shape
        swap = lambda x: np.ascontiguousarray(x.swapaxes(-2, -3)) if case.layout else x
        state[2] = swap(state[2])
        out = elements.empty(state[2].shape, case.value_type)
        rest = [out, *(np.full_like(state[0], np.nan) for _ in case.rest)] if case.rest else []
        inputs = [*(case.given(x) for x in (q, k, v)), *extra]
        got = self.kernels["attention"](inputs, [*rest, *state], threads)
        state = got[len(rest):]
        state[2] = swap(state[2]).reshape(shape)
        want = [self.rows(x) for x in expected_state(case, q, k, v, seen)]
        self.compare_states(f"{case.name} {q.shape} x {k.shape[2]}", state, want)
        return state, rest

    def compare_states(self, what, got, want):
        """Of two states; an error of acc counts as part of the row's sum."""
        tight = dict(rtol=2e-5, atol=1e-5) if self.case.wide_type == "f32" else dict(rtol=1e-12, atol=1e-12)
        part = lambda state: state[2] / np.maximum(state[1], 1)[..., None]
        for name, g, w in zip(("maximum", "sum", "acc"), [*got[:2], part(got)], [*want[:2], part(want)]):
            compare(f"{what} {name}", g, w, **tight)

    def merge(self, first, second, threads=1):
        outputs = [np.full_like(x, np.nan) for x in first]
        return self.kernels["merge"]([*first, *second], outputs, threads)

    def finalize(self, state, threads=1):
        outputs = [elements.empty(state[2].shape, self.case.value_type), np.full_like(state[0], np.nan)]
        return self.kernels["finalize"](list(state), outputs, threads)

    def check_empty(self, state, rng):
        """Empty states, also in some rows only, and numbers that a sum with 0 would change."""
        m, total, acc = (x.copy() for x in state)
        total = np.where(m == -np.inf, 1, total).astype(m.dtype)
        m = np.where(m == -np.inf, 0.5, m).astype(m.dtype)
        acc[..., ::3] = -0.0
        acc.reshape(-1, acc.shape[-1])[::5, 0] = np.inf
        m.ravel()[::7] = -0.0
        acc.reshape(-1, acc.shape[-1])[::11] = np.nan
        state = [m, total, acc]
        empty = [np.full_like(m, -np.inf), np.zeros_like(total), np.zeros_like(acc)]
        same_bits("an empty second state", self.merge(state, empty), state)
        same_bits("an empty first state", self.merge(empty, state), state)
        same_bits("two empty states", self.merge(empty, empty), empty)
        out, lse = self.finalize(empty)
        if elements.numbers(out).any() or not (lse == -np.inf).all():
            raise AssertionError("the result of an empty state is not 0 and -inf")
        some = rng.random(m.shape) < 0.5
        mixed = [np.where(some, x, y) for x, y in zip(state[:2], empty[:2])]
        mixed.append(np.where(some[..., None], state[2], empty[2]))
        rest = [np.where(some, y, x) for x, y in zip(state[:2], empty[:2])]
        rest.append(np.where(some[..., None], empty[2], state[2]))
        same_bits("rows of two states", self.merge(mixed, rest), state)

    def check_order(self, first, second):
        want = self.merge(first, second)
        same_bits("the other order", self.merge(second, first), want)
        for threads in (2, 3):
            same_bits(f"{threads} threads", self.merge(first, second, threads), want)
        # A result may be the memory of either state.
        for place in (0, 1):
            states = [[x.copy() for x in state] for state in (first, second)]
            same_bits("in place", self.kernels["merge"]([*states[0], *states[1]], states[place]), want)

    def check(self, sizes, seed):
        case, rng = self.case, np.random.default_rng(seed)
        b, sq, skv = sizes if case.rank == 4 else (1, *sizes[1:])
        q, k, v = case.arrays((b, sq, skv), rng)
        start = rng.integers(-3, skv, b)
        ok = rng.random((sq, skv)) < 0.4
        seen = np.ones((b, case.heads, sq, skv), bool)
        if case.mask == OPEN:
            seen &= (np.arange(skv) <= np.arange(sq)[:, None] + start[:, None, None])[:, None]
        elif case.mask == MASKED:
            seen &= ok
        borders = np.sort(rng.integers(0, skv + 1, rng.integers(0, 5)))
        parts = []
        for begin, end in zip([0, *borders], [*borders, skv]):
            extra = []
            if case.mask == OPEN:
                extra = [(start - begin).astype(np.int32)]
            elif case.mask == MASKED:
                extra = [np.ascontiguousarray(ok[:, begin:end])]
            cut = lambda x: np.ascontiguousarray(x[:, :, begin:end])
            state, _ = self.attend(q, cut(k), cut(v), seen[..., begin:end], extra, int(rng.integers(1, 4)))
            parts.append(state)
        self.check_empty(parts[0], rng)
        if len(parts) > 1:
            self.check_order(parts[0], parts[1])
        while len(parts) > 1:
            first, second = (parts.pop(rng.integers(len(parts))) for _ in range(2))
            parts.append(self.merge(first, second, int(rng.integers(1, 4))))
        got = self.finalize(parts[0])
        out, lse, _, _ = attention(q, k, v, case.scale, seen)
        want = out.reshape(got[0].shape), self.rows(lse)
        errors = case.compare(f"{sizes}", got, want)
        if seed % 3 == 0:
            place = str(self.folder)
            source = self.kernels["finalize"].source
            case.compare(f"{sizes} (Reference)", got, reference(source, parts[0], 2, place))
        return errors


def check_large(checker):
    """Scores so far from 0 that their neighbours lie further apart than 1. Those of one feature are the keys themselves."""
    scores = np.array([2e38, 2e38, -2e38, 0], np.float32)
    v = np.arange(1, 5, dtype=np.float32).reshape(1, 1, -1, 1)
    q = np.ones((1, 1, 40, 1), np.float32)
    for queries in (1, 40):
        state = checker.state_outputs(1, queries)
        out = np.full((1, 1, queries, 1), np.nan, np.float32)
        arrays = [np.ascontiguousarray(q[:, :, :queries]), scores.reshape(1, 1, -1, 1), v]
        _, _, m, total, acc = checker.kernels["attention"](arrays, [out, np.full_like(state[0], np.nan), *state])
        compare("large maximum", m, np.full_like(m, 2e38), rtol=1e-6)
        compare("sum of large scores", total, np.full_like(total, 2))
        compare("acc of large scores", acc, np.full_like(acc, 3))


def check_reference(checker, seed):
    """The project's own evaluation of attention and merge."""
    case, rng = checker.case, np.random.default_rng(seed)
    q, k, v = case.arrays((1 if case.rank < 4 else 2, 5, 19), rng)
    extra = []
    if case.mask == OPEN:
        extra = [np.full(len(q), 3, np.int32)]
    elif case.mask == MASKED:
        extra = [rng.random((5, 19)) < 0.5]
    seen = np.ones((len(q), case.heads, 5, 19), bool)
    if case.mask == OPEN:
        seen &= np.arange(19) <= np.arange(5)[:, None] + 3
    elif case.mask == MASKED:
        seen &= extra[0]
    state, rest = checker.attend(q, k, v, seen, extra, 1)
    inputs = [*(case.given(x) for x in (q, k, v)), *extra]
    want = reference(checker.kernels["attention"].source, inputs, len(rest) + 3, checker.folder)[len(rest):]
    if case.layout:
        want[2] = want[2].swapaxes(-2, -3)
    checker.compare_states(f"{case.name} (Reference)", state, want)
    other = [x[..., ::-1].copy() if x.ndim < case.rank else x[..., ::-1, :].copy() for x in state]
    merged = reference(checker.kernels["merge"].source, [*state, *other], 3, checker.folder)
    checker.compare_states(f"{case.name} merge (Reference)", checker.merge(state, other), merged)


def main():
    parser = argparse.ArgumentParser(description=__doc__, epilog="Other options go to attn-opt.")
    parser.add_argument("--target", default="native")
    parser.add_argument("--only", default="", help="cases whose name contains this")
    options, flags = parser.parse_known_args()
    count, failures, worst = 0, [], {}
    for number, case in enumerate(CASES):
        if options.only not in case.name:
            continue
        with tempfile.TemporaryDirectory() as folder:
            checker = Checker(case, folder, options.target, flags)
            for i, sizes in enumerate(LENGTHS):
                try:
                    for turn in range(3):
                        errors = checker.check(sizes, 1000 * number + 10 * i + turn)
                        worst[case.value_type] = np.maximum(worst.get(case.value_type, 0), errors)
                        count += 1
                    check_reference(checker, 1000 * number + i)
                except (AssertionError, RuntimeError) as error:
                    failures.append(f"{case.name} {sizes}: {error}")
    large = Part("large", 1, dv=1, heads=1, scale=1.0)
    with tempfile.TemporaryDirectory() as folder:
        check_large(Checker(large, folder, options.target, flags))
    for element, (error, units) in sorted(worst.items()):
        print(f"{element}: largest error {error:.2e}, {units:.2f} ulp")
    finish(count + len(failures), failures)


if __name__ == "__main__":
    main()
