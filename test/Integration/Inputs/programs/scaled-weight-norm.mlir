// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The weight of rms_norm is computed; it has as many numbers as a tile has rows.
// sizes: B = 2, S = 5 | B = 1, S = 130
!x = tensor<$Bx3x$Sx64xf32>
func.func @scaled_weight_norm(%x: !x, %w: tensor<64xf32>) -> !x {
  %half = attn.scale %w by 0.5 : tensor<64xf32>
  %normal = attn.rms_norm %x, %half eps 1.0e-6 : !x, tensor<64xf32>
  return %normal : !x
}
