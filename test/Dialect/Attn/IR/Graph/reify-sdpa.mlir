// RUN: attn-opt %s -resolve-ranked-shaped-type-result-dims -canonicalize -cse | FileCheck %s
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Layouts are honoured: the sequence of out comes from dimension 1 of a bshd query.
// CHECK-LABEL: func @sdpa
// CHECK-SAME: (%[[Q:.*]]: tensor<?x?x8x64xf32>, %[[K:.*]]: tensor<?x2x?x64xf32>)
// CHECK-DAG: %[[SQ:.*]] = tensor.dim %[[Q]], %c1
// CHECK-DAG: %[[SK:.*]] = tensor.dim %[[K]], %c2
// CHECK: return %[[SQ]], %[[SQ]], %[[SK]]
func.func @sdpa(%q: tensor<?x?x8x64xf32>, %k: tensor<?x2x?x64xf32>) -> (index, index, index) {
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %o, %l, %w = attn.sdpa %q, %k, %k scale 0.125 returning(out, lse, weights) {query_layout = #attn<layout bshd>}
      : (tensor<?x?x8x64xf32>, tensor<?x2x?x64xf32>, tensor<?x2x?x64xf32>) -> (tensor<?x8x?x64xf32>, tensor<?x8x?xf32>, tensor<?x8x?x?xf32>)
  %i = tensor.dim %o, %c2 : tensor<?x8x?x64xf32>
  %j = tensor.dim %l, %c2 : tensor<?x8x?xf32>
  %n = tensor.dim %w, %c3 : tensor<?x8x?x?xf32>
  return %i, %j, %n : index, index, index
}

// The state's maximum has a row per query, its acc the shape of out.
// CHECK-LABEL: func @state
// CHECK-SAME: (%[[Q:.*]]: tensor<?x?x8x64xf32>, %[[K:.*]]: tensor<?x2x?x64xf32>)
// CHECK-DAG: %[[B:.*]] = tensor.dim %[[Q]], %c0
// CHECK-DAG: %[[SQ:.*]] = tensor.dim %[[Q]], %c1
// CHECK: return %[[B]], %[[SQ]], %[[SQ]], %[[B]]
func.func @state(%q: tensor<?x?x8x64xf32>, %k: tensor<?x2x?x64xf32>) -> (index, index, index, index) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %o, %m, %l, %a = attn.sdpa %q, %k, %k scale 0.125 returning(out, state) {query_layout = #attn<layout bshd>}
      : (tensor<?x?x8x64xf32>, tensor<?x2x?x64xf32>, tensor<?x2x?x64xf32>) -> (tensor<?x8x?x64xf32>, tensor<?x8x?xf32>, tensor<?x8x?xf32>, tensor<?x8x?x64xf32>)
  %i = tensor.dim %m, %c0 : tensor<?x8x?xf32>
  %j = tensor.dim %l, %c2 : tensor<?x8x?xf32>
  %n = tensor.dim %a, %c2 : tensor<?x8x?x64xf32>
  %p = tensor.dim %a, %c0 : tensor<?x8x?x64xf32>
  return %i, %j, %n, %p : index, index, index, index
}

// CHECK-LABEL: func @merged
// CHECK-SAME: (%[[M:.*]]: tensor<?xf32>, %[[A:.*]]: tensor<?x?xf32>)
// CHECK-DAG: %[[ROWS:.*]] = tensor.dim %[[M]], %c0
// CHECK-DAG: %[[COLUMNS:.*]] = tensor.dim %[[A]], %c1
// CHECK: return %[[ROWS]], %[[COLUMNS]]
func.func @merged(%m: tensor<?xf32>, %a: tensor<?x?xf32>) -> (index, index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r:3 = attn.merge_states %m, %m, %a with %m, %m, %a : tensor<?xf32>, tensor<?x?xf32>
  %o, %e = attn.finalize_state %r#0, %r#1, %r#2 : (tensor<?xf32>, tensor<?xf32>, tensor<?x?xf32>) -> (tensor<?x?xf16>, tensor<?xf32>)
  %i = tensor.dim %e, %c0 : tensor<?xf32>
  %j = tensor.dim %o, %c1 : tensor<?x?xf16>
  return %i, %j : index, index
}
