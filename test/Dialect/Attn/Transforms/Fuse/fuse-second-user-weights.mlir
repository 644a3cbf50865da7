// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Weights with other uses become the result `weights`.
// RUN: attn-opt %s --attn-fuse | FileCheck %s

// CHECK-LABEL: @returned(
// CHECK-SAME: %[[Q:[^:]*]]: {{[^,]*}}, %[[K:[^:]*]]: {{[^,]*}}, %[[V:[^:]*]]:
// CHECK-NOT: attn.{{(scores|scale|mask|bias|softmax|context) }}
// CHECK: %[[O:[^,]*]], %[[W:.*]] = attn.sdpa %[[Q]], %[[K]], %[[V]] scale 1.000000e+00 returning(out, weights)
// CHECK-NOT: attn.
// CHECK: return %[[O]], %[[W]]
func.func @returned(%q: tensor<2x4xf32>, %k: tensor<3x4xf32>, %v: tensor<3x5xf32>) -> (tensor<2x5xf32>, tensor<2x3xf32>) {
  %s = attn.scores %q, %k : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<2x3xf32>
  %w = attn.softmax %s : tensor<2x3xf32>
  %o = attn.context %w, %v : (tensor<2x3xf32>, tensor<3x5xf32>) -> tensor<2x5xf32>
  return %o, %w : tensor<2x5xf32>, tensor<2x3xf32>
}

// CHECK-LABEL: @read_after(
// CHECK-SAME: %[[Q:[^:]*]]: {{[^,]*}}, %[[K:[^:]*]]: {{[^,]*}}, %[[V:[^:]*]]:
// CHECK-NOT: attn.{{(scores|scale|mask|bias|softmax|context) }}
// CHECK: %{{.*}}, %[[W:.*]] = attn.sdpa %[[Q]], %[[K]], %[[V]]
// CHECK: math.exp %[[W]]
func.func @read_after(%q: tensor<2x4xf32>, %k: tensor<3x4xf32>, %v: tensor<3x5xf32>) -> (tensor<2x5xf32>, tensor<2x3xf32>) {
  %s = attn.scores %q, %k : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<2x3xf32>
  %w = attn.softmax %s : tensor<2x3xf32>
  %o = attn.context %w, %v : (tensor<2x3xf32>, tensor<3x5xf32>) -> tensor<2x5xf32>
  %y = math.exp %w : tensor<2x3xf32>
  return %o, %y : tensor<2x5xf32>, tensor<2x3xf32>
}

// CHECK-LABEL: @returned_twice(
// CHECK-SAME: %[[Q:[^:]*]]: {{[^,]*}}, %[[K:[^:]*]]: {{[^,]*}}, %[[V:[^:]*]]:
// CHECK-NOT: attn.{{(scores|scale|mask|bias|softmax|context) }}
// CHECK: %[[O:[^,]*]], %[[W:.*]] = attn.sdpa %[[Q]], %[[K]], %[[V]]
// CHECK: return %[[O]], %[[W]], %[[W]]
func.func @returned_twice(%q: tensor<2x4xf32>, %k: tensor<3x4xf32>, %v: tensor<3x5xf32>) -> (tensor<2x5xf32>, tensor<2x3xf32>, tensor<2x3xf32>) {
  %s = attn.scores %q, %k : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<2x3xf32>
  %w = attn.softmax %s : tensor<2x3xf32>
  %o = attn.context %w, %v : (tensor<2x3xf32>, tensor<3x5xf32>) -> tensor<2x5xf32>
  return %o, %w, %w : tensor<2x5xf32>, tensor<2x3xf32>, tensor<2x3xf32>
}

// CHECK-LABEL: @with_mask(
// CHECK-SAME: %[[Q:[^:]*]]: {{[^,]*}}, %[[K:[^:]*]]: {{[^,]*}}, %[[V:[^:]*]]:
// CHECK-NOT: attn.{{(scores|scale|mask|bias|softmax|context) }}
// CHECK: where causal(top_left) returning(out, weights)
func.func @with_mask(%q: tensor<2x4xf32>, %k: tensor<3x4xf32>, %v: tensor<3x5xf32>) -> (tensor<2x3xf32>, tensor<2x5xf32>) {
  %s = attn.scores %q, %k : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<2x3xf32>
  %m = attn.mask %s where causal(top_left) : tensor<2x3xf32>
  %w = attn.softmax %m : tensor<2x3xf32>
  %o = attn.context %w, %v : (tensor<2x3xf32>, tensor<3x5xf32>) -> tensor<2x5xf32>
  return %w, %o : tensor<2x3xf32>, tensor<2x5xf32>
}
