// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// options: --emit=obj
// A public function is called.
func.func @reciprocal_too_large(%x: tensor<2x3xf64>) -> tensor<2x3xf64> {
  %c = arith.constant dense<4.9e-324> : tensor<2x3xf64>
  %y = arith.divf %x, %c : tensor<2x3xf64>
  return %y : tensor<2x3xf64>
}
func.func @outer(%x: tensor<2x3xf64>) -> (tensor<2x3xf64>) {
  %r = func.call @reciprocal_too_large(%x) : (tensor<2x3xf64>) -> (tensor<2x3xf64>)
  return %r : tensor<2x3xf64>
}
