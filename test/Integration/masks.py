# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every mask term in compiled kernels, against its definition in NumPy (f64) and the project's Reference, and how many pairs it
sees in the count of FLOPs.

Lengths and batch are run-time values. A case is what stands after `where`, or the region of an attn.mask_fn, with
its operands; `sees(a, b, h, q, k, n)` gives the visible pairs of one batch entry and head."""
import argparse
import tempfile

import numpy as np

import elements
from kernels import Kernel, attention, compare, finish, reference

HEADS, DIM = 2, 16
LENGTHS = [(1, 1, 1), (2, 7, 3), (2, 17, 31), (1, 130, 129), (2, 65, 200), (1, 150, 150), (1, 300, 260)]


class Sizes:
    def __init__(self, batch, queries, keys):
        self.batch, self.queries, self.keys = batch, queries, keys


def numbers(low, high):
    return "tensor<?xi32>", lambda rng, n: rng.integers(low, high + 1, n.batch).astype(np.int32)


LIMIT = 2**40


def wide(low, high):
    """Integers of 64 bits, some beyond all that a sum could hold."""
    def make(rng, n):
        edges = [-2**63, 2**63 - 1, 2**62, -2**61, -2**63 + 5, LIMIT, 1 - LIMIT, 2**32 + low, -2**32 + high]
        return np.where(rng.random(n.batch) < 0.7, rng.choice(edges, n.batch), rng.integers(low, high + 1, n.batch))
    return "tensor<?xi64>", make


def saturated(number):
    return max(-LIMIT, min(LIMIT, int(number)))


def pairs(f, number=int):
    """`f` of the operands in Python's integers, which have no limits. Where two numbers meet, those of the terms do."""
    def sees(a, b, h, q, k, n):
        return np.asarray(f({name: number(x[b]) for name, x in a.items()}, q.astype(object), k.astype(object), n), bool)
    return sees


def documents(length, rows=False, ordered=True):
    def make(rng, n):
        shape = (n.batch, getattr(n, length)) if rows else (getattr(n, length),)
        ids = rng.integers(0, 4, shape)
        return (np.sort(ids, -1) if ordered else ids).astype(np.int32)
    return "tensor<?x?xi32>" if rows else "tensor<?xi32>", make


def starts(length):
    def make(rng, n):
        return np.sort(rng.integers(0, getattr(n, length) + 3, 5)).astype(np.int32)
    return "tensor<?xi32>", make


def document_of(cumulative, i):
    """Number of the document that holds i, unique per position where there is none."""
    d = np.searchsorted(cumulative, i, side="right") - 1
    return np.where((i < cumulative[0]) | (i >= cumulative[-1]), -1, d)


def same_document(starts_q, starts_k, q, k):
    a, b = document_of(starts_q, q), document_of(starts_k, k)
    return (a == b) & (a >= 0)


def distance(a, q, n, last):
    """From each query to the key that it stands on: the first (`last`: last) query of its document stands on the first
    (last) key of it, documents being cut to the sequences."""
    d = np.clip(document_of(a["i"], q), 0, None) + last
    return np.minimum(a["j"], n.keys)[d] - np.minimum(a["i"], n.queries)[d]


def first_key(a, q, n):
    return np.minimum(a["j"], n.keys)[np.clip(document_of(a["i"], q), 0, None)]


def ragged(length, documents):
    """Where documents begin, from 0 to the length; some of them are empty."""
    def make(rng, n):
        size = getattr(n, length)
        return np.sort(np.concatenate([[0], rng.integers(0, size + 1, documents - 1), [size]])).astype(np.int32)
    return "tensor<?xi32>", make


def tree(bits, tokens, q, k, n, live):
    draft, bit = q - n.queries + tokens, k - live + tokens
    row = bits[np.clip(draft, 0, tokens - 1)]
    own = (row >> np.clip(bit, 0, tokens - 1)) & 1 == 1
    return (bit < 0) | ((draft >= 0) & (bit < tokens) & own)


