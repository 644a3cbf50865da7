// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One query and its residual, as in decoding; keys end at a length.
// sizes: B = 2, T = 9 | B = 1, T = 130
// len: below T
!q = tensor<$Bx4x1x16xf32>
!k = tensor<$Bx2x$Tx16xf32>
func.func @one_row(%q: !q, %k: !k, %v: !k, %len: tensor<$Bxi32>) -> !q {
  %a = attn.sdpa %q, %k, %v scale 0.25 where key_length(%len : tensor<$Bxi32>) : (!q, !k, !k) -> !q
  %out = arith.addf %q, %a : !q
  return %out : !q
}
