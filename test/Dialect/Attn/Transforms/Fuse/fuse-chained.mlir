// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The result of one attention feeds the next: by its query, its bias, its value.
// RUN: attn-opt %s --attn-fuse | FileCheck %s

// CHECK-LABEL: @query(
// CHECK: %[[O:.*]] = attn.sdpa
// CHECK: %[[P:.*]] = attn.sdpa %[[O]],
// CHECK-NEXT: return %[[P]]
func.func @query(%q: tensor<2x4xf32>, %k: tensor<3x4xf32>, %v: tensor<3x4xf32>) -> tensor<2x4xf32> {
  %s = attn.scores %q, %k : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<2x3xf32>
  %w = attn.softmax %s : tensor<2x3xf32>
  %o = attn.context %w, %v : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  %t = attn.scores %o, %k : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<2x3xf32>
  %x = attn.softmax %t : tensor<2x3xf32>
  %p = attn.context %x, %v : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  return %p : tensor<2x4xf32>
}

// CHECK-LABEL: @scaled_query(
// CHECK: %[[O:.*]] = attn.sdpa
// CHECK: attn.sdpa %[[O]], %{{.*}} scale 5.000000e-01
func.func @scaled_query(%q: tensor<2x4xf32>, %k: tensor<3x4xf32>, %v: tensor<3x4xf32>) -> tensor<2x4xf32> {
  %s = attn.scores %q, %k : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<2x3xf32>
  %w = attn.softmax %s : tensor<2x3xf32>
  %o = attn.context %w, %v : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  %y = attn.scale %o by 0.5 : tensor<2x4xf32>
  %t = attn.scores %y, %k : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<2x3xf32>
  %x = attn.softmax %t : tensor<2x3xf32>
  %p = attn.context %x, %v : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  return %p : tensor<2x4xf32>
}

// CHECK-LABEL: @weights_are_bias(
// CHECK: %{{.*}}, %[[W:.*]] = attn.sdpa {{.*}} returning(out, weights)
// CHECK: attn.sdpa {{.*}} bias %[[W]]
func.func @weights_are_bias(%q: tensor<2x4xf32>, %k: tensor<3x4xf32>, %v: tensor<3x5xf32>) -> (tensor<2x5xf32>, tensor<2x5xf32>) {
  %s = attn.scores %q, %k : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<2x3xf32>
  %w = attn.softmax %s : tensor<2x3xf32>
  %o = attn.context %w, %v : (tensor<2x3xf32>, tensor<3x5xf32>) -> tensor<2x5xf32>
  %t = attn.scores %q, %k : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<2x3xf32>
  %y = attn.bias %t, %w : tensor<2x3xf32>, tensor<2x3xf32>
  %x = attn.softmax %y : tensor<2x3xf32>
  %p = attn.context %x, %v : (tensor<2x3xf32>, tensor<3x5xf32>) -> tensor<2x5xf32>
  return %o, %p : tensor<2x5xf32>, tensor<2x5xf32>
}

// CHECK-LABEL: @weights_are_value(
// CHECK: %{{.*}}, %[[W:.*]] = attn.sdpa {{.*}} returning(out, weights)
// CHECK: attn.sdpa %{{.*}}, %{{.*}}, %[[W]]
func.func @weights_are_value(%q: tensor<3x4xf32>, %k: tensor<3x4xf32>, %v: tensor<3x3xf32>) -> (tensor<3x3xf32>, tensor<3x3xf32>) {
  %s = attn.scores %q, %k : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x3xf32>
  %w = attn.softmax %s : tensor<3x3xf32>
  %o = attn.context %w, %v : (tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<3x3xf32>
  %t = attn.scores %q, %k : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x3xf32>
  %x = attn.softmax %t : tensor<3x3xf32>
  %p = attn.context %x, %w : (tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<3x3xf32>
  return %o, %p : tensor<3x3xf32>, tensor<3x3xf32>
}

// CHECK-LABEL: @scores_are_bias(
// CHECK: %{{.*}}, %[[S:.*]] = attn.sdpa {{.*}} returning(out, scores)
// CHECK: attn.sdpa {{.*}} bias %[[S]]
func.func @scores_are_bias(%q: tensor<2x4xf32>, %k: tensor<3x4xf32>, %v: tensor<3x5xf32>) -> (tensor<2x5xf32>, tensor<2x5xf32>) {
  %s = attn.scores %q, %k : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<2x3xf32>
  %w = attn.softmax %s : tensor<2x3xf32>
  %o = attn.context %w, %v : (tensor<2x3xf32>, tensor<3x5xf32>) -> tensor<2x5xf32>
  %t = attn.scores %q, %k : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<2x3xf32>
  %y = attn.bias %t, %s : tensor<2x3xf32>, tensor<2x3xf32>
  %x = attn.softmax %y : tensor<2x3xf32>
  %p = attn.context %x, %v : (tensor<2x3xf32>, tensor<3x5xf32>) -> tensor<2x5xf32>
  return %o, %p : tensor<2x5xf32>, tensor<2x5xf32>
}
