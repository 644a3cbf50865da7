// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rows are cut where the document changes; what keys a run of rows can see is computed from the numbers.
// RUN: attn-opt %s --attn-tile-queries --canonicalize --cse | FileCheck %s
#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>

// CHECK-LABEL: @batched(
// CHECK-SAME: %[[IDS:[^ ,]*]]: tensor<2x?xi32>)
// CHECK: scf.forall (%[[B:[^,]*]], %{{[^,]*}}, %{{[^,]*}}) in
// CHECK: %[[ROW:.*]] = tensor.extract_slice %[[IDS]][%[[B]], 0] [1, %{{.*}}] [1, 1] : tensor<2x?xi32> to tensor<?xi32>
// CHECK: scf.while (%{{[^ ]*}} = %{{[^ ]*}}, %{{[^ ]*}} = %{{[^ ]*}}) : (index, tensor<?x4xf32>)
// CHECK: ^bb0(%[[AT:[^ ]*]]: index, %[[OUT:[^ ]*]]: tensor<?x4xf32>)
// CHECK: %[[NEXT:.*]] = scf.while
// CHECK: %[[COUNT:.*]] = arith.subi %[[NEXT]], %[[AT]] : index
// CHECK: tensor.extract_slice %[[OUT]][%{{.*}}, 0] [%[[COUNT]], 4] [1, 1]
// CHECK: %[[RANGE:.*]]:2 = scf.for %{{.*}} = %[[AT]] to %{{.*}} step
// CHECK: %[[KEYS:.*]]:3 = scf.for %{{.*}} = %c0 to
// CHECK: attn.online %{{.*}} rows %[[AT]] to %{{.*}} where document(%[[ROW]] : tensor<?xi32> bounds %{{.*}} : index, %[[KEYS]]#1 : index, %{{.*}} : index) mode edge
// CHECK: tensor.insert_slice
// CHECK: tensor.parallel_insert_slice
func.func @batched(%q: tensor<2x3x?x4xf32>, %ids: tensor<2x?xi32>) -> tensor<2x3x?x4xf32> {
  %r = attn.sdpa %q, %q, %q scale 0.5 where document(%ids : tensor<2x?xi32>) {schedule = #s} : (tensor<2x3x?x4xf32>, tensor<2x3x?x4xf32>, tensor<2x3x?x4xf32>) -> tensor<2x3x?x4xf32>
  return %r : tensor<2x3x?x4xf32>
}

// Under `not` the rows of a tile stay together.
// CHECK-LABEL: @negated(
// CHECK-NOT: scf.while
// CHECK: where not document(
// CHECK-NOT: scf.while
func.func @negated(%q: tensor<?x4xf32>, %ids: tensor<?xi32>) -> tensor<?x4xf32> {
  %r = attn.sdpa %q, %q, %q scale 0.5 where not document(%ids : tensor<?xi32>) {schedule = #s} : (tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  return %r : tensor<?x4xf32>
}

// Documents given by where they begin get numbers, once.
// CHECK-LABEL: @cumulative(
// CHECK-SAME: %[[STARTS:[^ ,]*]]: tensor<?xi32>)
// CHECK: linalg.fill ins(%c-1_i32 : i32)
// CHECK: %[[QUERIES:.*]] = scf.for
// CHECK: linalg.fill ins(%c-2_i32 : i32)
// CHECK: %[[KEYS:.*]] = scf.for
// CHECK: scf.forall
// CHECK: where document(%[[QUERIES]] : tensor<?xi32>, %[[KEYS]] : tensor<?xi32> bounds
func.func @cumulative(%q: tensor<?x4xf32>, %starts: tensor<?xi32>) -> tensor<?x4xf32> {
  %r = attn.sdpa %q, %q, %q scale 0.5 where document(cumulative %starts : tensor<?xi32>) {schedule = #s} : (tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  return %r : tensor<?x4xf32>
}
