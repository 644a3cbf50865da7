// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// options: --emit=lib
func.func @f(%x: tensor<576x32xf32>) -> tensor<576x4x8xf32> {
  %s = tensor.expand_shape %x [[0], [1, 2]] output_shape [6, 4, 8] : tensor<576x32xf32> into tensor<576x4x8xf32>
  %y = arith.addf %s, %s : tensor<576x4x8xf32>
  return %y : tensor<576x4x8xf32>
}
