// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Stored in f16, attended in f32, rounded at the end.
// sizes: B = 2, S = 6 | B = 1, S = 35
// scale: 1
!x = tensor<$Bx2x$Sx16xf16>
!wide = tensor<$Bx2x$Sx16xf32>
func.func @half_in_float_out(%x: !x) -> (!wide, !x) {
  %w = arith.extf %x : !x to !wide
  %a = attn.sdpa %w, %w, %w scale 0.25 : (!wide, !wide, !wide) -> !wide
  %b = arith.addf %a, %w : !wide
  %out = arith.truncf %b : !wide to !x
  return %b, %out : !wide, !x
}
