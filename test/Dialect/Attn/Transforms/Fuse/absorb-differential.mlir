// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The queries of two maps have one layout, and so have their keys: both are absorbed, or none and the copy is a remark.
// RUN: attn-opt %s --attn-absorb-heads --verify-diagnostics --remarks-filter-missed=attn-absorb-heads --remark-policy=all | FileCheck %s

// CHECK-LABEL: @both(
// CHECK-NOT: linalg.transpose
// CHECK: attn.sdpa %[[Q1:.*]], %[[K:.*]], %arg2 minus %[[Q2:.*]], %[[K]] by %arg3 : tensor<4xf32> scale 1.000000e+00 {key_layout = #attn<layout bshd>, query_layout = #attn<layout bshd>} : (tensor<2x5x4x16xf32>, tensor<2x5x4x16xf32>, tensor<2x4x5x16xf32>)
func.func @both(%x: tensor<2x5x64xf32>, %y: tensor<2x5x64xf32>, %v: tensor<2x4x5x16xf32>, %l: tensor<4xf32>) -> tensor<2x4x5x16xf32> {
  %q1 = attn.split_heads %x into 4 : tensor<2x5x64xf32> -> tensor<2x4x5x16xf32>
  %q2 = attn.split_heads %y into 4 : tensor<2x5x64xf32> -> tensor<2x4x5x16xf32>
  %k = attn.split_heads %y into 4 : tensor<2x5x64xf32> -> tensor<2x4x5x16xf32>
  %o = attn.sdpa %q1, %k, %v minus %q2, %k by %l : tensor<4xf32> scale 1.0 : (tensor<2x4x5x16xf32>, tensor<2x4x5x16xf32>, tensor<2x4x5x16xf32>) -> tensor<2x4x5x16xf32>
  return %o : tensor<2x4x5x16xf32>
}

// CHECK-LABEL: @one(
// CHECK: linalg.transpose
// CHECK: attn.sdpa %{{.*}}, %{{.*}}, %{{.*}} minus %{{.*}}, %{{.*}} by %{{.*}} : tensor<4xf32> scale 1.000000e+00 : (tensor<2x4x5x16xf32>
func.func @one(%x: tensor<2x5x64xf32>, %q2: tensor<2x4x5x16xf32>, %v: tensor<2x4x5x16xf32>, %l: tensor<4xf32>) -> tensor<2x4x5x16xf32> {
  // expected-remark @below {{attn.split_heads copies: the other map of its attn.sdpa does not have heads that are split in the same way}}
  %q1 = attn.split_heads %x into 4 : tensor<2x5x64xf32> -> tensor<2x4x5x16xf32>
  %o = attn.sdpa %q1, %v, %v minus %q2, %v by %l : tensor<4xf32> scale 1.0 : (tensor<2x4x5x16xf32>, tensor<2x4x5x16xf32>, tensor<2x4x5x16xf32>) -> tensor<2x4x5x16xf32>
  return %o : tensor<2x4x5x16xf32>
}

// CHECK-LABEL: @second(
// CHECK: linalg.transpose
func.func @second(%x: tensor<2x5x64xf32>, %q1: tensor<2x4x5x16xf32>, %v: tensor<2x4x5x16xf32>, %l: tensor<4xf32>) -> tensor<2x4x5x16xf32> {
  // expected-remark @below {{attn.split_heads copies: the other map of its attn.sdpa does not have heads that are split in the same way}}
  %q2 = attn.split_heads %x into 4 : tensor<2x5x64xf32> -> tensor<2x4x5x16xf32>
  %o = attn.sdpa %q1, %v, %v minus %q2, %v by %l : tensor<4xf32> scale 1.0 : (tensor<2x4x5x16xf32>, tensor<2x4x5x16xf32>, tensor<2x4x5x16xf32>) -> tensor<2x4x5x16xf32>
  return %o : tensor<2x4x5x16xf32>
}
