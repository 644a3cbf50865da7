// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Groups of query heads share key heads.
// RUN: attn-opt %s --attn-fuse | FileCheck %s

// CHECK-LABEL: @groups(
// CHECK-SAME: %[[Q:[^:]*]]: {{[^,]*}}, %[[K:[^:]*]]: {{[^,]*}}, %[[V:[^:]*]]:
// CHECK-NOT: attn.{{(scores|scale|mask|bias|softmax|context) }}
// CHECK: attn.sdpa %[[Q]], %[[K]], %[[V]] scale 1.000000e+00 : (tensor<7x6x2x4xf32>, tensor<7x2x3x4xf32>, tensor<7x2x3x5xf32>)
func.func @groups(%q: tensor<7x6x2x4xf32>, %k: tensor<7x2x3x4xf32>, %v: tensor<7x2x3x5xf32>) -> tensor<7x6x2x5xf32> {
  %s = attn.scores %q, %k : (tensor<7x6x2x4xf32>, tensor<7x2x3x4xf32>) -> tensor<7x6x2x3xf32>
  %w = attn.softmax %s : tensor<7x6x2x3xf32>
  %o = attn.context %w, %v : (tensor<7x6x2x3xf32>, tensor<7x2x3x5xf32>) -> tensor<7x6x2x5xf32>
  return %o : tensor<7x6x2x5xf32>
}

// CHECK-LABEL: @one_key_head(
// CHECK-SAME: %[[Q:[^:]*]]: {{[^,]*}}, %[[K:[^:]*]]: {{[^,]*}}, %[[V:[^:]*]]:
// CHECK-NOT: attn.{{(scores|scale|mask|bias|softmax|context) }}
// CHECK: attn.sdpa %[[Q]], %[[K]], %[[V]] scale
func.func @one_key_head(%q: tensor<6x2x4xf32>, %k: tensor<1x3x4xf32>, %v: tensor<1x3x5xf32>) -> tensor<6x2x5xf32> {
  %s = attn.scores %q, %k : (tensor<6x2x4xf32>, tensor<1x3x4xf32>) -> tensor<6x2x3xf32>
  %w = attn.softmax %s : tensor<6x2x3xf32>
  %o = attn.context %w, %v : (tensor<6x2x3xf32>, tensor<1x3x5xf32>) -> tensor<6x2x5xf32>
  return %o : tensor<6x2x5xf32>
}

// CHECK-LABEL: @returned_weights(
// CHECK-SAME: %[[Q:[^:]*]]: {{[^,]*}}, %[[K:[^:]*]]: {{[^,]*}}, %[[V:[^:]*]]:
// CHECK-NOT: attn.{{(scores|scale|mask|bias|softmax|context) }}
// CHECK: returning(out, weights)
// CHECK-SAME: -> (tensor<6x2x5xf32>, tensor<6x2x3xf32>)
func.func @returned_weights(%q: tensor<6x2x4xf32>, %k: tensor<2x3x4xf32>, %v: tensor<2x3x5xf32>) -> (tensor<6x2x5xf32>, tensor<6x2x3xf32>) {
  %s = attn.scores %q, %k : (tensor<6x2x4xf32>, tensor<2x3x4xf32>) -> tensor<6x2x3xf32>
  %w = attn.softmax %s : tensor<6x2x3xf32>
  %o = attn.context %w, %v : (tensor<6x2x3xf32>, tensor<2x3x5xf32>) -> tensor<6x2x5xf32>
  return %o, %w : tensor<6x2x5xf32>, tensor<6x2x3xf32>
}
