// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products in panels compute where a tensor lies that their epilogue reads last, and states are merged where the first lies.
// RUN: attn-opt %s --attn-tile-projections --attn-tile-states --attn-reuse-operands | FileCheck %s

#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>

// The norm in front reads the same tensor.
// CHECK-LABEL: func.func @residual
// CHECK:      %[[X:.*]] = math.exp
// CHECK:      linalg.reduce
// CHECK:      scf.forall {{.*}} shared_outs(%[[O:.*]] = %[[X]])
// CHECK:      %[[PART:.*]] = tensor.extract_slice %[[O]]
// CHECK:      attn.project_tile {{.*}} with %[[PART]] :
// CHECK:      outs(%[[PART]] :
func.func @residual(%a: tensor<?x8xf32>, %g: tensor<?x8xf32>, %empty: tensor<?xf32>) -> tensor<?xf32> {
  %w = arith.constant dense<[[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0], [2.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0],
                             [3.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0], [4.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0],
                             [5.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0], [6.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0],
                             [7.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0], [8.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]]> : tensor<8x8xf32>
  %x = math.exp %a : tensor<?x8xf32>
  %sum = linalg.reduce ins(%x : tensor<?x8xf32>) outs(%empty : tensor<?xf32>) dimensions = [1]
      (%in: f32, %init: f32) {
        %more = arith.addf %in, %init : f32
        linalg.yield %more : f32
      }
  %p = attn.project %g, %w {schedule = #s} : (tensor<?x8xf32>, tensor<8x8xf32>) -> tensor<?x8xf32>
  %y = arith.addf %x, %p : tensor<?x8xf32>
  %total = linalg.reduce ins(%y : tensor<?x8xf32>) outs(%sum : tensor<?xf32>) dimensions = [1]
      (%in: f32, %init: f32) {
        %more = arith.addf %in, %init : f32
        linalg.yield %more : f32
      }
  return %total : tensor<?xf32>
}

// A later reader, a matrix in place of panels, a result that the caller gets.
// CHECK-LABEL: func.func @others
// CHECK: %[[E:.*]] = tensor.empty(
// CHECK: scf.forall {{.*}} shared_outs(%{{.*}} = %[[E]])
// CHECK: math.exp %arg1
// CHECK: %[[F:.*]] = tensor.empty(
// CHECK: scf.forall {{.*}} shared_outs(%{{.*}} = %[[F]])
// CHECK: return
func.func @others(%a: tensor<?x8xf32>, %g: tensor<?x8xf32>, %v: tensor<8x8xf32>) -> (tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>) {
  %x = math.exp %a : tensor<?x8xf32>
  %p = attn.project %g, %v {schedule = #s} : (tensor<?x8xf32>, tensor<8x8xf32>) -> tensor<?x8xf32>
  %y = arith.addf %x, %p : tensor<?x8xf32>
  %later = math.tanh %x : tensor<?x8xf32>
  %r = math.tanh %y : tensor<?x8xf32>
  %z = math.exp %g : tensor<?x8xf32>
  %q = attn.project %r, %v {schedule = #s} : (tensor<?x8xf32>, tensor<8x8xf32>) -> tensor<?x8xf32>
  %o = arith.addf %z, %q : tensor<?x8xf32>
  return %later, %r, %o, %y : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>
}

// CHECK-LABEL: func.func @states
// CHECK: scf.forall {{.*}} shared_outs(%[[M:.*]] = %[[FM:.*]], %[[L:.*]] = %[[FL:.*]], %[[A:.*]] = %[[FA:.*]])
// CHECK: attn.merge_rows %[[RM:.*]], %[[RL:.*]], %[[RA:.*]] with {{.*}} outs(%[[RM]], %[[RL]], %[[RA]] :
func.func @states(%m1: tensor<2x8xf32>, %l1: tensor<2x8xf32>, %a1: tensor<2x8x4xf32>, %m2: tensor<2x8xf32>, %l2: tensor<2x8xf32>, %a2: tensor<2x8x4xf32>) -> tensor<2x8x4xf32> {
  %m = math.absf %m1 : tensor<2x8xf32>
  %l = math.absf %l1 : tensor<2x8xf32>
  %a = math.absf %a1 : tensor<2x8x4xf32>
  %r:3 = attn.merge_states %m, %l, %a with %m2, %l2, %a2 {schedule = #s} : tensor<2x8xf32>, tensor<2x8x4xf32>
  %out = attn.finalize_state %r#0, %r#1, %r#2 {schedule = #s} : (tensor<2x8xf32>, tensor<2x8xf32>, tensor<2x8x4xf32>) -> tensor<2x8x4xf32>
  return %out : tensor<2x8x4xf32>
}
