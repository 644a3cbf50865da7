// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The difference of two maps, and a residual.
// sizes: B = 2, S = 6 | B = 1, S = 35
!x = tensor<$Bx2x$Sx16xf32>
func.func @differential_residual(%q1: !x, %k1: !x, %q2: !x, %k2: !x, %v: !x, %lambda: tensor<2xf32>) -> !x {
  %a = attn.sdpa %q1, %k1, %v minus %q2, %k2 by %lambda : tensor<2xf32> scale 0.25 where causal(top_left) : (!x, !x, !x) -> !x
  %out = arith.addf %a, %q1 : !x
  return %out : !x
}
