// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Out, lse, weights, and what stands between.
// sizes: B = 2, S = 6, T = 9 | B = 1, S = 35, T = 20
!q = tensor<$Bx2x$Sx16xf32>
!k = tensor<$Bx2x$Tx16xf32>
!r = tensor<$Bx2x$Sxf32>
!s = tensor<$Bx2x$Sx$Txf32>
func.func @several_results(%q: !q, %k: !k, %v: !k) -> (!q, !r, !s, !q) {
  %q1 = arith.addf %q, %q : !q
  %out, %lse, %weights = attn.sdpa %q1, %k, %v scale 0.25 returning(out, lse, weights) : (!q, !k, !k) -> (!q, !r, !s)
  return %out, %lse, %weights, %q1 : !q, !r, !s, !q
}
