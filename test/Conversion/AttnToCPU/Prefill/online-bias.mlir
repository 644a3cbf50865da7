// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A bias is added to the scores in units of log2, also in full tiles. It may hold
// -inf, so values are tested as on the edge.
// RUN: attn-opt %s --convert-attn-to-cpu --canonicalize | FileCheck %s
#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 8, key_tile = 4, unroll = 1, prefetch = 0>

// CHECK: func.func private @f.online_full(%[[S:.*]]: memref<58x4xf32>, {{.*}}, %[[B:.*]]: memref<?x?xf32>)
// CHECK-DAG: %[[LOG2E:.*]] = arith.constant dense<1.44269502> : vector<4xf32>
// CHECK: %[[ROW:.*]] = vector.load %[[B]]
// CHECK: arith.mulf %[[ROW]], %[[LOG2E]]
// CHECK: vector.store %{{.*}}, %[[S]]
// CHECK: vector.fma
// CHECK: %[[NONE:.*]] = arith.cmpf oeq, %[[X:.*]], %[[INF:.*]] : vector<4xf32>
// CHECK-NEXT: %[[SUM:.*]] = arith.addf %{{.*}}, %[[X]] : vector<4xf32>
// CHECK-NEXT: %{{.*}} = arith.select %[[NONE]], %[[INF]], %[[SUM]]
// CHECK: arith.cmpf ord,
// CHECK: func.func private @f.kernel
func.func private @f.kernel(%q: memref<?x4xf32>, %k: memref<?x4xf32>, %v: memref<?x6xf32>, %b: index, %e: index, %sq: index, %sk: index, %x: memref<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %s0 = attn.init_state %q scale 0.5 {schedule = #s} : memref<?x4xf32> -> <8 x 4 x 6, f32>
  %s1 = attn.online %s0, %k, %v rows %b to %e keys from %c0 lengths %sq, %sk bias %x : memref<?x?xf32> mode full {schedule = #s} : <8 x 4 x 6, f32>, memref<?x4xf32>, memref<?x6xf32>
  return
}