def bitmap(bits, m, n, q, k):
    row, column = np.broadcast_arrays(q // m, k // n)
    inside = (row < bits.shape[0]) & (column < bits.shape[1])
    return inside & (bits[np.minimum(row, bits.shape[0] - 1), np.minimum(column, bits.shape[1] - 1)] != 0)


BITS = np.array([[1, 0, 1], [0, 1, 1], [1, 1, 0]])
TERMS = {
    "window": ("window(left = 5, right = 3)", {}, lambda a, b, h, q, k, n: (k >= q - 5) & (k <= q + 3)),
    "window_left": ("window(left = 20)", {}, lambda a, b, h, q, k, n: k >= q - 20),
    "window_bottom": ("window(left = 40, right = 0, bottom_right)", {},
                      lambda a, b, h, q, k, n: (k >= q + n.keys - n.queries - 40) & (k <= q + n.keys - n.queries)),
    # Fewer than none, and more than there are: lengths alone bound loops.
    "lengths": ("key_length(%len : tensor<?xi32>)", {"len": numbers(-40, 200)}, lambda a, b, h, q, k, n: k < a["len"][b]),
    "window_live": ("key_length(%len : tensor<?xi32>) and window(left = 9, bottom_right)", {"len": numbers(0, 90)},
                    lambda a, b, h, q, k, n: (k < a["len"][b]) & (k >= q + a["len"][b] - n.queries - 9)),
    "window_operands": ("window(left = %l : tensor<?xi32>, right = %r : tensor<?xi32>, offset = %o : tensor<?xi32>)",
                        {"l": numbers(-3, 40), "r": numbers(-3, 9), "o": numbers(-9, 9)},
                        lambda a, b, h, q, k, n: (k >= q + a["o"][b] - a["l"][b]) & (k <= q + a["o"][b] + a["r"][b])),
    "prefix_lm": ("prefix(%n : tensor<?xi32>) or causal(top_left)", {"n": numbers(0, 150)},
                  lambda a, b, h, q, k, n: (k < a["n"][b]) | (k <= q)),
    "sink_window": ("(sink(4) or window(left = 30)) and causal(top_left)", {},
                    lambda a, b, h, q, k, n: ((k < 4) | (k >= q - 30)) & (k <= q)),
    "chunked": ("chunked(24) and causal(top_left)", {}, lambda a, b, h, q, k, n: (q // 24 == k // 24) & (k <= q)),
    "chunked_offset": ("chunked(128, offset = %o : tensor<?xi32>)", {"o": numbers(-40, 90)},
                       lambda a, b, h, q, k, n: (q + a["o"][b]) // 128 == k // 128),
    "dilated": ("dilated(3) and window(left = 60, right = 60)", {},
                lambda a, b, h, q, k, n: ((q - k) % 3 == 0) & (abs(q - k) <= 60)),
    "dilated_bottom": ("dilated(5, bottom_right)", {}, lambda a, b, h, q, k, n: (q + n.keys - n.queries - k) % 5 == 0),
    "block_bits": ("block(40, 64, bits = [[1, 0, 1], [0, 1, 1], [1, 1, 0]])", {},
                   lambda a, b, h, q, k, n: bitmap(BITS, 40, 64, q, k)),
    "block_operand": ("block(16, 32, %m : tensor<?x2x?x?xi1>) and causal(top_left)",
                      {"m": ("tensor<?x2x?x?xi1>", lambda rng, n: rng.random((n.batch, 2, 9, 5)) < 0.6)},
                      lambda a, b, h, q, k, n: bitmap(a["m"][b, h], 16, 32, q, k) & (k <= q)),
    "block_shared": ("block(7, 5, %m : tensor<4x?xi1>)",
                     {"m": ("tensor<4x?xi1>", lambda rng, n: rng.random((4, 20)) < 0.5)},
                     lambda a, b, h, q, k, n: bitmap(a["m"], 7, 5, q, k)),
    "tree": ("tree(7, %t : tensor<7xi64>)", {"t": ("tensor<7xi64>", lambda rng, n: rng.integers(0, 128, 7))},
             lambda a, b, h, q, k, n: tree(a["t"], 7, q, k, n, n.keys)),
    "tree_live": ("tree(32, %t : tensor<?x32xi32>) and key_length(%len : tensor<?xi32>)",
                  {"t": ("tensor<?x32xi32>", lambda rng, n: rng.integers(-2**31, 2**31, (n.batch, 32)).astype(np.int32)),
                   "len": numbers(0, 120)},
                  lambda a, b, h, q, k, n: tree(a["t"][b], 32, q, k, n, a["len"][b]) & (k < a["len"][b])),
    "document": ("document(%i : tensor<?xi32>, %j : tensor<?xi32>)",
                 {"i": documents("queries"), "j": documents("keys")},
                 lambda a, b, h, q, k, n: a["i"][q] == a["j"][k]),
    "document_unordered": ("document(%i : tensor<?x?xi32>, %j : tensor<?x?xi32>) and causal(bottom_right)",
                           {"i": documents("queries", True, False), "j": documents("keys", True, False)},
                           lambda a, b, h, q, k, n: (a["i"][b][q] == a["j"][b][k]) & (k <= q + n.keys - n.queries)),
    "not_document": ("not document(%i : tensor<?xi32>, %j : tensor<?xi32>)",
                     {"i": documents("queries"), "j": documents("keys")},
                     lambda a, b, h, q, k, n: a["i"][q] != a["j"][k]),
    "cumulative": ("document(cumulative %i : tensor<?xi32>, %j : tensor<?xi32>)",
                   {"i": starts("queries"), "j": starts("keys")},
                   lambda a, b, h, q, k, n: same_document(a["i"], a["j"], q, k)),
    "cumulative_causal": ("document(cumulative %i : tensor<?xi32>) and causal(top_left)", {"i": starts("keys")},
                          lambda a, b, h, q, k, n: same_document(a["i"], a["i"], q, k) & (k <= q)),
    "in_document": ("document(cumulative %i : tensor<?xi32>, %j : tensor<?xi32>) and causal(bottom_right in document)",
                    {"i": ragged("queries", 5), "j": ragged("keys", 5)},
                    lambda a, b, h, q, k, n: same_document(a["i"], a["j"], q, k) & (k <= q + distance(a, q, n, 1))),
    "in_document_window": (
        "document(cumulative %i : tensor<?xi32>, %j : tensor<?xi32>) and window(left = %l : tensor<?xi32>, right = 3, "
        "top_left in document) and key_length(%len : tensor<?xi32>)",
        {"i": ragged("queries", 3), "j": ragged("keys", 3), "l": numbers(0, 40), "len": numbers(0, 300)},
        lambda a, b, h, q, k, n: same_document(a["i"], a["j"], q, k) & (k < a["len"][b])
        & (k >= q + distance(a, q, n, 0) - a["l"][b]) & (k <= q + distance(a, q, n, 0) + 3)),
    "in_document_chunked": (
        "document(cumulative %i : tensor<?xi32>, %j : tensor<?xi32>) and causal(bottom_right in document) and "
        "chunked(16, bottom_right in document)", {"i": ragged("queries", 4), "j": ragged("keys", 4)},
        lambda a, b, h, q, k, n: same_document(a["i"], a["j"], q, k) & (k <= q + distance(a, q, n, 1))
        & ((q + distance(a, q, n, 1) - first_key(a, q, n)) // 16 == (k - first_key(a, q, n)) // 16)),
    "in_document_nested": (
        "document(cumulative %i : tensor<?xi32>, %j : tensor<?xi32>) and (not causal(top_left in document) or "
        "dilated(3, bottom_right in document))", {"i": starts("queries"), "j": starts("keys")},
        lambda a, b, h, q, k, n: same_document(a["i"], a["j"], q, k)
        & ((k > q + distance(a, q, n, 0)) | ((q + distance(a, q, n, 1) - k) % 3 == 0))),
    # Numbers near the ends of 64 bits.
    "wide_causal": ("causal(offset = %o : tensor<?xi64>)", {"o": wide(-50, 200)}, pairs(lambda a, q, k, n: k <= q + a["o"])),
    "wide_not_causal": ("not causal(offset = %o : tensor<?xi64>)", {"o": wide(-50, 200)},
                        pairs(lambda a, q, k, n: k > q + a["o"])),
    "wide_lengths": ("causal(bottom_right) and key_length(%len : tensor<?xi64>)", {"len": wide(-40, 200)},
                     pairs(lambda a, q, k, n: (k <= q + a["len"] - n.queries) & (k < a["len"]))),
    "wide_window": ("window(left = %l : tensor<?xi64>, right = %r : tensor<?xi64>, offset = %o : tensor<?xi64>)",
                    {"l": wide(-3, 40), "r": wide(-3, 9), "o": wide(-9, 9)},
                    pairs(lambda a, q, k, n: (k >= q + a["o"] - a["l"]) & (k <= q + a["o"] + a["r"]), saturated)),
    "wide_window_live": ("key_length(%len : tensor<?xi64>) and window(left = %l : tensor<?xi64>, bottom_right)",
                         {"len": wide(0, 90), "l": wide(0, 30)},
                         pairs(lambda a, q, k, n: (k < a["len"]) & (k >= q + a["len"] - n.queries - a["l"]), saturated)),
    "wide_prefix": ("prefix(%n : tensor<?xi64>) or causal(top_left)", {"n": wide(0, 150)},
                    pairs(lambda a, q, k, n: (k < a["n"]) | (k <= q))),
    "wide_chunked": ("chunked(24, offset = %o : tensor<?xi64>)", {"o": wide(-40, 90)},
                     pairs(lambda a, q, k, n: (q + a["o"]) // 24 == k // 24)),
    "wide_dilated": ("dilated(7, offset = %o : tensor<?xi64>) and not chunked(1099511627775, offset = %o : tensor<?xi64>) "
                     "or window(left = 1099511627776, right = 2)", {"o": wide(-40, 90)},
                     pairs(lambda a, q, k, n: ((q + a["o"] - k) % 7 == 0) & ((q + a["o"]) // (LIMIT - 1) != k // (LIMIT - 1))
                           | (k <= q + 2), saturated)),
    "wide_tree": ("tree(7, %t : tensor<7xi64>) and key_length(%len : tensor<?xi64>)",
                  {"t": ("tensor<7xi64>", lambda rng, n: rng.integers(-2**63, 2**63 - 1, 7)), "len": wide(0, 120)},
                  lambda a, b, h, q, k, n: tree(a["t"], 7, q, k, n, saturated(a["len"][b])) & (k < a["len"][b])),
    "wide_documents": ("document(%i : tensor<?xi64>, %j : tensor<?xi64>)",
                       {"i": ("tensor<?xi64>", lambda rng, n: rng.integers(-1, 2, n.queries) * 2**62 + 5),
                        "j": ("tensor<?xi64>", lambda rng, n: rng.integers(-1, 2, n.keys) * 2**62 + 5)},
                       lambda a, b, h, q, k, n: a["i"][q] == a["j"][k]),
    "all": ("(document(%i : tensor<?xi32>, %j : tensor<?xi32>) or sink(3)) and (window(left = 50) or chunked(64)) and "
            "not (dilated(4) and prefix(20)) and key_length(%len : tensor<?xi32>)",
            {"i": documents("queries"), "j": documents("keys"), "len": numbers(0, 250)},
            lambda a, b, h, q, k, n: ((a["i"][q] == a["j"][k]) | (k < 3)) & ((k >= q - 50) | (q // 64 == k // 64))
            & ~(((q - k) % 4 == 0) & (k < 20)) & (k < a["len"][b])),
}
PREDICATES = {
    "fn_window": ("", """%d = arith.subi %q, %k : index
      %c = arith.constant 30 : index
      %r = arith.cmpi ult, %d, %c : index""", {}, lambda a, b, h, q, k, n: (k <= q) & (q - k < 30)),
    "fn_per_head": ("%w = %width : tensor<2xi32>", """%narrow = tensor.extract %w[%h] : tensor<2xi32>
      %limit = arith.index_cast %narrow : i32 to index
      %d = arith.subi %q, %k : index
      %a = arith.cmpi sle, %d, %limit : index
      %past = arith.cmpi sle, %k, %q : index
      %odd = arith.cmpi eq, %h, %b : index
      %both = arith.andi %a, %past : i1
      %r = arith.ori %both, %odd : i1""",
                    {"width": ("tensor<2xi32>", lambda rng, n: rng.integers(0, 60, 2).astype(np.int32))},
                    lambda a, b, h, q, k, n: ((q - k <= a["width"][h]) & (k <= q)) | np.full(q.shape, h == b)),
    "fn_blocks": ("", """%c = arith.constant 32 : index
      %i = arith.divui %q, %c : index
      %j = arith.divsi %k, %c : index
      %s = arith.addi %i, %j : index
      %c2 = arith.constant 2 : index
      %m = arith.remui %s, %c2 : index
      %c0 = arith.constant 0 : index
      %r = arith.cmpi eq, %m, %c0 : index""", {}, lambda a, b, h, q, k, n: (q // 32 + k // 32) % 2 == 0),
    "fn_opaque": ("%t = %table : tensor<2x7xf32>", """%c7 = arith.constant 7 : index
      %p = arith.muli %q, %k : index
      %m = arith.remui %p, %c7 : index
      %x = tensor.extract %t[%h, %m] : tensor<2x7xf32>
      %zero = arith.constant 0.0 : f32
      %positive = arith.cmpf ogt, %x, %zero : f32
      %past = arith.cmpi sle, %k, %q : index
      %r = arith.andi %positive, %past : i1""",
                  {"table": ("tensor<2x7xf32>", lambda rng, n: rng.standard_normal((2, 7)).astype(np.float32))},
                  lambda a, b, h, q, k, n: (a["table"][h][(q * k) % 7] > 0) & (k <= q)),
    "fn_documents": ("%t = %ids : tensor<?x?xi32>", """%i = tensor.extract %t[%b, %q] : tensor<?x?xi32>
      %j = tensor.extract %t[%b, %k] : tensor<?x?xi32>
      %r = arith.cmpi eq, %i, %j : i32""",
                     {"ids": ("tensor<?x?xi32>", lambda rng, n: rng.integers(0, 3, (n.batch, 400)).astype(np.int32))},
                     lambda a, b, h, q, k, n: a["ids"][b][q] == a["ids"][b][k]),
    # Constants beyond what formulas hold, compared and computed with.
    "fn_constants": ("", """%c = arith.constant 2305843009213693952 : index
      %d = arith.constant -9223372036854775808 : index
      %e = arith.constant 9223372036854775807 : index
      %distance = arith.subi %q, %k : index
      %a = arith.cmpi slt, %distance, %c : index
      %p = arith.cmpi sge, %distance, %d : index
      %s = arith.addi %k, %e : index
      %t = arith.subi %s, %e : index
      %u = arith.cmpi sle, %t, %q : index
      %v = arith.cmpi ult, %distance, %e : index
      %w = arith.cmpi eq, %k, %c : index
      %ap = arith.andi %a, %p : i1
      %uv = arith.ori %u, %w : i1
      %apu = arith.andi %ap, %uv : i1
      %r = arith.andi %apu, %v : i1""", {}, lambda a, b, h, q, k, n: k <= q),
    "fn_steep": ("", """%c = arith.constant 268435455 : index
      %x = arith.muli %q, %c : index
      %y = arith.muli %k, %c : index
      %r = arith.cmpi sle, %y, %x : index""", {}, lambda a, b, h, q, k, n: k <= q),
    "fn_steep_even": ("", """%c = arith.constant 33 : index
      %s = arith.constant 28 : index
      %x = arith.shli %q, %s : index
      %y = arith.shli %k, %s : index
      %z = arith.addi %x, %c : index
      %r = arith.cmpi sle, %y, %z : index""", {}, lambda a, b, h, q, k, n: k <= q),
    # No limit is the largest number there is.
    "fn_unlimited": ("%w = %width : tensor<?xi64>", """%x = tensor.extract %w[%b] : tensor<?xi64>
      %limit = arith.index_cast %x : i64 to index
      %d = arith.subi %q, %k : index
      %r = arith.cmpi sle, %d, %limit : index""", {"width": wide(0, 60)},
                     pairs(lambda a, q, k, n: q - k <= a["width"])),
    "fn_unlimited_opaque": ("%w = %width : tensor<?xi64>", """%x = tensor.extract %w[%b] : tensor<?xi64>
      %d = arith.subi %q, %k : index
      %e = arith.index_cast %d : index to i64
      %near = arith.cmpi sge, %e, %x : i64
      %c63 = arith.constant 63 : index
      %i = arith.andi %k, %c63 : index
      %n = arith.index_cast %i : index to i64
      %bits = arith.shrui %x, %n : i64
      %bit = arith.trunci %bits : i64 to i1
      %r = arith.andi %near, %bit : i1""", {"width": wide(-60, 60)},
                            lambda a, b, h, q, k, n: (q - k >= a["width"][b])
                            & ((int(a["width"][b]) & 2**64 - 1) >> (k & 63).astype(object) & 1).astype(bool)),
    "fn_head_only": ("", """%c1 = arith.constant 1 : index
      %r = arith.cmpi eq, %h, %c1 : index""", {}, lambda a, b, h, q, k, n: np.full((q.size, k.size), h == 1)),
}


def text(name, element, weights):
    """Returns out and lse, or with `weights` out, weights and masked scores."""
    tensor, scores = f"tensor<?x{HEADS}x?x{DIM}x{element}>", f"tensor<?x{HEADS}x?x?xf32>"
    lse = f"tensor<?x{HEADS}x?xf32>"
    where, operands = (TERMS[name][0], TERMS[name][1]) if name in TERMS else (None, PREDICATES[name][2])
    arguments = [f"%{x}: {tensor}" for x in "qkv"] + [f"%{o}: {t}" for o, (t, _) in operands.items()]
    if where:
        types = f"{tensor}, {scores}, {scores}" if weights else f"{tensor}, {lse}"
        returned = "weights, scores) {scores_stage = #attn<scores_stage masked>}" if weights else "lse)"
        return (f"func.func @kernel({', '.join(arguments)}) -> ({types}) {{\n"
                f"  %all:{3 if weights else 2} = attn.sdpa %q, %k, %v scale 0.25 where {where} returning(out, {returned}\n"
                f"      : ({tensor}, {tensor}, {tensor}) -> ({types})\n"
                f"  return {'%all#0, %all#1, %all#2' if weights else '%all#0, %all#1'} : {types}\n}}\n")
    captures, body = PREDICATES[name][:2]
    captures = f" with ({captures})" if captures else ""
    types = f"{tensor}, {scores}, {scores}" if weights else tensor
    return (f"func.func @kernel({', '.join(arguments)}) -> ({types}) {{\n"
            f"  %s = attn.scores %q, %k : ({tensor}, {tensor}) -> {scores}\n"
            f"  %t = attn.scale %s by 0.25 : {scores}\n"
            f"  %m = attn.mask_fn %t (%b, %h, %q, %k){captures} {{\n"
            f"      {body}\n"
            f"      attn.yield %r : i1\n  }} : {scores}\n"
            f"  %w = attn.softmax %m : {scores}\n"
            f"  %out = attn.context %w, %v : ({scores}, {tensor}) -> {tensor}\n"
            f"  return {'%out, %w, %m' if weights else '%out'} : {types}\n}}\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, epilog="Other options go to attn-opt.")
    parser.add_argument("--target", default="native")
    parser.add_argument("--only", default="")
    parser.add_argument("--element", default="f32")
    parser.add_argument("--weights", action="store_true", help="return weights and masked scores, too")
    options, flags = parser.parse_known_args()
    failures, count, worst = [], 0, 0.0
    for number, name in enumerate([*TERMS, *PREDICATES]):
        if options.only and name not in options.only.split(","):
            continue
        operands, sees = (TERMS[name] if name in TERMS else PREDICATES[name])[-2:]
        with tempfile.TemporaryDirectory() as folder:
            kernel = Kernel(text(name, options.element, options.weights), folder, target=options.target, flags=flags)
            for i, lengths in enumerate(LENGTHS):
                try:
                    worst = max(worst, check(kernel, name, operands, sees, Sizes(*lengths), 100 * number + i, folder,
                                             options.element, options.weights))
                except (AssertionError, RuntimeError) as error:
                    failures.append(str(error))
                count += 1
    finish(count, failures, f"; largest error {worst:.2g}")


def check(kernel, name, operands, sees, n, seed, folder, element, weights):
    rng = np.random.default_rng(seed)
    shapes = [(n.batch, HEADS, length, DIM) for length in (n.queries, n.keys, n.keys)]
    inputs = [elements.store(rng.standard_normal(shape), element) for shape in shapes]
    extra = {o: make(rng, n) for o, (_, make) in operands.items()}
    q, k = np.arange(n.queries)[:, None], np.arange(n.keys)[None, :]
    seen = np.array([[np.broadcast_to(sees(extra, b, h, q, k, n), (n.queries, n.keys)) for h in range(HEADS)]
                     for b in range(n.batch)])
    # Excluded keys hold what must not leak.
    hidden = ~seen.any(axis=2)
    inputs[1][hidden], inputs[2][hidden] = elements.store(np.nan, element), elements.store(np.inf, element)
    out, lse, share, scaled = attention(*inputs, 0.25, seen)
    want = [out, lse] if name in TERMS else [out]
    if weights:
        want = [out, share, np.where(seen, scaled, -np.inf)]
    types = [element, "f32", "f32"]
    outputs = [elements.empty(w.shape, t) for w, t in zip(want, types)]
    arrays = [*inputs, *extra.values()]
    what = f"{name} {n.batch} x {n.queries} x {n.keys}"
    bounds = [elements.near(t, w, atol=1e-6 if t == element else elements.ROUGH) for w, t in zip(want, types)]
    got = kernel(arrays, outputs, threads=1 + seed % 3)
    work = 2 * (DIM + DIM) * np.count_nonzero(seen)
    if hasattr(kernel, "flops") and kernel.flops(arrays, outputs) != work:
        raise AssertionError(f"{what}: {kernel.flops(arrays, outputs):.0f} FLOPs, expected {work}")
    error = max(compare(what, g, w, **near) for g, w, near in zip(got, want, bounds))
    if n.queries * n.keys < 1000:
        for g, w, near in zip(reference(kernel.source, arrays, len(want), folder), want, bounds):
            compare(what + " (Reference)", g, w, **near)
    return error


if __name__ == "__main__":
    main()
