// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Three layers of norm, attention and residual.
// sizes: B = 2, S = 5 | B = 1, S = 34
!x = tensor<$Bx2x$Sx16xf32>
func.func @three_layers(%x: !x, %g: tensor<16xf32>) -> !x {
  %n1 = attn.rms_norm %x, %g eps 1.0e-5 : !x, tensor<16xf32>
  %a1 = attn.sdpa %n1, %n1, %n1 scale 0.25 where causal(top_left) : (!x, !x, !x) -> !x
  %x1 = arith.addf %x, %a1 : !x
  %n2 = attn.rms_norm %x1, %g eps 1.0e-5 : !x, tensor<16xf32>
  %a2 = attn.sdpa %n2, %n2, %n2 scale 0.25 where causal(top_left) : (!x, !x, !x) -> !x
  %x2 = arith.addf %x1, %a2 : !x
  %n3 = attn.rms_norm %x2, %g eps 1.0e-5 : !x, tensor<16xf32>
  %a3 = attn.sdpa %n3, %n3, %n3 scale 0.25 where causal(top_left) : (!x, !x, !x) -> !x
  %x3 = arith.addf %x2, %a3 : !x
  return %x3 : !x
}
