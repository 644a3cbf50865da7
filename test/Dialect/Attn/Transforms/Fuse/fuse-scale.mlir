// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Scales on the query, the key and the scores multiply.
// RUN: attn-opt %s --attn-fuse | FileCheck %s

// CHECK-LABEL: @on_scores(
// CHECK-SAME: %[[Q:[^:]*]]: {{[^,]*}}, %[[K:[^:]*]]: {{[^,]*}}, %[[V:[^:]*]]:
// CHECK-NOT: attn.{{(scores|scale|mask|bias|softmax|context) }}
// CHECK: attn.sdpa %[[Q]], %[[K]], %[[V]] scale 5.000000e-01
func.func @on_scores(%q: tensor<2x4xf32>, %k: tensor<3x4xf32>, %v: tensor<3x5xf32>) -> tensor<2x5xf32> {
  %s = attn.scores %q, %k : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<2x3xf32>
  %t = attn.scale %s by 0.5 : tensor<2x3xf32>
  %w = attn.softmax %t : tensor<2x3xf32>
  %o = attn.context %w, %v : (tensor<2x3xf32>, tensor<3x5xf32>) -> tensor<2x5xf32>
  return %o : tensor<2x5xf32>
}

// CHECK-LABEL: @on_query(
// CHECK-SAME: %[[Q:[^:]*]]: {{[^,]*}}, %[[K:[^:]*]]: {{[^,]*}}, %[[V:[^:]*]]:
// CHECK-NOT: attn.{{(scores|scale|mask|bias|softmax|context) }}
// CHECK: attn.sdpa %[[Q]], %[[K]], %[[V]] scale 5.000000e-01
func.func @on_query(%q: tensor<2x4xf32>, %k: tensor<3x4xf32>, %v: tensor<3x5xf32>) -> tensor<2x5xf32> {
  %x = attn.scale %q by 0.5 : tensor<2x4xf32>
  %s = attn.scores %x, %k : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<2x3xf32>
  %w = attn.softmax %s : tensor<2x3xf32>
  %o = attn.context %w, %v : (tensor<2x3xf32>, tensor<3x5xf32>) -> tensor<2x5xf32>
  return %o : tensor<2x5xf32>
}

// CHECK-LABEL: @on_key(
// CHECK-SAME: %[[Q:[^:]*]]: {{[^,]*}}, %[[K:[^:]*]]: {{[^,]*}}, %[[V:[^:]*]]:
// CHECK-NOT: attn.{{(scores|scale|mask|bias|softmax|context) }}
// CHECK: attn.sdpa %[[Q]], %[[K]], %[[V]] scale 5.000000e-01
func.func @on_key(%q: tensor<2x4xf32>, %k: tensor<3x4xf32>, %v: tensor<3x5xf32>) -> tensor<2x5xf32> {
  %x = attn.scale %k by 0.5 : tensor<3x4xf32>
  %s = attn.scores %q, %x : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<2x3xf32>
  %w = attn.softmax %s : tensor<2x3xf32>
  %o = attn.context %w, %v : (tensor<2x3xf32>, tensor<3x5xf32>) -> tensor<2x5xf32>
  return %o : tensor<2x5xf32>
}

// CHECK-LABEL: @everywhere(
// CHECK-SAME: %[[Q:[^:]*]]: {{[^,]*}}, %[[K:[^:]*]]: {{[^,]*}}, %[[V:[^:]*]]:
// CHECK-NOT: attn.{{(scores|scale|mask|bias|softmax|context) }}
// CHECK: attn.sdpa %[[Q]], %[[K]], %[[V]] scale 5.000000e-01
func.func @everywhere(%q: tensor<2x4xf32>, %k: tensor<3x4xf32>, %v: tensor<3x5xf32>) -> tensor<2x5xf32> {
  %x = attn.scale %q by 0.5 : tensor<2x4xf32>
  %y = attn.scale %k by 0.25 : tensor<3x4xf32>
  %s = attn.scores %x, %y : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<2x3xf32>
  %t = attn.scale %s by 4.0 : tensor<2x3xf32>
  %w = attn.softmax %t : tensor<2x3xf32>
  %o = attn.context %w, %v : (tensor<2x3xf32>, tensor<3x5xf32>) -> tensor<2x5xf32>
  return %o : tensor<2x5xf32>
}

// CHECK-LABEL: @twice(
// CHECK-SAME: %[[Q:[^:]*]]: {{[^,]*}}, %[[K:[^:]*]]: {{[^,]*}}, %[[V:[^:]*]]:
// CHECK-NOT: attn.{{(scores|scale|mask|bias|softmax|context) }}
// CHECK: attn.sdpa %[[Q]], %[[K]], %[[V]] scale 1.250000e-01
func.func @twice(%q: tensor<2x4xf32>, %k: tensor<3x4xf32>, %v: tensor<3x5xf32>) -> tensor<2x5xf32> {
  %s = attn.scores %q, %k : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<2x3xf32>
  %t = attn.scale %s by 0.5 : tensor<2x3xf32>
  %u = attn.scale %t by 0.25 : tensor<2x3xf32>
  %w = attn.softmax %u : tensor<2x3xf32>
  %o = attn.context %w, %v : (tensor<2x3xf32>, tensor<3x5xf32>) -> tensor<2x5xf32>
  return %o : tensor<2x5xf32>
}

// CHECK-LABEL: @negative(
// CHECK-SAME: %[[Q:[^:]*]]: {{[^,]*}}, %[[K:[^:]*]]: {{[^,]*}}, %[[V:[^:]*]]:
// CHECK-NOT: attn.{{(scores|scale|mask|bias|softmax|context) }}
// CHECK: attn.sdpa %[[Q]], %[[K]], %[[V]] scale -5.000000e-01
func.func @negative(%q: tensor<2x4xf32>, %k: tensor<3x4xf32>, %v: tensor<3x5xf32>) -> tensor<2x5xf32> {
  %s = attn.scores %q, %k : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<2x3xf32>
  %t = attn.scale %s by -0.5 : tensor<2x3xf32>
  %w = attn.softmax %t : tensor<2x3xf32>
  %o = attn.context %w, %v : (tensor<2x3xf32>, tensor<3x5xf32>) -> tensor<2x5xf32>
  return %o : tensor<2x5xf32>
}

// CHECK-LABEL: @query_twice(
// CHECK-SAME: %[[Q:[^:]*]]: {{[^,]*}}, %[[K:[^:]*]]: {{[^,]*}}, %[[V:[^:]*]]:
// CHECK-NOT: attn.{{(scores|scale|mask|bias|softmax|context) }}
// CHECK: attn.sdpa %[[Q]], %[[K]], %[[V]] scale 1.500000e+00
func.func @query_twice(%q: tensor<2x4xf32>, %k: tensor<3x4xf32>, %v: tensor<3x5xf32>) -> tensor<2x5xf32> {
  %x = attn.scale %q by 0.5 : tensor<2x4xf32>
  %y = attn.scale %x by 3.0 : tensor<2x4xf32>
  %s = attn.scores %y, %k : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<2x3xf32>
  %w = attn.softmax %s : tensor<2x3xf32>
  %o = attn.context %w, %v : (tensor<2x3xf32>, tensor<3x5xf32>) -> tensor<2x5xf32>
  return %o : tensor<2x5xf32>
}
