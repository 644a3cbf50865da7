// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Scales as frameworks write them end in the scale of attn.sdpa.
// RUN: attn-opt %s --attn-normalize --attn-fuse | FileCheck %s

// CHECK-LABEL: @divide_scores(
// CHECK-NOT: arith.divf
// CHECK: attn.sdpa %{{.*}} scale 1.250000e-01
func.func @divide_scores(%q: tensor<2x4xf32>, %k: tensor<3x4xf32>, %v: tensor<3x5xf32>) -> tensor<2x5xf32> {
  %c = arith.constant dense<8.0> : tensor<2x3xf32>
  %s = attn.scores %q, %k : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<2x3xf32>
  %t = arith.divf %s, %c : tensor<2x3xf32>
  %w = attn.softmax %t : tensor<2x3xf32>
  %o = attn.context %w, %v : (tensor<2x3xf32>, tensor<3x5xf32>) -> tensor<2x5xf32>
  return %o : tensor<2x5xf32>
}

// CHECK-LABEL: @multiply_query(
// CHECK: attn.sdpa %{{.*}} scale 2.500000e-01
func.func @multiply_query(%q: tensor<2x4xf32>, %k: tensor<3x4xf32>, %v: tensor<3x5xf32>) -> tensor<2x5xf32> {
  %c = arith.constant dense<0.25> : tensor<2x4xf32>
  %x = arith.mulf %c, %q : tensor<2x4xf32>
  %s = attn.scores %x, %k : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<2x3xf32>
  %w = attn.softmax %s : tensor<2x3xf32>
  %o = attn.context %w, %v : (tensor<2x3xf32>, tensor<3x5xf32>) -> tensor<2x5xf32>
  return %o : tensor<2x5xf32>
}

// CHECK-LABEL: @half_on_each(
// CHECK-NOT: attn.scale
// CHECK: attn.sdpa %{{.*}} scale 2.500000e-01
func.func @half_on_each(%q: tensor<2x4xf32>, %k: tensor<3x4xf32>, %v: tensor<3x5xf32>) -> tensor<2x5xf32> {
  %c = arith.constant dense<0.5> : tensor<2x4xf32>
  %d = arith.constant dense<2.0> : tensor<3x4xf32>
  %x = arith.mulf %q, %c : tensor<2x4xf32>
  %y = arith.divf %k, %d : tensor<3x4xf32>
  %s = attn.scores %x, %y : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<2x3xf32>
  %w = attn.softmax %s : tensor<2x3xf32>
  %o = attn.context %w, %v : (tensor<2x3xf32>, tensor<3x5xf32>) -> tensor<2x5xf32>
  return %o : tensor<2x5xf32>
}
