// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A position in a document is a table with a distance per query row, and in the tile op, whose rows belong to one
// document, an offset: that of its first row. Terms with the same position share a table.
// RUN: attn-opt %s --attn-tile-queries --canonicalize --cse | FileCheck %s
#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>

// CHECK-LABEL: @ends(
// CHECK-SAME: %[[Q:[^ ,]*]]: tensor<?xi32>, %[[K:[^ ,]*]]: tensor<?xi32>)
// The numbers of queries and keys, where keys begin and end, then the distances.
// CHECK-COUNT-2: linalg.fill ins(%c-{{[12]}}_i32 : i32)
// CHECK: linalg.fill ins(%c0_i32 : i32)
// CHECK-COUNT-4: scf.for
// CHECK: %[[TABLE:.*]] = scf.for %[[D:.*]] = %c0 to %{{.*}} step %c1
// CHECK: %[[NEXT:.*]] = arith.addi %[[D]], %c1
// CHECK-DAG: %[[LASTK:.*]] = tensor.extract %[[K]][%[[NEXT]]]
// CHECK-DAG: %[[LASTQ:.*]] = tensor.extract %[[Q]][%[[NEXT]]]
// CHECK: arith.subi
// CHECK-NOT: linalg.fill
// CHECK: scf.forall
// CHECK: ^bb0(%[[ROW:[^ ]*]]: index, %{{[^ ]*}}: tensor<?x4xf32>)
// CHECK: %[[FIRST:.*]] = tensor.extract %[[TABLE]][%[[ROW]]]
// CHECK: %[[OFFSET:.*]] = arith.index_cast %[[FIRST]] : i32 to index
// CHECK: where document({{.*}}) and causal(offset = %[[OFFSET]] : index) and window(left = 3, offset = %[[OFFSET]] : index) mode edge
func.func @ends(%q: tensor<?x4xf32>, %k: tensor<?x4xf32>, %cu_q: tensor<?xi32>, %cu_k: tensor<?xi32>) -> tensor<?x4xf32> {
  %r = attn.sdpa %q, %k, %k scale 0.5
      where document(cumulative %cu_q : tensor<?xi32>, %cu_k : tensor<?xi32>) and causal(bottom_right in document) and window(left = 3, bottom_right in document)
      {schedule = #s} : (tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  return %r : tensor<?x4xf32>
}

// Chunks begin at the document's first key.
// CHECK-LABEL: @chunks(
// CHECK: scf.forall
// CHECK: ^bb0(%[[ROW:[^ ]*]]: index, %{{[^ ]*}}: tensor<?x4xf32>)
// CHECK-DAG: tensor.extract %[[A:[^ ]*]][%[[ROW]]]
// CHECK-DAG: tensor.extract %[[B:[^ ]*]][%[[ROW]]]
// CHECK: and (chunked(8, from %{{.*}} : index, offset = %{{.*}} : index) or not dilated(2, offset = %{{.*}} : index))
func.func @chunks(%q: tensor<?x4xf32>, %cu: tensor<?xi32>) -> tensor<?x4xf32> {
  %r = attn.sdpa %q, %q, %q scale 0.5
      where document(cumulative %cu : tensor<?xi32>) and (chunked(8, top_left in document) or not dilated(2, bottom_right in document))
      {schedule = #s} : (tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  return %r : tensor<?x4xf32>
}
