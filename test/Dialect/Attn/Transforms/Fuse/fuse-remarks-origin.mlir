// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Chains that do not begin with attn.scores, or weights that are not those of attn.softmax.
// RUN: attn-opt %s --attn-fuse --split-input-file --verify-diagnostics --remarks-filter-missed=attn-fuse --remark-policy=all

func.func @weights_argument(%s: tensor<2x3xf32>, %v: tensor<3x5xf32>) -> tensor<2x5xf32> {
  // expected-remark @below {{not fused: the weights come from an argument, not from attn.softmax}}
  %o = attn.context %s, %v : (tensor<2x3xf32>, tensor<3x5xf32>) -> tensor<2x5xf32>
  return %o : tensor<2x5xf32>
}

// -----

func.func @scaled_weights(%q: tensor<2x4xf32>, %k: tensor<3x4xf32>, %v: tensor<3x5xf32>) -> tensor<2x5xf32> {
  %s = attn.scores %q, %k : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<2x3xf32>
  %w = attn.softmax %s : tensor<2x3xf32>
  %t = attn.scale %w by 0.5 : tensor<2x3xf32>
  // expected-remark @below {{not fused: the weights come from attn.scale, not from attn.softmax}}
  %o = attn.context %t, %v : (tensor<2x3xf32>, tensor<3x5xf32>) -> tensor<2x5xf32>
  return %o : tensor<2x5xf32>
}

// -----

func.func @scores_argument(%s: tensor<2x3xf32>, %v: tensor<3x5xf32>) -> tensor<2x5xf32> {
  %w = attn.softmax %s : tensor<2x3xf32>
  // expected-remark @below {{not fused: the scores come from an argument, not from attn.scores}}
  %o = attn.context %w, %v : (tensor<2x3xf32>, tensor<3x5xf32>) -> tensor<2x5xf32>
  return %o : tensor<2x5xf32>
}

// -----

func.func @arithmetic_between(%q: tensor<2x4xf32>, %k: tensor<3x4xf32>, %v: tensor<3x5xf32>) -> tensor<2x5xf32> {
  %s = attn.scores %q, %k : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<2x3xf32>
  %t = math.tanh %s : tensor<2x3xf32>
  %w = attn.softmax %t : tensor<2x3xf32>
  // expected-remark @below {{not fused: the scores come from math.tanh, not from attn.scores}}
  %o = attn.context %w, %v : (tensor<2x3xf32>, tensor<3x5xf32>) -> tensor<2x5xf32>
  return %o : tensor<2x5xf32>
}

// -----

func.func @below_scale(%q: tensor<2x4xf32>, %k: tensor<3x4xf32>, %v: tensor<3x5xf32>) -> tensor<2x5xf32> {
  %s = attn.scores %q, %k : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<2x3xf32>
  %t = math.tanh %s : tensor<2x3xf32>
  %u = attn.scale %t by 2.0 : tensor<2x3xf32>
  %w = attn.softmax %u : tensor<2x3xf32>
  // expected-remark @below {{not fused: the scores come from math.tanh}}
  %o = attn.context %w, %v : (tensor<2x3xf32>, tensor<3x5xf32>) -> tensor<2x5xf32>
  return %o : tensor<2x5xf32>
}
