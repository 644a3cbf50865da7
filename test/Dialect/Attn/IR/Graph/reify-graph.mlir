// RUN: attn-opt %s -resolve-ranked-shaped-type-result-dims -canonicalize -cse | FileCheck %s
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sizes of results come from the operands that have them.
// CHECK-LABEL: func @scores
// CHECK-SAME: (%[[Q:.*]]: tensor<?x?x?x64xf32>, %[[K:.*]]: tensor<?x?x?x64xf32>)
// CHECK-DAG: %[[SQ:.*]] = tensor.dim %[[Q]], %c2
// CHECK-DAG: %[[SK:.*]] = tensor.dim %[[K]], %c2
// CHECK: return %[[SQ]], %[[SK]]
func.func @scores(%q: tensor<?x?x?x64xf32>, %k: tensor<?x?x?x64xf32>) -> (index, index) {
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %s = attn.scores %q, %k : (tensor<?x?x?x64xf32>, tensor<?x?x?x64xf32>) -> tensor<?x?x?x?xf32>
  %x = attn.scale %s by 0.5 : tensor<?x?x?x?xf32>
  %m = attn.mask %x where causal(top_left) : tensor<?x?x?x?xf32>
  %w = attn.softmax %m : tensor<?x?x?x?xf32>
  %i = tensor.dim %w, %c2 : tensor<?x?x?x?xf32>
  %j = tensor.dim %w, %c3 : tensor<?x?x?x?xf32>
  return %i, %j : index, index
}

// CHECK-LABEL: func @context
// CHECK-SAME: (%[[W:.*]]: tensor<?x?xf32>, %[[V:.*]]: tensor<?x?xf32>)
// CHECK-DAG: %[[I:.*]] = tensor.dim %[[W]], %c0
// CHECK-DAG: %[[J:.*]] = tensor.dim %[[V]], %c1
// CHECK: return %[[I]], %[[J]]
func.func @context(%w: tensor<?x?xf32>, %v: tensor<?x?xf32>) -> (index, index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %o = attn.context %w, %v : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  %i = tensor.dim %o, %c0 : tensor<?x?xf32>
  %j = tensor.dim %o, %c1 : tensor<?x?xf32>
  return %i, %j : index, index
}
