// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Contexts that share weights are computed each for themselves; other uses of the weights are given once.
// RUN: attn-opt %s --attn-fuse | FileCheck %s

// CHECK-LABEL: @two(
// CHECK-NOT: returning
// CHECK: attn.sdpa
// CHECK-NOT: returning
// CHECK: attn.sdpa
// CHECK-NOT: returning
// CHECK: return
func.func @two(%q: tensor<2x4xf32>, %k: tensor<3x4xf32>, %v: tensor<3x5xf32>, %u: tensor<3x5xf32>) -> (tensor<2x5xf32>, tensor<2x5xf32>) {
  %s = attn.scores %q, %k : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<2x3xf32>
  %w = attn.softmax %s : tensor<2x3xf32>
  %o = attn.context %w, %v : (tensor<2x3xf32>, tensor<3x5xf32>) -> tensor<2x5xf32>
  %p = attn.context %w, %u : (tensor<2x3xf32>, tensor<3x5xf32>) -> tensor<2x5xf32>
  return %o, %p : tensor<2x5xf32>, tensor<2x5xf32>
}

// CHECK-LABEL: @two_and_weights(
// CHECK: %[[O:[^,]*]], %[[W:.*]] = attn.sdpa {{.*}} returning(out, weights)
// CHECK: %[[P:.*]] = attn.sdpa
// CHECK-NOT: returning
// CHECK: return %[[O]], %[[P]], %[[W]]
func.func @two_and_weights(%q: tensor<2x4xf32>, %k: tensor<3x4xf32>, %v: tensor<3x5xf32>, %u: tensor<3x5xf32>) -> (tensor<2x5xf32>, tensor<2x5xf32>, tensor<2x3xf32>) {
  %s = attn.scores %q, %k : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<2x3xf32>
  %w = attn.softmax %s : tensor<2x3xf32>
  %o = attn.context %w, %v : (tensor<2x3xf32>, tensor<3x5xf32>) -> tensor<2x5xf32>
  %p = attn.context %w, %u : (tensor<2x3xf32>, tensor<3x5xf32>) -> tensor<2x5xf32>
  return %o, %p, %w : tensor<2x5xf32>, tensor<2x5xf32>, tensor<2x3xf32>
}

// CHECK-LABEL: @same_value(
// CHECK-COUNT-2: attn.sdpa
// CHECK-NOT: attn.softmax
func.func @same_value(%q: tensor<2x4xf32>, %k: tensor<3x4xf32>, %v: tensor<3x5xf32>) -> (tensor<2x5xf32>, tensor<2x5xf32>) {
  %s = attn.scores %q, %k : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<2x3xf32>
  %w = attn.softmax %s : tensor<2x3xf32>
  %o = attn.context %w, %v : (tensor<2x3xf32>, tensor<3x5xf32>) -> tensor<2x5xf32>
  %p = attn.context %w, %v : (tensor<2x3xf32>, tensor<3x5xf32>) -> tensor<2x5xf32>
  return %o, %p : tensor<2x5xf32>, tensor<2x5xf32>
}
