// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The queries of the 4 heads of a group are rows of one state, which has room for 2
// queries of each: row g * Sq + i is query i of head g.
// RUN: attn-opt %s --attn-tile-queries --canonicalize --cse | FileCheck %s
#d = #attn.cpu_schedule<lanes = 4, rows = 3, vectors = 3, query_tile = 8, key_tile = 16, unroll = 2, prefetch = 0, kind = decode, split_keys = 64>
#p = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 16, unroll = 1, prefetch = 0>

// CHECK-LABEL: @grouped
// CHECK: %[[SQ:.*]] = tensor.dim %arg0, %c2
// CHECK: arith.cmpi ule, %[[SQ]], %c2
// CHECK: %[[ROWS:.*]] = arith.muli %[[SQ]], %c4
// CHECK: %[[PARTS:.*]] = scf.forall (%[[N:.*]], %[[G:.*]], %[[S:.*]]) in (%{{.*}}, 2, %{{.*}})
// CHECK: %[[H0:.*]] = arith.muli %[[G]], %c4
// CHECK: %[[KV:.*]] = arith.divui %[[H0]], %c4
// CHECK: %[[Q:.*]] = scf.for %[[I:.*]] = %c0 to %c4 step %c1 iter_args(%[[T:.*]] = %{{.*}}) -> (tensor<8x8xf32>)
// CHECK: %[[H:.*]] = arith.addi %[[H0]], %[[I]]
// CHECK: %[[R:.*]] = arith.muli %[[I]], %[[SQ]]
// CHECK: %[[M:.*]] = tensor.extract_slice %arg0[%[[N]], %[[H]], 0, 0] [1, 1, %[[SQ]], 8]
// CHECK: tensor.insert_slice %[[M]] into %[[T]][%[[R]], 0] [%[[SQ]], 8]
// CHECK: tensor.extract_slice %[[Q]][0, 0] [%[[ROWS]], 8]
// CHECK: tensor.extract_slice %arg1[%[[N]], %[[KV]],
// CHECK: tensor.extract_slice %arg2[%[[N]], %[[KV]],
// CHECK: attn.online {{.*}} rows %c0 to %[[SQ]] {{.*}} {heads = 4 : i64,
// CHECK: scf.forall (%[[N2:.*]], %[[H2:.*]]) in (%{{.*}}, 8)
// CHECK: %[[GROUP:.*]] = arith.divui %[[H2]], %c4
// CHECK: %[[WITHIN:.*]] = arith.remui %[[H2]], %c4
// CHECK: %[[ROW:.*]] = arith.muli %[[WITHIN]], %[[SQ]]
// CHECK: %[[OF:.*]] = tensor.extract_slice %[[PARTS]][%[[N2]], %[[GROUP]], 0, %[[ROW]], 0] [1, 1, %{{.*}}, %[[SQ]], 6]
// CHECK: attn.combine %[[OF]] outs(%{{.*}}, %{{.*}} : tensor<?x4xf32>, tensor<?xf32>)
func.func @grouped(%q: tensor<?x8x?x8xf32>, %k: tensor<?x2x?x8xf32>, %v: tensor<?x2x?x4xf32>) -> (tensor<?x8x?x4xf32>, tensor<?x8x?xf32>) {
  %o, %l = attn.sdpa %q, %k, %v scale 0.5 returning(out, lse) {schedule = #p, decode_schedule = #d} : (tensor<?x8x?x8xf32>, tensor<?x2x?x8xf32>, tensor<?x2x?x4xf32>) -> (tensor<?x8x?x4xf32>, tensor<?x8x?xf32>)
  return %o, %l : tensor<?x8x?x4xf32>, tensor<?x8x?xf32>
}
