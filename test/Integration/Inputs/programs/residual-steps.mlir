// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A residual behind the five textbook steps.
// sizes: B = 2, S = 6 | B = 1, S = 40
!x = tensor<$Bx2x$Sx8xf32>
!s = tensor<$Bx2x$Sx$Sxf32>
func.func @residual_steps(%q: !x, %k: !x, %v: !x) -> !x {
  %scores = attn.scores %q, %k : (!x, !x) -> !s
  %scaled = attn.scale %scores by 0.3 : !s
  %masked = attn.mask %scaled where causal(top_left) : !s
  %weights = attn.softmax %masked : !s
  %context = attn.context %weights, %v : (!s, !x) -> !x
  %out = arith.addf %context, %q : !x
  return %out : !x
}
