// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Several masks become one; operands of terms keep their terms.
// RUN: attn-opt %s --attn-fuse | FileCheck %s

// CHECK-LABEL: @two(
// CHECK-SAME: %[[Q:[^:]*]]: {{[^,]*}}, %[[K:[^:]*]]: {{[^,]*}}, %[[V:[^:]*]]:
// CHECK-NOT: attn.{{(scores|scale|mask|bias|softmax|context) }}
// CHECK: attn.sdpa %[[Q]], %[[K]], %[[V]] scale 1.000000e+00 where causal(top_left) and %{{.*}} : tensor<3xi1>
func.func @two(%q: tensor<2x4xf32>, %k: tensor<3x4xf32>, %v: tensor<3x5xf32>, %p: tensor<3xi1>) -> tensor<2x5xf32> {
  %s = attn.scores %q, %k : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<2x3xf32>
  %m = attn.mask %s where causal(top_left) : tensor<2x3xf32>
  %n = attn.mask %m where %p : tensor<3xi1> : tensor<2x3xf32>
  %w = attn.softmax %n : tensor<2x3xf32>
  %o = attn.context %w, %v : (tensor<2x3xf32>, tensor<3x5xf32>) -> tensor<2x5xf32>
  return %o : tensor<2x5xf32>
}

// CHECK-LABEL: @around_scale(
// CHECK-SAME: %[[P:[^:]*]]: tensor<3xi1>, %[[R:[^:]*]]: tensor<2x1xi1>)
// CHECK: attn.sdpa %{{.*}} scale 5.000000e-01 where %[[P]] : tensor<3xi1> and %[[R]] : tensor<2x1xi1>
func.func @around_scale(%q: tensor<2x4xf32>, %k: tensor<3x4xf32>, %v: tensor<3x5xf32>, %p: tensor<3xi1>, %r: tensor<2x1xi1>) -> tensor<2x5xf32> {
  %s = attn.scores %q, %k : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<2x3xf32>
  %m = attn.mask %s where %p : tensor<3xi1> : tensor<2x3xf32>
  %t = attn.scale %m by 0.5 : tensor<2x3xf32>
  %n = attn.mask %t where %r : tensor<2x1xi1> : tensor<2x3xf32>
  %w = attn.softmax %n : tensor<2x3xf32>
  %o = attn.context %w, %v : (tensor<2x3xf32>, tensor<3x5xf32>) -> tensor<2x5xf32>
  return %o : tensor<2x5xf32>
}

// CHECK-LABEL: @combinations(
// CHECK-SAME: %[[P:[^:]*]]: tensor<3xi1>, %[[R:[^:]*]]: tensor<2x1xi1>)
// CHECK: where (causal(top_left) or %[[P]] : tensor<3xi1>) and not %[[R]] : tensor<2x1xi1>
func.func @combinations(%q: tensor<2x4xf32>, %k: tensor<3x4xf32>, %v: tensor<3x5xf32>, %p: tensor<3xi1>, %r: tensor<2x1xi1>) -> tensor<2x5xf32> {
  %s = attn.scores %q, %k : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<2x3xf32>
  %m = attn.mask %s where causal(top_left) or %p : tensor<3xi1> : tensor<2x3xf32>
  %n = attn.mask %m where not %r : tensor<2x1xi1> : tensor<2x3xf32>
  %w = attn.softmax %n : tensor<2x3xf32>
  %o = attn.context %w, %v : (tensor<2x3xf32>, tensor<3x5xf32>) -> tensor<2x5xf32>
  return %o : tensor<2x5xf32>
}

// CHECK-LABEL: @three(
// CHECK-SAME: %[[Q:[^:]*]]: {{[^,]*}}, %[[K:[^:]*]]: {{[^,]*}}, %[[V:[^:]*]]:
// CHECK-NOT: attn.{{(scores|scale|mask|bias|softmax|context) }}
// CHECK: attn.sdpa %[[Q]], %[[K]], %[[V]] scale 1.000000e+00 where causal(top_left) and causal(offset = 1) and causal(offset = 2)
func.func @three(%q: tensor<2x4xf32>, %k: tensor<3x4xf32>, %v: tensor<3x5xf32>) -> tensor<2x5xf32> {
  %s = attn.scores %q, %k : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<2x3xf32>
  %m = attn.mask %s where causal(top_left) : tensor<2x3xf32>
  %n = attn.mask %m where causal(offset = 1) : tensor<2x3xf32>
  %r = attn.mask %n where causal(offset = 2) : tensor<2x3xf32>
  %w = attn.softmax %r : tensor<2x3xf32>
  %o = attn.context %w, %v : (tensor<2x3xf32>, tensor<3x5xf32>) -> tensor<2x5xf32>
  return %o : tensor<2x5xf32>
}

// CHECK-LABEL: @length_with_last_key(
// CHECK-SAME: %[[Q:[^:]*]]: {{[^,]*}}, %[[K:[^:]*]]: {{[^,]*}}, %[[V:[^:]*]]:
// CHECK-NOT: attn.{{(scores|scale|mask|bias|softmax|context) }}
// CHECK: attn.sdpa %[[Q]], %[[K]], %[[V]] scale 1.000000e+00 where causal(bottom_right) and key_length(
func.func @length_with_last_key(%q: tensor<2x4xf32>, %k: tensor<3x4xf32>, %v: tensor<3x5xf32>, %n: tensor<i32>) -> tensor<2x5xf32> {
  %s = attn.scores %q, %k : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<2x3xf32>
  %m = attn.mask %s where causal(bottom_right) and key_length(%n : tensor<i32>) : tensor<2x3xf32>
  %w = attn.softmax %m : tensor<2x3xf32>
  %o = attn.context %w, %v : (tensor<2x3xf32>, tensor<3x5xf32>) -> tensor<2x5xf32>
  return %o : tensor<2x5xf32>
}
