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
