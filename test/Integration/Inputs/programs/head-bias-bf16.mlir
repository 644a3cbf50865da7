// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A number of bf16 per head is kept while a loop adds it to few features.
// sizes: B = 1, S = 1 | B = 2, S = 5
!x = tensor<$Bx2x$Sx4xbf16>
func.func @head_bias_bf16(%x: !x, %b: tensor<2xbf16>) -> !x {
  %empty = tensor.empty(@B, @S) : !x
  %wide = linalg.broadcast ins(%b : tensor<2xbf16>) outs(%empty : !x) dimensions = [0, 2, 3]
  %out = arith.addf %x, %wide : !x
  return %out : !x
}
