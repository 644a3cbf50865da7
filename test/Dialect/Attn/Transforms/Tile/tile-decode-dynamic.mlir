// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A number of queries that is not known: one of the two loops has no batch entry.
// 8 rows are 8 queries of one head.
// RUN: attn-opt %s --attn-tile-queries --canonicalize --cse | FileCheck %s
#d = #attn.cpu_schedule<lanes = 4, rows = 3, vectors = 3, query_tile = 8, key_tile = 16, unroll = 2, prefetch = 0, kind = decode, split_keys = 64>
#p = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 16, unroll = 1, prefetch = 0>

// CHECK-LABEL: @unknown
// CHECK: %[[SQ:.*]] = tensor.dim %arg0, %c2
// CHECK: %[[FEW:.*]] = arith.cmpi ule, %[[SQ]], %c8
// CHECK: %[[MANYB:.*]] = arith.select %[[FEW]], %c0, %[[B:.*]] :
// CHECK: %[[FEWB:.*]] = arith.select %[[FEW]], %[[B]], %c0
// CHECK: scf.forall {{.*}} in (%[[FEWB]], 2, %{{.*}})
// CHECK: attn.save_state
// CHECK: %[[O:.*]] = scf.forall {{.*}} in (%[[FEWB]], 2)
// CHECK: attn.combine
// CHECK: scf.forall {{.*}} in (%[[MANYB]], 2, %{{.*}}) shared_outs(%{{.*}} = %[[O]])
// CHECK: attn.init_state {{.*}} -> <16 x 8 x 4, f32>
// CHECK: attn.finalize
func.func @unknown(%q: tensor<?x2x?x8xf32>, %k: tensor<?x2x?x8xf32>, %v: tensor<?x2x?x4xf32>) -> tensor<?x2x?x4xf32> {
  %o = attn.sdpa %q, %k, %v scale 0.5 {schedule = #p, decode_schedule = #d} : (tensor<?x2x?x8xf32>, tensor<?x2x?x8xf32>, tensor<?x2x?x4xf32>) -> tensor<?x2x?x4xf32>
  return %o : tensor<?x2x?x4xf32>
}
