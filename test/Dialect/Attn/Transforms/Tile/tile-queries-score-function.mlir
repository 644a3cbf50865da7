// RUN: attn-opt %s --attn-assign-schedule --attn-tile-queries | FileCheck %s
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Score function and sinks go to the tile ops; the item's batch entry and head are what the function sees.

// CHECK-LABEL: func @function
// CHECK-SAME: %[[T:[a-z0-9]+]]: tensor<4x9xf32>, %[[S:.*]]: tensor<4xf32>)
// CHECK: scf.forall (%[[B:.*]], %[[H:.*]], %{{.*}}) in
// CHECK: %[[O:.*]] = attn.online {{.*}} score_mod (%[[X:.*]]: f32, %{{.*}}, %[[HEAD:.*]], %{{.*}}, %[[K:.*]]) of %[[B]], %[[H]] with (%[[C:.*]] = %[[T]] : tensor<4x9xf32>) {
// CHECK-NEXT: %[[E:.*]] = tensor.extract %[[C]][%[[HEAD]], %[[K]]]
// CHECK-NEXT: %[[Y:.*]] = arith.addf %[[X]], %[[E]]
// CHECK-NEXT: attn.yield %[[Y]]
// CHECK: %[[SINK:.*]] = tensor.extract %[[S]][%[[H]]]
// CHECK: %[[A:.*]] = attn.add_sink %[[O]], %[[SINK]]
// CHECK: attn.finalize %[[A]]
// CHECK: attn.weigh %[[A]], {{.*}} score_mod
// CHECK: stage = #attn<scores_stage modified>
func.func @function(%q: tensor<?x4x?x8xf32>, %k: tensor<?x4x?x8xf32>, %table: tensor<4x9xf32>, %sinks: tensor<4xf32>) -> (tensor<?x4x?x8xf32>, tensor<?x4x?x?xf32>) {
  %o, %s = attn.sdpa %q, %k, %k scale 0.5 score_mod (%x: f32, %b, %h, %i, %j) with (%t = %table : tensor<4x9xf32>) {
    %e = tensor.extract %t[%h, %j] : tensor<4x9xf32>
    %y = arith.addf %x, %e : f32
    attn.yield %y : f32
  } sinks %sinks : tensor<4xf32> returning(out, scores) {scores_stage = #attn<scores_stage modified>}
      : (tensor<?x4x?x8xf32>, tensor<?x4x?x8xf32>, tensor<?x4x?x8xf32>) -> (tensor<?x4x?x8xf32>, tensor<?x4x?x?xf32>)
  return %o, %s : tensor<?x4x?x8xf32>, tensor<?x4x?x?xf32>
}

// Without keys, lse is the sink.
// CHECK-LABEL: func @no_keys
// CHECK: %[[R:.*]] = linalg.broadcast ins(%{{.*}} : tensor<4xf32>) outs(%{{.*}} : tensor<2x4x5xf32>) dimensions = [0, 2]
// CHECK: return %{{.*}}, %[[R]]
func.func @no_keys(%q: tensor<2x4x5x8xf32>, %k: tensor<2x4x0x8xf32>, %sinks: tensor<4xf32>) -> (tensor<2x4x5x8xf32>, tensor<2x4x5xf32>) {
  %o, %l = attn.sdpa %q, %k, %k scale 0.5 sinks %sinks : tensor<4xf32> returning(out, lse)
      : (tensor<2x4x5x8xf32>, tensor<2x4x0x8xf32>, tensor<2x4x0x8xf32>) -> (tensor<2x4x5x8xf32>, tensor<2x4x5xf32>)
  return %o, %l : tensor<2x4x5x8xf32>, tensor<2x4x5xf32>
}
