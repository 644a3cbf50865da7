// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// By sigmoid a score becomes 2^x / (1 + 2^x), x at most 64, and the context is added to: no maximum, no sum, no factor for what
// was there. In edge tiles an excluded score is -inf, whose weight is 0.
// RUN: attn-opt %s --convert-attn-to-cpu --canonicalize | FileCheck %s
#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 8, key_tile = 4, unroll = 1, prefetch = 0>

// CHECK: func.func private @f.online_full(%[[S:.*]]: memref<46x4xf32>, %[[K:.*]]: memref<?x4xf32>, %[[V:.*]]: memref<?x6xf32>,
// CHECK-DAG: %[[LIMIT:.*]] = arith.constant dense<6.400000e+01> : vector<4xf32>
// CHECK-DAG: %[[ONE:.*]] = arith.constant dense<1.000000e+00> : vector<4xf32>
// CHECK: vector.fma
// CHECK-NOT: arith.cmpf
// CHECK: vector.store
// CHECK: %[[C:.*]] = arith.cmpf ogt, %[[X:.*]], %[[LIMIT]]
// CHECK-NEXT: %[[Y:.*]] = arith.select %[[C]], %[[LIMIT]], %[[X]]
// CHECK-NEXT: %[[P:.*]] = math.exp2 %[[Y]]
// CHECK-NEXT: %[[D:.*]] = arith.addf %[[P]], %[[ONE]]
// CHECK-NEXT: %[[W:.*]] = arith.divf %[[P]], %[[D]]
// CHECK-NEXT: vector.store %[[W]], %[[S]]
// CHECK-NOT: math.exp2
// CHECK: vector.fma
// CHECK: %[[OLD:.*]] = vector.load %[[S]]
// CHECK-NEXT: %[[SUM:.*]] = arith.addf %[[OLD]], %{{.*}} : vector<4xf32>
// CHECK-NEXT: vector.store %[[SUM]], %[[S]]
// CHECK-NOT: arith.mulf {{.*}} : vector<4xf32>
// CHECK: func.func private @f.online_edge(
// CHECK: arith.select {{.*}} : vector<4xi1>, vector<4xf32>
// CHECK: math.exp2
// CHECK-NOT: math.exp2
// CHECK: cmpf ord
// CHECK: func.func private @f.kernel
func.func private @f.kernel(%q: memref<?x4xf32>, %k: memref<?x4xf32>, %v: memref<?x6xf32>, %b: index, %e: index, %sq: index, %sk: index) {
  %c0 = arith.constant 0 : index
  %s0 = attn.init_state %q scale 0.5 {schedule = #s} : memref<?x4xf32> -> <8 x 4 x 6, f32 by sigmoid>
  %s1 = attn.online %s0, %k, %v rows %b to %e keys from %c0 lengths %sq, %sk where causal(top_left) mode full {schedule = #s} : <8 x 4 x 6, f32 by sigmoid>, memref<?x4xf32>, memref<?x6xf32>
  %s2 = attn.online %s1, %k, %v rows %b to %e keys from %c0 lengths %sq, %sk where causal(top_left) mode edge {schedule = #s} : <8 x 4 x 6, f32 by sigmoid>, memref<?x4xf32>, memref<?x6xf32>
  return
}
