// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A chain in f64, with lse.
// sizes: B = 2, S = 6 | B = 1, S = 35
!x = tensor<$Bx2x$Sx16xf64>
!r = tensor<$Bx2x$Sxf64>
func.func @double_precision(%q: !x, %k: !x, %v: !x) -> (!x, !r) {
  %a = attn.sdpa %q, %k, %v scale 0.25 : (!x, !x, !x) -> !x
  %b = arith.subf %a, %q : !x
  %out, %lse = attn.sdpa %b, %k, %v scale 0.25 where causal(top_left) returning(out, lse) : (!x, !x, !x) -> (!x, !r)
  return %out, %lse : !x, !r
}
