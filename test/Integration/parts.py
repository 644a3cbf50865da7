# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sweeps kernels of kind prefill that split keys into parts: tiles of queries, also of one row, and as many keys as lie about
the fewest that are split and about the size of a part. The kernels are those of decode.py, and so are the oracles. Pass
--split-keys to attn-opt: lengths are for parts of one tile."""
from decode import CASES, MOST_PRODUCTS, main
from values import BOTTOM, CAUSAL, PADDED, Case

# Above the queries of kind decode, and above those of the largest group of heads that has that kind.
QUERIES = [16, 17, 33, 128, 129, 300]
PARTS = [
    *(case for case in CASES if not case.sizes),
    Case("many_keys_causal", 64, heads=4, group=2, mask=CAUSAL), Case("back", 64, mask=[("causal", -150)]),
    Case("static", 64, heads=4, group=2, sizes=(2, 40, 400), mask=[*PADDED, *BOTTOM]), Case("static_one_part", 64, sizes=(1, 40, 150)),
    Case("static_queries", 72, sizes=(1, 1025, 200)), Case("one_head", 40, heads=1, mask=BOTTOM),
]


def lengths(case, number, tile, _):
    if case.sizes:
        return [case.sizes]
    found = []
    for i, skv in enumerate([2 * tile - 13, 2 * tile, 2 * tile + 1, 3 * tile - 1, 5 * tile + 7]):
        batch = 1 + (number + i) % 2
        most = MOST_PRODUCTS // (batch * case.heads * skv * case.dv)
        found.append((batch, max(16, min(QUERIES[(number + i) % len(QUERIES)], most)), skv))
    return found


if __name__ == "__main__":
    main(PARTS, lengths, __doc__)
