# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Plants mistakes in gradients and requires the comparison with the goldens to notice each of them: in what a gradient is called
with, in its function, and in the answers of every case."""
import re
import sys
import tempfile

import numpy as np

import elements
from gradient_goldens import cases
from learned import Learned

CASES = {case.name: case for case in cases()}


def accepted(case, given=lambda given: given, text=lambda text: text, got=lambda got, again: got):
    """Whether the comparison accepts what attn-reference makes of changed inputs, of a changed function, or changed results;
    `again` evaluates with other inputs. It must accept what is unchanged."""
    with tempfile.TemporaryDirectory() as folder:
        learned = Learned(case.text, folder)
        right = learned.gradient_inputs(case.arrays, case.cotangents)
        evaluate = lambda given: learned.evaluate("gradient", given)
        assert not case.problems(evaluate(right)), f"the harness refuses right gradients of {case.name}"
        head, gradient = re.split(rf"(?=func\.func @{learned.name}_gradient)", learned.module)
        changed = text(gradient)
        arrays = given({n: a.copy() for n, a in right.items()})
        with open(learned.fused, "w") as f:
            f.write(head + changed)
        results = evaluate(arrays)
        again = lambda change: evaluate(change({n: a.copy() for n, a in right.items()}))
        return not case.problems(got(results, again))


def given(case, change):
    def changed(arrays):
        change(arrays)
        return arrays
    return lambda: accepted(CASES[case], given=changed)


def text(case, pattern, replacement):
    def changed(gradient):
        out, found = re.subn(pattern, replacement, gradient)
        assert found, f"there is nothing to change in {case}: {gradient}"
        return out
    return lambda: accepted(CASES[case], text=changed)


def only(case, result, port, keep):
    """One gradient as if others than `keep` of a cotangent had been left out of its sum."""
    def alone(arrays):
        rest = np.zeros_like(arrays[port])
        rest[keep] = arrays[port][keep]
        return {**arrays, port: rest}
    return lambda: accepted(CASES[case], got=lambda got, again: {**got, result: again(alone)[result]})


def put(port, at, value):
    def change(arrays):
        arrays[port][at] = value(arrays[port][at])
    return change


ALL = ...
LN2 = np.float32(np.log(2))
PLANTED = {
    "delta left out": given("causal", put("out", ALL, lambda a: 0 * a)),
    "delta of the neighbouring head": given("gqa", put("out", ALL, lambda a: np.roll(a, 1, 1))),
    "lse of one head off": given("causal", put("residual_0", (0, 1), lambda a: a + np.float32(0.001))),
    "lse to base 2": given("window", put("residual_0", ALL, lambda a: a / LN2)),
    "cotangent of lse left out": given("lse", put("d_lse", ALL, lambda a: 0 * a)),
    "cotangent of lse with the other sign": given("lse", put("d_lse", ALL, lambda a: -a)),
    "cotangent of weights left out": given("weights-cotangent", put("d_weights", ALL, lambda a: 0 * a)),
    "cotangents of the other batch entry": given("gqa", put("d_out", ALL, lambda a: a[::-1])),
    "heads grouped in turn": given("gqa", put("d_out", ALL, lambda a: a.reshape(2, 2, 3, 9, 16).swapaxes(1, 2).reshape(a.shape))),
    "group not summed in dk": only("gqa", "d_k", "d_out", (slice(None), slice(None, None, 3))),
    "group not summed in dv": only("gqa", "d_v", "d_out", (slice(None), slice(None, None, 3))),
    "last query left out of dv": only("tiles-odd", "d_v", "d_out", (slice(None), slice(None), slice(-1))),
    "bias not summed over the batch": only("bias-head", "d_bias", "d_out", slice(1)),
    "sinks not summed over queries": only("sinks", "d_sinks", "d_out", (slice(None), slice(None), slice(1))),
    "table not summed over the batch": only("mod-table", "d_table", "d_out", slice(1)),
    "scale left out": text("causal", r"scale 2\.5\d*e-01", "scale 1.0"),
    "scale squared": text("causal", r"scale 2\.5\d*e-01", "scale 0.0625"),
    "sign of the scale": text("plain", r"scale -", "scale "),
    "mask left out": text("causal", r" where causal\(top_left\)", ""),
    "diagonal shifted by one": text("causal", r"causal\(top_left\)", "window(right = 1, top_left)"),
    "window one key too wide": text("window", "left = 6", "left = 7"),
    "other end of the diagonal": text("causal-empty-rows", "bottom_right", "top_left"),
    "table read one further": text("mod-table", r"constant 4 : index", "constant 5 : index"),
    "a tie that goes to one operand": text("mod-ties", r"(%\w+) = arith\.maximumf (%\w+), (%\w+) : f32",
                                           r"%above = arith.cmpf oge, \2, \3 : f32\n \1 = arith.select %above, \2, \3 : f32"),
    "cap of the scores left out": text("softcap", r"math\.tanh (%\w+) : f32", r"arith.negf \1 : f32"),
    "sinks of the next head": given("sinks", put("sinks", ALL, lambda a: np.roll(a, 1))),
    "lambda of the next head": given("differential", put("lambda", ALL, lambda a: np.roll(a, 1))),
    "dk and dv exchanged": lambda: accepted(CASES["causal"], got=lambda got, again: {**got, "d_k": got["d_v"], "d_v": got["d_k"]}),
}


def damages(want):
    """Answers with a mistake: a factor, one element, NaN, what must be 0."""
    big = np.abs(want[np.isfinite(want)]).max(initial=0)
    finite = np.argwhere(np.isfinite(want))
    if big > 1e-9:
        yield want * 1.05
        yield at(want, finite[len(finite) // 2], 0.05 * big)
    yield at(want, finite[-1], np.nan)
    if (want == 0).any():
        yield at(want, np.argwhere(want == 0)[0], 1e-30)


def at(want, where, more):
    out = want.copy()
    out[tuple(where)] += more
    return out


def damaged():
    """How many damaged answers there are, and those that the comparison accepts."""
    count, missed = 0, []
    for case in CASES.values():
        right = {"d_" + n[1:]: elements.numbers(a) for n, a in case.want.items()}
        assert not case.problems(right), case.name
        for name, want in right.items():
            for wrong in damages(want):
                count += 1
                if not case.problems({**right, name: wrong}):
                    missed.append(f"{case.name}: {name}")
    return count, missed


def main():
    missed = [name for name, plant in PLANTED.items() if plant()]
    count, accepted_damage = damaged()
    missed += accepted_damage
    for name in missed:
        print("NOT NOTICED", name)
    print(f"{len(PLANTED) + count - len(missed)} passed, {len(missed)} failed")
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()
