// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Uses of scores that attn.sdpa never has.
// RUN: attn-opt %s --attn-fuse --split-input-file --verify-diagnostics --remarks-filter-missed=attn-fuse --remark-policy=all

func.func @two_stages(%q: tensor<2x4xf32>, %k: tensor<3x4xf32>, %v: tensor<3x5xf32>) -> (tensor<2x5xf32>, tensor<2x3xf32>, tensor<2x3xf32>) {
  %s = attn.scores %q, %k : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<2x3xf32>
  // expected-remark @below {{not fused: the results of attn.scores and attn.scale both have other uses}}
  %t = attn.scale %s by 0.5 : tensor<2x3xf32>
  %w = attn.softmax %t : tensor<2x3xf32>
  %o = attn.context %w, %v : (tensor<2x3xf32>, tensor<3x5xf32>) -> tensor<2x5xf32>
  return %o, %s, %t : tensor<2x5xf32>, tensor<2x3xf32>, tensor<2x3xf32>
}

// -----

func.func @masked_before_scale(%q: tensor<2x4xf32>, %k: tensor<3x4xf32>, %v: tensor<3x5xf32>) -> (tensor<2x5xf32>, tensor<2x3xf32>) {
  %s = attn.scores %q, %k : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<2x3xf32>
  // expected-remark @below {{not fused: the result of attn.mask has other uses}}
  %m = attn.mask %s where causal(top_left) : tensor<2x3xf32>
  %t = attn.scale %m by 0.5 : tensor<2x3xf32>
  %w = attn.softmax %t : tensor<2x3xf32>
  %o = attn.context %w, %v : (tensor<2x3xf32>, tensor<3x5xf32>) -> tensor<2x5xf32>
  return %o, %m : tensor<2x5xf32>, tensor<2x3xf32>
}

// -----

func.func @masked_before_bias(%q: tensor<2x4xf32>, %k: tensor<3x4xf32>, %v: tensor<3x5xf32>, %b: tensor<1x3xf32>) -> (tensor<2x5xf32>, tensor<2x3xf32>) {
  %s = attn.scores %q, %k : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<2x3xf32>
  // expected-remark @below {{not fused: the result of attn.mask has other uses}}
  %m = attn.mask %s where causal(top_left) : tensor<2x3xf32>
  %x = attn.bias %m, %b : tensor<2x3xf32>, tensor<1x3xf32>
  %w = attn.softmax %x : tensor<2x3xf32>
  %o = attn.context %w, %v : (tensor<2x3xf32>, tensor<3x5xf32>) -> tensor<2x5xf32>
  return %o, %m : tensor<2x5xf32>, tensor<2x3xf32>
}

// -----

func.func @first_of_two_masks(%q: tensor<2x4xf32>, %k: tensor<3x4xf32>, %v: tensor<3x5xf32>) -> (tensor<2x5xf32>, tensor<2x3xf32>) {
  %s = attn.scores %q, %k : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<2x3xf32>
  // expected-remark @below {{not fused: the result of attn.mask has other uses}}
  %m = attn.mask %s where causal(top_left) : tensor<2x3xf32>
  %n = attn.mask %m where causal(offset = 1) : tensor<2x3xf32>
  %w = attn.softmax %n : tensor<2x3xf32>
  %o = attn.context %w, %v : (tensor<2x3xf32>, tensor<3x5xf32>) -> tensor<2x5xf32>
  return %o, %m : tensor<2x5xf32>, tensor<2x3xf32>
}

// -----

func.func @first_of_two_scales(%q: tensor<2x4xf32>, %k: tensor<3x4xf32>, %v: tensor<3x5xf32>) -> (tensor<2x5xf32>, tensor<2x3xf32>) {
  %s = attn.scores %q, %k : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<2x3xf32>
  // expected-remark @below {{not fused: the result of attn.scale has other uses}}
  %t = attn.scale %s by 0.5 : tensor<2x3xf32>
  %u = attn.scale %t by 0.5 : tensor<2x3xf32>
  %w = attn.softmax %u : tensor<2x3xf32>
  %o = attn.context %w, %v : (tensor<2x3xf32>, tensor<3x5xf32>) -> tensor<2x5xf32>
  return %o, %t : tensor<2x5xf32>, tensor<2x3xf32>
}
