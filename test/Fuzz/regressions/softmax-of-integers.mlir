// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// options: --emit=obj
func.func @f(%x: tensor<2x20xi32>) -> tensor<2x20xi32> {
  %y = linalg.softmax dimension(1) ins(%x : tensor<2x20xi32>) outs(%x : tensor<2x20xi32>) -> tensor<2x20xi32>
  return %y : tensor<2x20xi32>
}
