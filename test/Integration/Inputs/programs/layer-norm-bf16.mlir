// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Normalised features in bf16: those of numbers near 300 and of small ones.
// sizes: S = 6 | S = 40
// x: near 300
!x = tensor<$Sx64xbf16>
!w = tensor<64xbf16>
func.func @layer_norm_bf16(%x: !x, %y: !x, %w: !w) -> (!x, !x) {
  %a = attn.layer_norm %x, %w eps 1.0e-6 : !x, !w
  %b = attn.layer_norm %y, %w eps 1.0e-6 : !x, !w
  return %a, %b : !x, !x
}
