// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Orders of steps that mean something else than attn.sdpa.
// RUN: attn-opt %s --attn-fuse --split-input-file --verify-diagnostics --remarks-filter-missed=attn-fuse --remark-policy=all

func.func @scale_after_bias(%q: tensor<2x4xf32>, %k: tensor<3x4xf32>, %v: tensor<3x5xf32>, %b: tensor<1x3xf32>) -> tensor<2x5xf32> {
  %s = attn.scores %q, %k : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<2x3xf32>
  %x = attn.bias %s, %b : tensor<2x3xf32>, tensor<1x3xf32>
  // expected-remark @below {{not fused: attn.scale stands after attn.bias}}
  %t = attn.scale %x by 0.5 : tensor<2x3xf32>
  %w = attn.softmax %t : tensor<2x3xf32>
  %o = attn.context %w, %v : (tensor<2x3xf32>, tensor<3x5xf32>) -> tensor<2x5xf32>
  return %o : tensor<2x5xf32>
}

// -----

func.func @scale_after_bias_and_mask(%q: tensor<2x4xf32>, %k: tensor<3x4xf32>, %v: tensor<3x5xf32>, %b: tensor<1x3xf32>) -> tensor<2x5xf32> {
  %s = attn.scores %q, %k : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<2x3xf32>
  %x = attn.bias %s, %b : tensor<2x3xf32>, tensor<1x3xf32>
  %m = attn.mask %x where causal(top_left) : tensor<2x3xf32>
  // expected-remark @below {{not fused: attn.scale stands after attn.bias}}
  %t = attn.scale %m by 0.5 : tensor<2x3xf32>
  %w = attn.softmax %t : tensor<2x3xf32>
  %o = attn.context %w, %v : (tensor<2x3xf32>, tensor<3x5xf32>) -> tensor<2x5xf32>
  return %o : tensor<2x5xf32>
}

// -----

func.func @negative_after_mask(%q: tensor<2x4xf32>, %k: tensor<3x4xf32>, %v: tensor<3x5xf32>) -> tensor<2x5xf32> {
  %s = attn.scores %q, %k : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<2x3xf32>
  %m = attn.mask %s where causal(top_left) : tensor<2x3xf32>
  // expected-remark @below {{not fused: attn.scale by a negative factor stands after attn.mask}}
  %t = attn.scale %m by -0.5 : tensor<2x3xf32>
  %w = attn.softmax %t : tensor<2x3xf32>
  %o = attn.context %w, %v : (tensor<2x3xf32>, tensor<3x5xf32>) -> tensor<2x5xf32>
  return %o : tensor<2x5xf32>
}

// -----

func.func @two_negatives_after_mask(%q: tensor<2x4xf32>, %k: tensor<3x4xf32>, %v: tensor<3x5xf32>) -> tensor<2x5xf32> {
  %s = attn.scores %q, %k : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<2x3xf32>
  %m = attn.mask %s where causal(top_left) : tensor<2x3xf32>
  // expected-remark @below {{not fused: attn.scale by a negative factor}}
  %t = attn.scale %m by -0.5 : tensor<2x3xf32>
  %u = attn.scale %t by -0.5 : tensor<2x3xf32>
  %w = attn.softmax %u : tensor<2x3xf32>
  %o = attn.context %w, %v : (tensor<2x3xf32>, tensor<3x5xf32>) -> tensor<2x5xf32>
  return %o : tensor<2x5xf32>
}

// -----

func.func @two_biases(%q: tensor<2x4xf32>, %k: tensor<3x4xf32>, %v: tensor<3x5xf32>, %b: tensor<1x3xf32>, %c: tensor<2x3xf32>) -> tensor<2x5xf32> {
  %s = attn.scores %q, %k : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<2x3xf32>
  %x = attn.bias %s, %b : tensor<2x3xf32>, tensor<1x3xf32>
  // expected-remark @below {{not fused: attn.bias is the second one}}
  %y = attn.bias %x, %c : tensor<2x3xf32>, tensor<2x3xf32>
  %w = attn.softmax %y : tensor<2x3xf32>
  %o = attn.context %w, %v : (tensor<2x3xf32>, tensor<3x5xf32>) -> tensor<2x5xf32>
  return %o : tensor<2x5xf32>
}

// -----

func.func @softcap_after_mask(%q: tensor<2x4xf32>, %k: tensor<3x4xf32>, %v: tensor<3x5xf32>) -> tensor<2x5xf32> {
  %s = attn.scores %q, %k : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<2x3xf32>
  %m = attn.mask %s where causal(top_left) : tensor<2x3xf32>
  // expected-remark @below {{not fused: attn.softcap stands after attn.mask}}
  %t = attn.softcap %m at 2.0 : tensor<2x3xf32>
  %w = attn.softmax %t : tensor<2x3xf32>
  %o = attn.context %w, %v : (tensor<2x3xf32>, tensor<3x5xf32>) -> tensor<2x5xf32>
  return %o : tensor<2x5xf32>
}

// -----

func.func @alibi_after_bias(%q: tensor<2x4xf32>, %k: tensor<3x4xf32>, %v: tensor<3x5xf32>, %b: tensor<1x3xf32>, %p: tensor<1xf32>) -> tensor<2x5xf32> {
  %s = attn.scores %q, %k : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<2x3xf32>
  %x = attn.bias %s, %b : tensor<2x3xf32>, tensor<1x3xf32>
  // expected-remark @below {{not fused: attn.alibi stands after attn.bias}}
  %t = attn.alibi %x, %p aligned top_left : tensor<2x3xf32>, tensor<1xf32>
  %w = attn.softmax %t : tensor<2x3xf32>
  %o = attn.context %w, %v : (tensor<2x3xf32>, tensor<3x5xf32>) -> tensor<2x5xf32>
  return %o : tensor<2x5xf32>
}

// -----

func.func @scale_after_softcap(%q: tensor<2x4xf32>, %k: tensor<3x4xf32>, %v: tensor<3x5xf32>) -> tensor<2x5xf32> {
  %s = attn.scores %q, %k : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<2x3xf32>
  %m = attn.softcap %s at 2.0 : tensor<2x3xf32>
  // expected-remark @below {{not fused: attn.scale stands after attn.softcap}}
  %t = attn.scale %m by 0.5 : tensor<2x3xf32>
  %w = attn.softmax %t : tensor<2x3xf32>
  %o = attn.context %w, %v : (tensor<2x3xf32>, tensor<3x5xf32>) -> tensor<2x5xf32>
  return %o : tensor<2x5xf32>
}
