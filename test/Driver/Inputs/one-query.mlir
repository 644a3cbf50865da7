// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One query of 8 heads that share 2 key heads.
func.func @one(%q: tensor<8x1x16xf32>, %k: tensor<2x?x16xf32>) -> tensor<8x1x16xf32> {
  %out = attn.sdpa %q, %k, %k scale 0.25 : (tensor<8x1x16xf32>, tensor<2x?x16xf32>, tensor<2x?x16xf32>) -> tensor<8x1x16xf32>
  return %out : tensor<8x1x16xf32>
}
