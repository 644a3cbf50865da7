// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A constant comes back beside the result.
// sizes: B = 2, S = 6 | B = 1, S = 35
!x = tensor<$Bx2x$Sx16xf32>
func.func @constant_result(%x: !x) -> (tensor<2x3xf32>, !x) {
  %c = arith.constant dense<[[1.0, 2.0, 3.0], [-1.0, 0.5, 0.0]]> : tensor<2x3xf32>
  %out = attn.sdpa %x, %x, %x scale 0.25 : (!x, !x, !x) -> !x
  return %c, %out : tensor<2x3xf32>, !x
}
