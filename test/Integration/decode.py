# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sweeps kernels over few queries per head: one to seventeen, of groups of heads, with as many keys as lie about the
sizes of a tile and of a part. Oracles and tolerances are those of values.py."""
import argparse
import re
import subprocess
import tempfile

import numpy as np

import elements
from kernels import attention, attn_opt, finish, load_kernel, reference
from values import BOTTOM, CAUSAL, PADDED, Case

LAYOUTS = " {" + ", ".join(f"{n}_layout = #attn<layout bshd>" for n in ("query", "key", "value", "out")) + "}"
MOST_PRODUCTS = 4_000_000  # of the oracle, which keeps all of them


class SequenceFirst(Case):
    """All operands in the layout bshd. Its bias has less than four dimensions, which are not swapped."""

    def text(self, **mistake):
        four = r"tensor<([^x]+)x([^x]+)x([^x]+)x(\d+x[a-z]+\d+)>"
        swapped = re.sub(four, r"tensor<\1x\3x\2x\4>", super().text(**mistake))
        return swapped.replace("returning(out, lse)", "returning(out, lse)" + LAYOUTS)


BIAS = """ score_mod (%s: f32, %b, %h, %i, %j) with (%t = %table : tensor<HEADSx41xf32>) {
    %c = arith.constant 20 : index
    %d = arith.subi %j, %i : index
    %at = arith.addi %d, %c : index
    %x = tensor.extract %t[%h, %at] : tensor<HEADSx41xf32>
    %y = arith.addf %s, %x : f32
    attn.yield %y : f32
  }"""


class Modified(Case):
    """With sinks (a number: of that size), and with a score function of head, query and key."""

    def __init__(self, name, dk, sinks=None, function=False, **options):
        super().__init__(name, dk, **options)
        self.sinks, self.function = sinks, function

    def text(self, **mistake):
        text, arguments = super().text(**mistake), ""
        if self.function:
            arguments += f", %table: tensor<{self.heads}x41xf32>"
            text = re.sub(r"(scale [^ ]+)", lambda m: m.group(1) + BIAS.replace("HEADS", str(self.heads)), text)
        if self.sinks is not None:
            of = f"tensor<{self.heads}x{self.wide_type}>"
            arguments += f", %sinks: {of}"
            text = text.replace(" returning(", f" sinks %sinks : {of} returning(")
        return text.replace(") -> (", arguments + ") -> (", 1)

    def inputs(self, sizes, rng, poison=False):
        arrays = super().inputs(sizes, rng, poison)
        if self.function:
            arrays["table"] = rng.standard_normal((self.heads, 41)).astype(np.float32)
        if self.sinks is not None:
            arrays["sinks"] = (self.sinks * rng.standard_normal(self.heads)).astype(elements.STORED[self.wide_type])
        return arrays

    def expected(self, arrays, sizes):
        def modify(s, b, h, q, k):
            return s + arrays["table"].astype(np.float64)[h, np.clip(k - q + 20, 0, 40)]
        return attention(arrays["q"], arrays["k"], arrays["v"], self.scale, self.visible(arrays, sizes),
                         arrays.get("bias"), modify if self.function else None, arrays.get("sinks"))[:2]


def in_memory(case, arrays):
    """What the kernel gets of arrays in the order bhsd."""
    if not isinstance(case, SequenceFirst):
        return arrays
    return [np.ascontiguousarray(x.swapaxes(1, 2)) if x.ndim == 4 else x for x in arrays]


GROUPS = [Case(f"group{g}", d, heads=h, group=g, mask=m)
          for g, h, d, m in [(2, 4, 64, ()), (3, 6, 40, BOTTOM), (4, 4, 72, ()), (8, 8, 64, PADDED), (8, 16, 128, ()), (6, 6, 33, BOTTOM),
                             (16, 16, 96, ()), (12, 12, 48, PADDED)]]
GROUPS += [Case(f"eight_dim{d}", d, heads=8, group=8, mask=m) for d, m in [(1, ()), (3, BOTTOM), (7, ()), (10, PADDED), (44, ())]]
GROUPS += [Case("eight_bf16", 64, dv=96, heads=8, group=8, mask=PADDED, types=("bf16", "bf16")),
           Case("sixteen_bf16", 32, dv=64, heads=16, group=16, types=("bf16", "bf16"))]
CASES = [
    *(Case(f"dim{d}", d) for d in (1, 3, 8, 17, 40, 64, 72, 80, 96, 128)), *GROUPS,
    Case("wider", 40, dv=72, heads=4, group=2), Case("narrower", 72, dv=17), Case("one", 64, dv=1),
    Case("to_one", 1, dv=64),
    Case("top_left", 64, mask=CAUSAL), Case("bottom_right", 17, heads=4, group=4, mask=BOTTOM),
    Case("offset", 64, mask=[("causal", 700)]), Case("offset_back", 40, mask=[("causal", -2)]),
    Case("offset_operand", 64, heads=4, group=2, mask=[("causal", ("operand", "start"))]),
    Case("padding", 64, mask=PADDED), Case("padding_bottom", 40, heads=4, group=2, mask=[*PADDED, *BOTTOM]),
    Case("not_causal", 64, heads=2, group=2, mask=[("not_causal", 0)]),
    *(Case(f"bias_{dims}", 40, heads=4, group=2, bias=dims)
      for dims in ("bhqk", "hqk", "qk", "1k", "q1", "b11k", "11")),
    Case("bias_causal", 64, heads=4, group=4, bias="b1qk", mask=CAUSAL),
    *(Case(f"allowed_{dims}", 40, heads=4, group=2, mask=[("allowed", "ok")], allowed=dims)
      for dims in ("bhqk", "h11", "qk", "1k", "q1", "b11k", "11")),
    Case("allowed_padding", 64, heads=4, group=2, mask=[("allowed", "ok"), *PADDED], allowed="qk", bias="1k"),
    SequenceFirst("bshd", 64, heads=4, group=2),
    SequenceFirst("bshd_masked", 40, dv=24, heads=4, mask=[*PADDED, *BOTTOM]),
    *(Case(f"{q}_{v}_{name}", dk, types=(q, v), **options)
      for q, v in [("f16", "f16"), ("bf16", "bf16"), ("f64", "f64"), ("f16", "bf16"), ("bf16", "f32")]
      for name, dk, options in [("group", 64, dict(heads=8, group=4)), ("odd", 17, dict(dv=5, mask=BOTTOM)),
                                ("padding", 80, dict(dv=40, mask=PADDED, heads=2, group=2)), ("one", 1, dict(dv=3))]),
    Modified("sinks", 64, sinks=1, heads=4, group=2, mask=PADDED), Modified("sinks_alone", 17, dv=5, sinks=3),
    Modified("sinks_large", 40, sinks=1e4, heads=4, group=4, mask=BOTTOM),
    Modified("sinks_infinite", 64, sinks=np.inf, mask=PADDED, bias="1k"),
    Modified("sinks_f64", 24, sinks=1, heads=2, group=2, types=("f64", "f64")),
    Modified("sinks_f16", 96, sinks=1, heads=8, group=8, mask=PADDED, types=("f16", "f16")),
    Modified("function", 64, function=True), Modified("function_group", 40, function=True, heads=6, group=3, mask=BOTTOM),
    Modified("function_sinks", 32, function=True, sinks=1, heads=4, group=4, mask=PADDED, bias="hqk"),
    Modified("function_eight", 48, function=True, sinks=1, heads=8, group=8, mask=BOTTOM, bias="hqk"),
    Modified("function_bf16", 72, function=True, heads=8, group=4, mask=CAUSAL, types=("bf16", "bf16")),
    Case("static_one", 64, sizes=(2, 1, 3000)),
    Case("static_group", 128, heads=8, group=8, sizes=(1, 1, 130), mask=PADDED),
    Case("static_few", 72, heads=4, group=2, sizes=(1, 5, 1100), mask=BOTTOM), Case("static_tiny", 3, sizes=(1, 1, 1)),
    Case("static_f16", 96, heads=2, group=2, sizes=(2, 1, 97), types=("f16", "f16")),
]


def tile_and_part(source, target, flags):
    """Keys of a tile and of a part, as the compiler chose them."""
    scheduled = subprocess.run([attn_opt(), source, "--compile-to=scheduled", "--target=" + target, *flags],
                               check=True, capture_output=True, text=True).stdout
    decode = re.search(r"decode_schedule = #attn.cpu_schedule<[^>]*key_tile = (\d+),[^>]*split_keys = (\d+)[,>]", scheduled)
    # Two lanes of f64 are too few for the kind; such a kernel is swept all the same.
    return (int(decode.group(1)), int(decode.group(2))) if decode else (96, 960)


def lengths(case, number, tile, part):
    if case.sizes:
        return [case.sizes]
    keys = [0, 1, 2, 3, tile - 1, tile, tile + 1, part - 1, part, part + 1, 3000]
    found = []
    for i, skv in enumerate(keys):
        batch = 1 + (number + i) % 3 // 2
        most = MOST_PRODUCTS // (batch * case.heads * max(skv, 1) * case.dv)
        found.append((batch, max(1, min(1 + (3 * number + 5 * i) % 17, most)), skv))
    return found


def check(kernel, case, sizes, seed, threads, folder, poison=False, with_reference=False):
    arrays = case.inputs(sizes, np.random.default_rng(seed), poison)
    if "len" in arrays and seed % 2:
        arrays["len"][0] = 0
    inputs = in_memory(case, list(arrays.values()))
    want = case.expected(arrays, sizes)
    got = in_memory(case, kernel(inputs, in_memory(case, case.outputs(sizes)), threads))
    errors = case.compare(f"{sizes}", got, want)
    if with_reference:
        case.compare(f"{sizes} (Reference)", in_memory(case, reference(kernel.source, inputs, 2, folder)), want)
    return errors


def sweep(case, number, target, flags, worst, sizes_of=lengths):
    count, failures = 0, []
    with tempfile.TemporaryDirectory() as folder:
        kernel = load_kernel(case.text(), folder, target, flags)
        case.error_scale = kernel.error_scale
        for i, sizes in enumerate(sizes_of(case, number, *tile_and_part(kernel.source, target, flags))):
            for poison in (False, True) if case.mask and case.mask[0][0] != "allowed" else (False,):
                try:
                    errors = check(kernel, case, sizes, 100 * number + i, 1 + (number + i) % 3, folder, poison, i == 3)
                    worst[case.value_type] = np.maximum(worst.get(case.value_type, 0), errors)
                except (AssertionError, RuntimeError) as error:
                    failures.append(f"{'poisoned ' if poison else ''}{error}")
                count += 1
    return count, failures


def main(cases=CASES, sizes_of=lengths, description=__doc__):
    parser = argparse.ArgumentParser(description=description, epilog="Other options go to attn-opt.")
    parser.add_argument("--target", default="native")
    parser.add_argument("--part", default="0/1", help="I/N: every N-th kernel, from the I-th on")
    parser.add_argument("--only", default="", help="kernels whose name contains one of these, with commas")
    parser.add_argument("--element", help="all kernels in this type, for targets that round weights to it")
    options, flags = parser.parse_known_args()
    first, step = map(int, options.part.split("/"))
    if options.element:
        cases = [case.of(options.element) for case in cases]
    count, failures, worst = 0, [], {}
    for number, case in list(enumerate(cases))[first::step]:
        if any(name in case.name for name in options.only.split(",")):
            more, failed = sweep(case, number, options.target, flags, worst, sizes_of)
            count, failures = count + more, failures + failed
    for element, (error, units) in sorted(worst.items()):
        print(f"{element}: largest error {error:.2e}, {units:.2f} ulp")
    finish(count, failures)


if __name__ == "__main__":
    main()
