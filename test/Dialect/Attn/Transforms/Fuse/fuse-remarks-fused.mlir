// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Each fusion is a passed remark that lists the steps.
// RUN: attn-opt %s --attn-fuse --verify-diagnostics --remarks-filter-passed=attn-fuse --remark-policy=all

func.func @plain(%q: tensor<2x4xf32>, %k: tensor<3x4xf32>, %v: tensor<3x5xf32>) -> tensor<2x5xf32> {
  %s = attn.scores %q, %k : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<2x3xf32>
  %t = attn.scale %s by 0.5 : tensor<2x3xf32>
  %w = attn.softmax %t : tensor<2x3xf32>
  // expected-remark @below {{fused attn.scores, attn.scale, attn.softmax, attn.context}}
  %o = attn.context %w, %v : (tensor<2x3xf32>, tensor<3x5xf32>) -> tensor<2x5xf32>
  return %o : tensor<2x5xf32>
}
