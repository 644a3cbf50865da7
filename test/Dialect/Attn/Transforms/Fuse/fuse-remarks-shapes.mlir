// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Each step is well formed, but attn.sdpa would not be.
// RUN: attn-opt %s --attn-fuse --split-input-file --verify-diagnostics --remarks-filter-missed=attn-fuse --remark-policy=all

func.func @key_and_value_heads(%q: tensor<6x2x4xf32>, %k: tensor<2x3x4xf32>, %v: tensor<3x3x5xf32>) -> tensor<6x2x5xf32> {
  %s = attn.scores %q, %k : (tensor<6x2x4xf32>, tensor<2x3x4xf32>) -> tensor<6x2x3xf32>
  %w = attn.softmax %s : tensor<6x2x3xf32>
  // expected-remark @below {{not fused: the key has 2 heads, but the value 3}}
  %o = attn.context %w, %v : (tensor<6x2x3xf32>, tensor<3x3x5xf32>) -> tensor<6x2x5xf32>
  return %o : tensor<6x2x5xf32>
}

// -----

func.func @lengths(%q: tensor<2x4xf32>, %k: tensor<3x4xf32>, %v: tensor<4x5xf32>) -> tensor<2x5xf32> {
  %s = attn.scores %q, %k : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<2x?xf32>
  %w = attn.softmax %s : tensor<2x?xf32>
  // expected-remark @below {{not fused: sizes of query, key, value, bias or mask contradict}}
  %o = attn.context %w, %v : (tensor<2x?xf32>, tensor<4x5xf32>) -> tensor<2x5xf32>
  return %o : tensor<2x5xf32>
}

// -----

func.func @bias_size(%q: tensor<2x4xf32>, %k: tensor<3x4xf32>, %v: tensor<3x5xf32>, %b: tensor<1x4xf32>) -> tensor<2x5xf32> {
  %s = attn.scores %q, %k : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<2x?xf32>
  %x = attn.bias %s, %b : tensor<2x?xf32>, tensor<1x4xf32>
  %w = attn.softmax %x : tensor<2x?xf32>
  // expected-remark @below {{not fused: sizes of query, key, value, bias or mask contradict}}
  %o = attn.context %w, %v : (tensor<2x?xf32>, tensor<3x5xf32>) -> tensor<2x5xf32>
  return %o : tensor<2x5xf32>
}

// -----

func.func @mask_size(%q: tensor<2x4xf32>, %k: tensor<3x4xf32>, %v: tensor<3x5xf32>, %p: tensor<4xi1>) -> tensor<2x5xf32> {
  %s = attn.scores %q, %k : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<2x?xf32>
  %m = attn.mask %s where %p : tensor<4xi1> : tensor<2x?xf32>
  %w = attn.softmax %m : tensor<2x?xf32>
  // expected-remark @below {{not fused: sizes of query, key, value, bias or mask contradict}}
  %o = attn.context %w, %v : (tensor<2x?xf32>, tensor<3x5xf32>) -> tensor<2x5xf32>
  return %o : tensor<2x5xf32>
}
