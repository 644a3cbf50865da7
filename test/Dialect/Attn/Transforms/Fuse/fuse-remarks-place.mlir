// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Uses for which no place is early enough.
// RUN: attn-opt %s --attn-fuse --split-input-file --verify-diagnostics --remarks-filter-missed=attn-fuse --remark-policy=all

func.func @is_value(%q: tensor<3x4xf32>, %k: tensor<3x4xf32>) -> tensor<3x3xf32> {
  %s = attn.scores %q, %k : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x3xf32>
  %w = attn.softmax %s : tensor<3x3xf32>
  // expected-remark @below {{not fused: math.exp reads an intermediate before all operands}}
  %y = math.exp %w : tensor<3x3xf32>
  %o = attn.context %w, %y : (tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<3x3xf32>
  return %o : tensor<3x3xf32>
}

// -----

func.func @is_own_bias(%q: tensor<2x4xf32>, %k: tensor<3x4xf32>, %v: tensor<3x5xf32>) -> tensor<2x5xf32> {
  %s = attn.scores %q, %k : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<2x3xf32>
  // expected-remark @below {{not fused: attn.bias reads an intermediate before all operands}}
  %x = attn.bias %s, %s : tensor<2x3xf32>, tensor<2x3xf32>
  %w = attn.softmax %x : tensor<2x3xf32>
  %o = attn.context %w, %v : (tensor<2x3xf32>, tensor<3x5xf32>) -> tensor<2x5xf32>
  return %o : tensor<2x5xf32>
}
