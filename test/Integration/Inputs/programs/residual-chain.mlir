// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Attention, its own queries added, and attention again.
// sizes: B = 2, S = 5, T = 7 | B = 1, S = 33, T = 20 | B = 3, S = 1, T = 1
!q = tensor<$Bx4x$Sx16xf32>
!k = tensor<$Bx4x$Tx16xf32>
func.func @residual_chain(%q: !q, %k: !k, %v: !k) -> !q {
  %first = attn.sdpa %q, %k, %v scale 0.25 : (!q, !k, !k) -> !q
  %sum = arith.addf %first, %q : !q
  %out = attn.sdpa %sum, %k, %v scale 0.25 : (!q, !k, !k) -> !q
  return %out : !q
}
