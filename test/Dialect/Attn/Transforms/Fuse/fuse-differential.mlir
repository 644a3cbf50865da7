// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Two maps and their difference become one attn.sdpa, with what they have in common once.
// RUN: attn-opt %s --attn-fuse | FileCheck %s --implicit-check-not=attn.softmax --implicit-check-not=attn.subtract_weights --implicit-check-not=attn.scores
// RUN: attn-opt %s --attn-fuse --remarks-filter-passed=attn-fuse --remark-policy=all 2>&1 | FileCheck %s --check-prefix=REMARK

// CHECK-LABEL: @all(
// CHECK: %[[O:.*]] = attn.sdpa %arg0, %arg1, %arg4 minus %arg2, %arg3 by %arg5 : tensor<8xf32> bias %arg6 : tensor<8x1x1xf32> scale 5.000000e-01 score_mod
// CHECK: math.tanh
// CHECK: where causal(top_left) and key_length(%arg7 : tensor<?xi32>) sinks %arg8 : tensor<8xf32> :
// CHECK: return %[[O]]
// REMARK: fused attn.scores, attn.scale, attn.softcap, attn.bias, attn.mask, attn.softmax, attn.scores, attn.scale, attn.softcap, attn.bias, attn.mask, attn.softmax, attn.subtract_weights, attn.context
func.func @all(%q1: tensor<?x8x?x4xf32>, %k1: tensor<?x2x?x4xf32>, %q2: tensor<?x8x?x4xf32>, %k2: tensor<?x2x?x4xf32>, %v: tensor<?x2x?x4xf32>, %l: tensor<8xf32>, %b: tensor<8x1x1xf32>, %n: tensor<?xi32>, %sinks: tensor<8xf32>) -> tensor<?x8x?x4xf32> {
  %s1 = attn.scores %q1, %k1 : (tensor<?x8x?x4xf32>, tensor<?x2x?x4xf32>) -> tensor<?x8x?x?xf32>
  %t1 = attn.scale %s1 by 0.5 : tensor<?x8x?x?xf32>
  %u10 = attn.softcap %t1 at 30.0 : tensor<?x8x?x?xf32>
  %u11 = attn.bias %u10, %b : tensor<?x8x?x?xf32>, tensor<8x1x1xf32>
  %u12 = attn.mask %u11 where causal(top_left) and key_length(%n : tensor<?xi32>) : tensor<?x8x?x?xf32>
  %w1 = attn.softmax %u12 sinks %sinks : tensor<8xf32> : tensor<?x8x?x?xf32>
  %s2 = attn.scores %q2, %k2 : (tensor<?x8x?x4xf32>, tensor<?x2x?x4xf32>) -> tensor<?x8x?x?xf32>
  %t2 = attn.scale %s2 by 0.5 : tensor<?x8x?x?xf32>
  %u20 = attn.softcap %t2 at 30.0 : tensor<?x8x?x?xf32>
  %u21 = attn.bias %u20, %b : tensor<?x8x?x?xf32>, tensor<8x1x1xf32>
  %u22 = attn.mask %u21 where causal(top_left) and key_length(%n : tensor<?xi32>) : tensor<?x8x?x?xf32>
  %w2 = attn.softmax %u22 sinks %sinks : tensor<8xf32> : tensor<?x8x?x?xf32>
  %w = attn.subtract_weights %w1, %w2 by %l : tensor<?x8x?x?xf32>, tensor<8xf32>
  %o = attn.context %w, %v : (tensor<?x8x?x?xf32>, tensor<?x2x?x4xf32>) -> tensor<?x8x?x4xf32>
  return %o : tensor<?x8x?x4xf32>
}

// Scales on queries and keys count; static sizes; one factor.
// CHECK-LABEL: @scales(
// CHECK: attn.sdpa %arg0, %arg1, %arg3 minus %arg2, %arg1 by %arg4 : tensor<f32> scale 2.500000e-01 : (tensor<2x4xf32>, tensor<3x4xf32>, tensor<3x5xf32>) -> tensor<2x5xf32>
func.func @scales(%q: tensor<2x4xf32>, %k: tensor<3x4xf32>, %p: tensor<2x4xf32>, %v: tensor<3x5xf32>, %l: tensor<f32>) -> tensor<2x5xf32> {
  %x = attn.scale %p by 0.25 : tensor<2x4xf32>
  %s1 = attn.scores %q, %k : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<2x3xf32>
  %t1 = attn.scale %s1 by 0.25 : tensor<2x3xf32>
  %w1 = attn.softmax %t1 : tensor<2x3xf32>
  %s2 = attn.scores %x, %k : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<2x3xf32>
  %w2 = attn.softmax %s2 : tensor<2x3xf32>
  %w = attn.subtract_weights %w1, %w2 by %l : tensor<2x3xf32>, tensor<f32>
  %o = attn.context %w, %v : (tensor<2x3xf32>, tensor<3x5xf32>) -> tensor<2x5xf32>
  return %o : tensor<2x5xf32>
}

