// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
func.func @chained(%x: tensor<9x16xf32>, %document: tensor<9xi32>) -> tensor<9x16xf32> {
  %a = attn.sdpa %x, %x, %x scale 0.25 where document(%document : tensor<9xi32>) : (tensor<9x16xf32>, tensor<9x16xf32>, tensor<9x16xf32>) -> tensor<9x16xf32>
  %b = attn.sdpa %a, %x, %a scale 0.25 where document(%document : tensor<9xi32>) : (tensor<9x16xf32>, tensor<9x16xf32>, tensor<9x16xf32>) -> tensor<9x16xf32>
  return %b : tensor<9x16xf32>
}
