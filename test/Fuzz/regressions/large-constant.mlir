// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// options: --emit=obj
func.func @f(%x: tensor<2x2147483648xf64>) -> tensor<2x2147483648xf64> {
  %c = arith.constant dense<4.9e-324> : tensor<2x2147483648xf64>
  %y = arith.divf %x, %c : tensor<2x2147483648xf64>
  return %y : tensor<2x2147483648xf64>
}