// Functions with the same text are the same.
// CHECK-LABEL: @functions(
// CHECK: attn.sdpa {{.*}} minus {{.*}} score_mod (%{{.*}}: f32, {{.*}}) with (%{{.*}} = %arg6 : tensor<8xf32>) {
func.func @functions(%q1: tensor<?x8x?x4xf32>, %k1: tensor<?x2x?x4xf32>, %q2: tensor<?x8x?x4xf32>, %k2: tensor<?x2x?x4xf32>, %v: tensor<?x2x?x4xf32>, %l: tensor<8xf32>, %t: tensor<8xf32>) -> tensor<?x8x?x4xf32> {
  %s1 = attn.scores %q1, %k1 : (tensor<?x8x?x4xf32>, tensor<?x2x?x4xf32>) -> tensor<?x8x?x?xf32>
  %t1 = attn.scale %s1 by 0.5 : tensor<?x8x?x?xf32>
  %u10 = attn.score_mod %t1 (%x: f32, %b, %h, %i, %j) with (%u = %t : tensor<8xf32>) {
    %y = tensor.extract %u[%h] : tensor<8xf32>
    %z = arith.mulf %x, %y : f32
    attn.yield %z : f32
  } : tensor<?x8x?x?xf32>
  %w1 = attn.softmax %u10 : tensor<?x8x?x?xf32>
  %s2 = attn.scores %q2, %k2 : (tensor<?x8x?x4xf32>, tensor<?x2x?x4xf32>) -> tensor<?x8x?x?xf32>
  %t2 = attn.scale %s2 by 0.5 : tensor<?x8x?x?xf32>
  %u20 = attn.score_mod %t2 (%x: f32, %b, %h, %i, %j) with (%u = %t : tensor<8xf32>) {
    %y = tensor.extract %u[%h] : tensor<8xf32>
    %z = arith.mulf %x, %y : f32
    attn.yield %z : f32
  } : tensor<?x8x?x?xf32>
  %w2 = attn.softmax %u20 : tensor<?x8x?x?xf32>
  %w = attn.subtract_weights %w1, %w2 by %l : tensor<?x8x?x?xf32>, tensor<8xf32>
  %o = attn.context %w, %v : (tensor<?x8x?x?xf32>, tensor<?x2x?x4xf32>) -> tensor<?x8x?x4xf32>
  return %o : tensor<?x8x?x4xf32>
}

// A map that another context reads too is also an attention of its own.
// CHECK-LABEL: @shared_map(
// CHECK-DAG: attn.sdpa %arg0, %arg1, %arg4 minus %arg2, %arg3 by %arg5
// CHECK-DAG: attn.sdpa %arg0, %arg1, %arg4 scale 5.000000e-01 :
func.func @shared_map(%q1: tensor<?x8x?x4xf32>, %k1: tensor<?x2x?x4xf32>, %q2: tensor<?x8x?x4xf32>, %k2: tensor<?x2x?x4xf32>, %v: tensor<?x2x?x4xf32>, %l: tensor<8xf32>) -> (tensor<?x8x?x4xf32>, tensor<?x8x?x4xf32>) {
  %s1 = attn.scores %q1, %k1 : (tensor<?x8x?x4xf32>, tensor<?x2x?x4xf32>) -> tensor<?x8x?x?xf32>
  %t1 = attn.scale %s1 by 0.5 : tensor<?x8x?x?xf32>
  %w1 = attn.softmax %t1 : tensor<?x8x?x?xf32>
  %s2 = attn.scores %q2, %k2 : (tensor<?x8x?x4xf32>, tensor<?x2x?x4xf32>) -> tensor<?x8x?x?xf32>
  %t2 = attn.scale %s2 by 0.5 : tensor<?x8x?x?xf32>
  %w2 = attn.softmax %t2 : tensor<?x8x?x?xf32>
  %w = attn.subtract_weights %w1, %w2 by %l : tensor<?x8x?x?xf32>, tensor<8xf32>
  %o = attn.context %w, %v : (tensor<?x8x?x?xf32>, tensor<?x2x?x4xf32>) -> tensor<?x8x?x4xf32>
  %p = attn.context %w1, %v : (tensor<?x8x?x?xf32>, tensor<?x2x?x4xf32>) -> tensor<?x8x?x4xf32>
  return %o, %p : tensor<?x8x?x4xf32>, tensor<?x8x?x4xf32>
}

// The same weights minus themselves; by sigmoid.
// CHECK-LABEL: @same(
// CHECK: attn.sdpa %arg0, %arg1, %arg4 minus %arg0, %arg1 by %arg5 : tensor<8xf32> scale 5.000000e-01 {normalization = #attn<normalization sigmoid>}
func.func @same(%q1: tensor<?x8x?x4xf32>, %k1: tensor<?x2x?x4xf32>, %q2: tensor<?x8x?x4xf32>, %k2: tensor<?x2x?x4xf32>, %v: tensor<?x2x?x4xf32>, %l: tensor<8xf32>) -> tensor<?x8x?x4xf32> {
  %s1 = attn.scores %q1, %k1 : (tensor<?x8x?x4xf32>, tensor<?x2x?x4xf32>) -> tensor<?x8x?x?xf32>
  %t1 = attn.scale %s1 by 0.5 : tensor<?x8x?x?xf32>
  %w1 = attn.sigmoid %t1 : tensor<?x8x?x?xf32>
  %w = attn.subtract_weights %w1, %w1 by %l : tensor<?x8x?x?xf32>, tensor<8xf32>
  %o = attn.context %w, %v : (tensor<?x8x?x?xf32>, tensor<?x2x?x4xf32>) -> tensor<?x8x?x4xf32>
  return %o : tensor<?x8x?x4xf32>
}
