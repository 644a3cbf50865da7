// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sequences packed one behind the other, and a residual.
// sizes: S = 20, N = 4 | S = 70, N = 6
// cu: cumulative S
!x = tensor<2x$Sx16xf32>
func.func @ragged_residual(%x: !x, %cu: tensor<$Nxi32>) -> !x {
  %a = attn.sdpa %x, %x, %x scale 0.25
      where document(cumulative %cu : tensor<$Nxi32>) and causal(top_left in document) : (!x, !x, !x) -> !x
  %out = arith.addf %x, %a : !x
  return %out : !x
}
