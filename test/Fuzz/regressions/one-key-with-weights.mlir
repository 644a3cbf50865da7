// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// options: --emit=obj
// The matrix of weights has one column, and lost its stride.
func.func @kernel(%q1: tensor<1x2x1x16xf32>, %k2: tensor<1x1x1x16xf32>, %v3: tensor<1x1x40xf32>, %allowed8: tensor<2x1x1xi1>) -> (tensor<1x2x1x40xf32>, tensor<1x2x1x1xf32>) {
  %v4 = attn.split_heads %v3 into 1 : tensor<1x1x40xf32> -> tensor<1x1x1x40xf32>
  %scaled5 = attn.scale %q1 by 0.25 : tensor<1x2x1x16xf32>
  %scores6 = attn.scores %scaled5, %k2 : (tensor<1x2x1x16xf32>, tensor<1x1x1x16xf32>) -> tensor<1x2x1x1xf32>
  %scaled7 = attn.scale %scores6 by 1.7 : tensor<1x2x1x1xf32>
  %masked9 = attn.mask %scaled7 where (%allowed8 : tensor<2x1x1xi1> and chunked(32)) or dilated(4) : tensor<1x2x1x1xf32>
  %weights10 = attn.softmax %masked9 : tensor<1x2x1x1xf32>
  %out11 = attn.context %weights10, %v4 : (tensor<1x2x1x1xf32>, tensor<1x1x1x40xf32>) -> tensor<1x2x1x40xf32>
  return %out11, %weights10 : tensor<1x2x1x40xf32>, tensor<1x2x1x1xf32>
}
