// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// options: --emit=obj
// More elements than can be counted.
func.func @by_infinity(%x: tensor<2x9223372036854775807xf32>) -> tensor<2x9223372036854775807xf32> {
  %c = arith.constant dense<0x7F800000> : tensor<2x9223372036854775807xf32>
  %y = arith.divf %x, %c : tensor<2x9223372036854775807xf32>
  return %y : tensor<2x9223372036854775807xf32>
}
