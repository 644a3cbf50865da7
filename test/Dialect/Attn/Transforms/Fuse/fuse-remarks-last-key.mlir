// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Masks that count from the last live key do not take key_length from another mask, nor positions in documents documents.
// RUN: attn-opt %s --attn-fuse --split-input-file --verify-diagnostics --remarks-filter-missed=attn-fuse --remark-policy=all

func.func @length_after(%q: tensor<2x4xf32>, %k: tensor<3x4xf32>, %v: tensor<3x5xf32>, %n: tensor<i32>) -> tensor<2x5xf32> {
  %s = attn.scores %q, %k : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<2x3xf32>
  %m = attn.mask %s where causal(bottom_right) : tensor<2x3xf32>
  // expected-remark @below {{not fused: causal(bottom_right) and key_length stand in separate masks}}
  %p = attn.mask %m where key_length(%n : tensor<i32>) : tensor<2x3xf32>
  %w = attn.softmax %p : tensor<2x3xf32>
  %o = attn.context %w, %v : (tensor<2x3xf32>, tensor<3x5xf32>) -> tensor<2x5xf32>
  return %o : tensor<2x5xf32>
}

// -----

func.func @length_before(%q: tensor<2x4xf32>, %k: tensor<3x4xf32>, %v: tensor<3x5xf32>, %n: tensor<i32>, %r: tensor<3xi1>) -> tensor<2x5xf32> {
  %s = attn.scores %q, %k : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<2x3xf32>
  %m = attn.mask %s where key_length(%n : tensor<i32>) : tensor<2x3xf32>
  // expected-remark @below {{not fused: causal(bottom_right) and key_length stand in separate masks}}
  %p = attn.mask %m where causal(bottom_right) and %r : tensor<3xi1> : tensor<2x3xf32>
  %w = attn.softmax %p : tensor<2x3xf32>
  %o = attn.context %w, %v : (tensor<2x3xf32>, tensor<3x5xf32>) -> tensor<2x5xf32>
  return %o : tensor<2x5xf32>
}

// -----

func.func @document_after(%q: tensor<3x4xf32>, %k: tensor<3x4xf32>, %v: tensor<3x5xf32>, %cu: tensor<4xi32>, %ids: tensor<3xi32>) -> tensor<3x5xf32> {
  %s = attn.scores %q, %k : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x3xf32>
  %m = attn.mask %s where document(cumulative %cu : tensor<4xi32>) and causal(bottom_right in document) : tensor<3x3xf32>
  // expected-remark @below {{not fused: a position in document and another document stand in separate masks}}
  %p = attn.mask %m where document(%ids : tensor<3xi32>) : tensor<3x3xf32>
  %w = attn.softmax %p : tensor<3x3xf32>
  %o = attn.context %w, %v : (tensor<3x3xf32>, tensor<3x5xf32>) -> tensor<3x5xf32>
  return %o : tensor<3x5xf32>
}
