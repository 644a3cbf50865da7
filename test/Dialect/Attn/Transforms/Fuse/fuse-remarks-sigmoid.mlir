// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What stands between attn.sigmoid and attn.context, or two weights in one, is not fused.
// RUN: attn-opt %s --attn-fuse --split-input-file --verify-diagnostics --remarks-filter-missed=attn-fuse --remark-policy=all

func.func @scaled_weights(%q: tensor<2x4xf32>, %k: tensor<3x4xf32>, %v: tensor<3x5xf32>) -> tensor<2x5xf32> {
  %s = attn.scores %q, %k : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<2x3xf32>
  %w = attn.sigmoid %s : tensor<2x3xf32>
  %t = attn.scale %w by 0.5 : tensor<2x3xf32>
  // expected-remark @below {{not fused: the weights come from attn.scale, not from attn.softmax or attn.sigmoid}}
  %o = attn.context %t, %v : (tensor<2x3xf32>, tensor<3x5xf32>) -> tensor<2x5xf32>
  return %o : tensor<2x5xf32>
}

// -----

func.func @differential(%v: tensor<3x5xf32>, %lambda: tensor<2x3xf32>, %a: tensor<2x3xf32>, %b: tensor<2x3xf32>) -> tensor<2x5xf32> {
  %w = attn.softmax %a : tensor<2x3xf32>
  %x = attn.softmax %b : tensor<2x3xf32>
  %y = arith.mulf %x, %lambda : tensor<2x3xf32>
  %d = arith.subf %w, %y : tensor<2x3xf32>
  // expected-remark @below {{not fused: the weights are a difference by arith.subf (differential attention); write attn.subtract_weights, which has the factor of the second map as an operand}}
  %o = attn.context %d, %v : (tensor<2x3xf32>, tensor<3x5xf32>) -> tensor<2x5xf32>
  return %o : tensor<2x5xf32>
}
