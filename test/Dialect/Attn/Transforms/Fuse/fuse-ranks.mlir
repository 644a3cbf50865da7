// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Scores, softmax and context of rank 2, 3 and 4.
// RUN: attn-opt %s --attn-fuse | FileCheck %s

// CHECK-LABEL: @rank2(
// CHECK-SAME: %[[Q:[^:]*]]: {{[^,]*}}, %[[K:[^:]*]]: {{[^,]*}}, %[[V:[^:]*]]:
// CHECK-NOT: attn.{{(scores|scale|mask|bias|softmax|context) }}
// CHECK: %[[O:.*]] = attn.sdpa %[[Q]], %[[K]], %[[V]] scale 1.000000e+00 : (tensor<2x4xf32>, tensor<3x4xf32>, tensor<3x5xf32>) -> tensor<2x5xf32>
// CHECK-NEXT: return %[[O]]
func.func @rank2(%q: tensor<2x4xf32>, %k: tensor<3x4xf32>, %v: tensor<3x5xf32>) -> tensor<2x5xf32> {
  %s = attn.scores %q, %k : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<2x3xf32>
  %w = attn.softmax %s : tensor<2x3xf32>
  %o = attn.context %w, %v : (tensor<2x3xf32>, tensor<3x5xf32>) -> tensor<2x5xf32>
  return %o : tensor<2x5xf32>
}

// CHECK-LABEL: @rank3(
// CHECK-SAME: %[[Q:[^:]*]]: {{[^,]*}}, %[[K:[^:]*]]: {{[^,]*}}, %[[V:[^:]*]]:
// CHECK-NOT: attn.{{(scores|scale|mask|bias|softmax|context) }}
// CHECK: attn.sdpa %[[Q]], %[[K]], %[[V]] scale 1.000000e+00 :
func.func @rank3(%q: tensor<6x2x4xf32>, %k: tensor<6x3x4xf32>, %v: tensor<6x3x5xf32>) -> tensor<6x2x5xf32> {
  %s = attn.scores %q, %k : (tensor<6x2x4xf32>, tensor<6x3x4xf32>) -> tensor<6x2x3xf32>
  %w = attn.softmax %s : tensor<6x2x3xf32>
  %o = attn.context %w, %v : (tensor<6x2x3xf32>, tensor<6x3x5xf32>) -> tensor<6x2x5xf32>
  return %o : tensor<6x2x5xf32>
}

// CHECK-LABEL: @rank4(
// CHECK-SAME: %[[Q:[^:]*]]: {{[^,]*}}, %[[K:[^:]*]]: {{[^,]*}}, %[[V:[^:]*]]:
// CHECK-NOT: attn.{{(scores|scale|mask|bias|softmax|context) }}
// CHECK: attn.sdpa %[[Q]], %[[K]], %[[V]] scale 1.000000e+00 :
func.func @rank4(%q: tensor<7x6x2x4xf32>, %k: tensor<7x6x3x4xf32>, %v: tensor<7x6x3x5xf32>) -> tensor<7x6x2x5xf32> {
  %s = attn.scores %q, %k : (tensor<7x6x2x4xf32>, tensor<7x6x3x4xf32>) -> tensor<7x6x2x3xf32>
  %w = attn.softmax %s : tensor<7x6x2x3xf32>
  %o = attn.context %w, %v : (tensor<7x6x2x3xf32>, tensor<7x6x3x5xf32>) -> tensor<7x6x2x5xf32>
  return %o : tensor<7x6x2x5xf32>
}
