// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Cross attention behind self attention, each with its residual.
// sizes: B = 2, S = 5, T = 8 | B = 1, S = 34, T = 50
// len: below T
!x = tensor<$Bx4x$Sx8xf32>
!y = tensor<$Bx4x$Tx8xf32>
func.func @encoder_decoder(%x: !x, %y: !y, %len: tensor<$Bxi32>) -> !x {
  %a = attn.sdpa %x, %x, %x scale 0.35 where causal(top_left) : (!x, !x, !x) -> !x
  %b = arith.addf %x, %a : !x
  %c = attn.sdpa %b, %y, %y scale 0.35 where key_length(%len : tensor<$Bxi32>) : (!x, !y, !y) -> !x
  %out = arith.addf %b, %c : !x
  return %out : !x
}
