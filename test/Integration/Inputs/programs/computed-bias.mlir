// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A bias that is computed from an argument, once per head.
// sizes: S = 6, T = 9 | S = 35, T = 20
!q = tensor<2x$Sx16xf32>
!k = tensor<2x$Tx16xf32>
!b = tensor<2x1x$Txf32>
func.func @computed_bias(%q: !q, %k: !k, %v: !k, %a: !b, %c: !b) -> !q {
  %product = arith.mulf %a, %c : !b
  %bias = math.sin %product : !b
  %out = attn.sdpa %q, %k, %v bias %bias : !b scale 0.25 : (!q, !k, !k) -> !q
  return %out : !q
}
