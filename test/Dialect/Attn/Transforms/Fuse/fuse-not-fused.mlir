// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A context that is left carries its reason, and loses it when it fuses after all.
// RUN: attn-opt %s --attn-fuse | FileCheck %s

// CHECK-LABEL: @left(
// CHECK: attn.scores
// CHECK: attn.bias
// CHECK: attn.scale
// CHECK: attn.softmax
// CHECK: attn.context %{{.*}} {attn.not_fused = "attn.scale stands after attn.bias and would scale the bias too; scale before"}
func.func @left(%q: tensor<2x4xf32>, %k: tensor<3x4xf32>, %v: tensor<3x5xf32>, %b: tensor<1x3xf32>) -> tensor<2x5xf32> {
  %s = attn.scores %q, %k : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<2x3xf32>
  %x = attn.bias %s, %b : tensor<2x3xf32>, tensor<1x3xf32>
  %t = attn.scale %x by 0.5 : tensor<2x3xf32>
  %w = attn.softmax %t : tensor<2x3xf32>
  %o = attn.context %w, %v : (tensor<2x3xf32>, tensor<3x5xf32>) -> tensor<2x5xf32>
  return %o : tensor<2x5xf32>
}

// CHECK-LABEL: @again(
// CHECK-NOT: attn.not_fused
// CHECK: attn.sdpa
func.func @again(%q: tensor<2x4xf32>, %k: tensor<3x4xf32>, %v: tensor<3x5xf32>) -> tensor<2x5xf32> {
  %s = attn.scores %q, %k : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<2x3xf32>
  %w = attn.softmax %s : tensor<2x3xf32>
  %o = attn.context %w, %v {attn.not_fused = "of an earlier run"} : (tensor<2x3xf32>, tensor<3x5xf32>) -> tensor<2x5xf32>
  return %o : tensor<2x5xf32>
}
