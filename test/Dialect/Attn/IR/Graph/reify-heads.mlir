// RUN: attn-opt %s -resolve-ranked-shaped-type-result-dims -canonicalize -cse | FileCheck %s
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Splitting and joining heads moves the sequence dimension.
// CHECK-LABEL: func @split
// CHECK-SAME: (%[[X:.*]]: tensor<?x?x64xf32>)
// CHECK: %[[S:.*]] = tensor.dim %[[X]], %c1
// CHECK: return %[[S]]
func.func @split(%x: tensor<?x?x64xf32>) -> index {
  %c2 = arith.constant 2 : index
  %h = attn.split_heads %x into 4 : tensor<?x?x64xf32> -> tensor<?x4x?x16xf32>
  %s = tensor.dim %h, %c2 : tensor<?x4x?x16xf32>
  return %s : index
}

// CHECK-LABEL: func @merge
// CHECK-SAME: (%[[X:.*]]: tensor<?x4x?x16xf32>)
// CHECK-DAG: %[[N:.*]] = arith.constant 64 : index
// CHECK-DAG: %[[S:.*]] = tensor.dim %[[X]], %c2
// CHECK: return %[[S]], %[[N]]
func.func @merge(%x: tensor<?x4x?x16xf32>) -> (index, index) {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %j = attn.merge_heads %x : tensor<?x4x?x16xf32> -> tensor<?x?x?xf32>
  %s = tensor.dim %j, %c1 : tensor<?x?x?xf32>
  %n = tensor.dim %j, %c2 : tensor<?x?x?xf32>
  return %s, %n : index, index
}
