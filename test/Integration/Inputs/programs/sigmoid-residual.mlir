// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Weights by sigmoid, and a residual.
// sizes: B = 2, S = 6 | B = 1, S = 35
!x = tensor<$Bx2x$Sx16xf32>
func.func @sigmoid_residual(%x: !x) -> !x {
  %a = attn.sdpa %x, %x, %x scale 0.25 where causal(top_left) {normalization = #attn<normalization sigmoid>} : (!x, !x, !x) -> !x
  %out = arith.addf %x, %a : !x
  return %out : !x
}
