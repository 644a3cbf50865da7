// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The heads of a group share a state also under a score function, which sees the first of them; the sink of each head
// is added where its parts are combined.
// RUN: attn-opt %s --attn-assign-schedule --attn-tile-queries --canonicalize --cse | FileCheck %s

// CHECK-LABEL: func @function
// CHECK-SAME: %[[T:[a-z0-9]+]]: tensor<8x9xf32>, %[[SINKS:.*]]: tensor<8xf32>)
// CHECK: scf.forall (%[[B:.*]], %[[G:.*]], %{{.*}}) in
// CHECK: %[[H:.*]] = arith.muli %[[G]], %c4
// CHECK: attn.online {{.*}} score_mod (%[[X:.*]]: f32, %{{.*}}, %[[HEAD:.*]], %{{.*}}, %[[K:.*]]) of %[[B]], %[[H]] with (%[[C:.*]] = %[[T]] : tensor<8x9xf32>) {
// CHECK-NEXT: %[[E:.*]] = tensor.extract %[[C]][%[[HEAD]], %[[K]]]
// CHECK-NEXT: %[[Y:.*]] = arith.addf %[[X]], %[[E]]
// CHECK-NEXT: attn.yield %[[Y]]
// CHECK: mode full {heads = 4 : i64
// CHECK-NOT: attn.add_sink
// CHECK: scf.forall (%{{.*}}, %[[ONE:.*]]) in
// CHECK: %[[S:.*]] = tensor.extract %[[SINKS]][%[[ONE]]]
// CHECK: attn.combine %{{.*}} sink %[[S]] : f32
func.func @function(%q: tensor<?x8x2x8xf32>, %k: tensor<?x2x?x8xf32>, %table: tensor<8x9xf32>, %sinks: tensor<8xf32>) -> tensor<?x8x2x8xf32> {
  %o = attn.sdpa %q, %k, %k scale 0.5 score_mod (%x: f32, %b, %h, %i, %j) with (%t = %table : tensor<8x9xf32>) {
    %e = tensor.extract %t[%h, %j] : tensor<8x9xf32>
    %y = arith.addf %x, %e : f32
    attn.yield %y : f32
  } sinks %sinks : tensor<8xf32> : (tensor<?x8x2x8xf32>, tensor<?x2x?x8xf32>, tensor<?x2x?x8xf32>) -> tensor<?x8x2x8xf32>
  return %o : tensor<?x8x2x8xf32>
}

// Weights are written by kernels of the other kind.
// CHECK-LABEL: func @weights
// CHECK-NOT: kind = decode
// CHECK: attn.weigh
// CHECK-NOT: kind = decode
func.func @weights(%q: tensor<?x8x2x8xf32>, %k: tensor<?x2x?x8xf32>, %sinks: tensor<8xf32>) -> (tensor<?x8x2x8xf32>, tensor<?x8x2x?xf32>) {
  %o, %w = attn.sdpa %q, %k, %k scale 0.5 sinks %sinks : tensor<8xf32> returning(out, weights)
      : (tensor<?x8x2x8xf32>, tensor<?x2x?x8xf32>, tensor<?x2x?x8xf32>) -> (tensor<?x8x2x8xf32>, tensor<?x8x2x?xf32>)
  return %o, %w : tensor<?x8x2x8xf32>, tensor<?x8x2x?xf32>
}

// So are documents that rows are not cut at.
// CHECK-LABEL: func @documents
// CHECK-NOT: kind = decode
// CHECK: attn.finalize
func.func @documents(%q: tensor<?x8x2x8xf32>, %k: tensor<?x2x?x8xf32>, %ids: tensor<2xi32>, %of: tensor<?xi32>) -> tensor<?x8x2x8xf32> {
  %o = attn.sdpa %q, %k, %k scale 0.5 where not document(%ids : tensor<2xi32>, %of : tensor<?xi32>)
      : (tensor<?x8x2x8xf32>, tensor<?x2x?x8xf32>, tensor<?x2x?x8xf32>) -> tensor<?x8x2x8xf32>
  return %o : tensor<?x8x2x8xf32>
}
