// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A sliding window and a residual.
// sizes: B = 2, S = 9 | B = 1, S = 70
!x = tensor<$Bx2x$Sx16xf32>
func.func @window_residual(%x: !x) -> !x {
  %a = attn.sdpa %x, %x, %x scale 0.25 where window(left = 3, right = 0) : (!x, !x, !x) -> !x
  %out = arith.addf %x, %a : !x
  return %out : !x
}
