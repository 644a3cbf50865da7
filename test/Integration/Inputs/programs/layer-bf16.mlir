// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Norm, attention and residual in bf16.
// sizes: B = 2, S = 6 | B = 1, S = 40
// scale: 2
!x = tensor<$Bx4x$Sx16xbf16>
func.func @layer_bf16(%x: !x) -> !x {
  %n = attn.rms_norm %x eps 1.0e-5 : !x
  %a = attn.sdpa %n, %n, %n scale 0.25 where causal(top_left) : (!x, !x, !x) -> !x
  %out = arith.addf %x, %a : !x
  return %out : !x
}
