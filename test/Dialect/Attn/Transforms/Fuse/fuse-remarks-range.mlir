// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The product of all scales must be a finite factor other than 0.
// RUN: attn-opt %s --attn-fuse --split-input-file --verify-diagnostics --remarks-filter-missed=attn-fuse --remark-policy=all

func.func @overflow(%q: tensor<2x4xf32>, %k: tensor<3x4xf32>, %v: tensor<3x5xf32>) -> tensor<2x5xf32> {
  %s = attn.scores %q, %k : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<2x3xf32>
  %t = attn.scale %s by 1.0e200 : tensor<2x3xf32>
  %u = attn.scale %t by 1.0e200 : tensor<2x3xf32>
  %w = attn.softmax %u : tensor<2x3xf32>
  // expected-remark @below {{not fused: the product of all scales is 0 or not finite}}
  %o = attn.context %w, %v : (tensor<2x3xf32>, tensor<3x5xf32>) -> tensor<2x5xf32>
  return %o : tensor<2x5xf32>
}

// -----

func.func @underflow(%q: tensor<2x4xf32>, %k: tensor<3x4xf32>, %v: tensor<3x5xf32>) -> tensor<2x5xf32> {
  %x = attn.scale %q by 1.0e-200 : tensor<2x4xf32>
  %s = attn.scores %x, %k : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<2x3xf32>
  %t = attn.scale %s by 1.0e-200 : tensor<2x3xf32>
  %w = attn.softmax %t : tensor<2x3xf32>
  // expected-remark @below {{not fused: the product of all scales is 0 or not finite}}
  %o = attn.context %w, %v : (tensor<2x3xf32>, tensor<3x5xf32>) -> tensor<2x5xf32>
  return %o : tensor<2x5xf32>
}
