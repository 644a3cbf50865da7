// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Unknown sizes, also where one op knows more than the next.
// RUN: attn-opt %s --attn-fuse | FileCheck %s

// CHECK-LABEL: @all(
// CHECK-SAME: %[[Q:[^:]*]]: {{[^,]*}}, %[[K:[^:]*]]: {{[^,]*}}, %[[V:[^:]*]]:
// CHECK-NOT: attn.{{(scores|scale|mask|bias|softmax|context) }}
// CHECK: attn.sdpa %[[Q]], %[[K]], %[[V]] scale 1.000000e+00 : (tensor<?x8x?x64xf32>, tensor<?x2x?x64xf32>, tensor<?x2x?x64xf32>) -> tensor<?x8x?x64xf32>
func.func @all(%q: tensor<?x8x?x64xf32>, %k: tensor<?x2x?x64xf32>, %v: tensor<?x2x?x64xf32>) -> tensor<?x8x?x64xf32> {
  %s = attn.scores %q, %k : (tensor<?x8x?x64xf32>, tensor<?x2x?x64xf32>) -> tensor<?x8x?x?xf32>
  %w = attn.softmax %s : tensor<?x8x?x?xf32>
  %o = attn.context %w, %v : (tensor<?x8x?x?xf32>, tensor<?x2x?x64xf32>) -> tensor<?x8x?x64xf32>
  return %o : tensor<?x8x?x64xf32>
}

// CHECK-LABEL: @every_step(
// CHECK-SAME: %[[Q:[^:]*]]: {{[^,]*}}, %[[K:[^:]*]]: {{[^,]*}}, %[[V:[^:]*]]:
// CHECK-NOT: attn.{{(scores|scale|mask|bias|softmax|context) }}
// CHECK: attn.sdpa %[[Q]], %[[K]], %[[V]] bias %{{.*}} : tensor<?x1x?x?xf32> scale 1.250000e-01 where causal(bottom_right) and key_length(%{{.*}} : tensor<?xi32>)
func.func @every_step(%q: tensor<?x8x?x64xf32>, %k: tensor<?x2x?x64xf32>, %v: tensor<?x2x?x64xf32>, %b: tensor<?x1x?x?xf32>, %n: tensor<?xi32>) -> tensor<?x8x?x64xf32> {
  %s = attn.scores %q, %k : (tensor<?x8x?x64xf32>, tensor<?x2x?x64xf32>) -> tensor<?x8x?x?xf32>
  %t = attn.scale %s by 0.125 : tensor<?x8x?x?xf32>
  %x = attn.bias %t, %b : tensor<?x8x?x?xf32>, tensor<?x1x?x?xf32>
  %m = attn.mask %x where causal(bottom_right) and key_length(%n : tensor<?xi32>) : tensor<?x8x?x?xf32>
  %w = attn.softmax %m : tensor<?x8x?x?xf32>
  %o = attn.context %w, %v : (tensor<?x8x?x?xf32>, tensor<?x2x?x64xf32>) -> tensor<?x8x?x64xf32>
  return %o : tensor<?x8x?x64xf32>
}

// CHECK-LABEL: @returned(
// CHECK-SAME: %[[Q:[^:]*]]: {{[^,]*}}, %[[K:[^:]*]]: {{[^,]*}}, %[[V:[^:]*]]:
// CHECK-NOT: attn.{{(scores|scale|mask|bias|softmax|context) }}
// CHECK: returning(out, weights, scores)
// CHECK-SAME: tensor<?x8x?x?xf32>, tensor<?x8x?x?xf32>)
func.func @returned(%q: tensor<?x8x?x64xf32>, %k: tensor<?x2x?x64xf32>, %v: tensor<?x2x?x64xf32>) -> (tensor<?x8x?x64xf32>, tensor<?x8x?x?xf32>, tensor<?x8x?x?xf32>) {
  %s = attn.scores %q, %k : (tensor<?x8x?x64xf32>, tensor<?x2x?x64xf32>) -> tensor<?x8x?x?xf32>
  %w = attn.softmax %s : tensor<?x8x?x?xf32>
  %o = attn.context %w, %v : (tensor<?x8x?x?xf32>, tensor<?x2x?x64xf32>) -> tensor<?x8x?x64xf32>
  return %o, %w, %s : tensor<?x8x?x64xf32>, tensor<?x8x?x?xf32>, tensor<?x8x?x?xf32>
}

// CHECK-LABEL: @known_in_part(
// CHECK-SAME: %[[Q:[^:]*]]: {{[^,]*}}, %[[K:[^:]*]]: {{[^,]*}}, %[[V:[^:]*]]:
// CHECK-NOT: attn.{{(scores|scale|mask|bias|softmax|context) }}
// CHECK: attn.sdpa %[[Q]], %[[K]], %[[V]] scale 1.000000e+00 : (tensor<?x4xf32>, tensor<?x4xf32>, tensor<3x5xf32>) -> tensor<2x5xf32>
func.func @known_in_part(%q: tensor<?x4xf32>, %k: tensor<?x4xf32>, %v: tensor<3x5xf32>) -> tensor<2x5xf32> {
  %s = attn.scores %q, %k : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<2x3xf32>
  %w = attn.softmax %s : tensor<2x3xf32>
  %o = attn.context %w, %v : (tensor<2x3xf32>, tensor<3x5xf32>) -> tensor<2x5xf32>
  return %o : tensor<2x5xf32>
}
