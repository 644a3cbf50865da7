// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Eight query heads on two key heads, and a chain.
// sizes: B = 2, S = 5, T = 8 | B = 1, S = 34, T = 50
!q = tensor<$Bx8x$Sx16xf32>
!k = tensor<$Bx2x$Tx16xf32>
func.func @grouped_heads(%q: !q, %k: !k, %v: !k) -> !q {
  %a = attn.sdpa %q, %k, %v scale 0.25 where causal(bottom_right) : (!q, !k, !k) -> !q
  %b = arith.mulf %a, %q : !q
  %out = attn.sdpa %b, %k, %v scale 0.25 : (!q, !k, !k) -> !q
  return %out : !q
}
