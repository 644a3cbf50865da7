// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Batch entries and rows of an argument are joined, changed, and taken apart again.
// sizes: B = 2, S = 6 | B = 1, S = 1
!x = tensor<$Bx1x$Sx32xf32>
func.func @joined_dimensions(%x: !x) -> !x {
  %flat = tensor.collapse_shape %x [[0], [1, 2], [3]] : !x into tensor<$Bx$Sx32xf32>
  %t = math.tanh %flat : tensor<$Bx$Sx32xf32>
  %out = tensor.expand_shape %t [[0], [1, 2], [3]] output_shape [@B, 1, @S, 32] : tensor<$Bx$Sx32xf32> into !x
  return %out : !x
}
