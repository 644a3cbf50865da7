// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Constant queries gather what a sequence holds, as in a pooling layer.
// sizes: S = 9 | S = 70
func.func @learned_queries(%x: tensor<$Sx4xf32>) -> tensor<2x4xf32> {
  %q = arith.constant dense<[[0.5, -1.0, 0.25, 2.0], [1.0, 1.0, -0.5, 0.0]]> : tensor<2x4xf32>
  %out = attn.sdpa %q, %x, %x scale 0.5 : (tensor<2x4xf32>, tensor<$Sx4xf32>, tensor<$Sx4xf32>) -> tensor<2x4xf32>
  return %out : tensor<2x4xf32>
}
