// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A weight of 0 times an infinite value is not a number. A tile on the edge
// therefore tests its values: finite ones take the fast loop, others one that
// leaves excluded pairs out.
// RUN: attn-opt %s --convert-attn-to-cpu --canonicalize | FileCheck %s
#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 8, key_tile = 4, unroll = 1, prefetch = 0>

// CHECK: func.func private @f.online_edge(%[[S:.*]]: memref<46x4xf32>, %{{.*}}: memref<?x4xf32>, %[[V:.*]]: memref<?x6xf32>,
// CHECK: %[[ORD:.*]] = arith.cmpf ord,
// CHECK-NEXT: %[[FINITE:.*]] = vector.reduction <and>, %[[ORD]]
// CHECK-NEXT: scf.if %[[FINITE]] {
// CHECK: } else {
// CHECK: %[[W:.*]] = vector.load %[[S]]
// CHECK: memref.load %[[V]]
// CHECK: %[[NEXT:.*]] = vector.fma %{{.*}}, %{{.*}}, %[[SUM:.*]] : vector<4xf32>
// CHECK-NEXT: %[[NONE:.*]] = arith.cmpf oeq, %{{.*}} : vector<4xf32>
// CHECK-NEXT: arith.select %[[NONE]], %[[SUM]], %[[NEXT]] : vector<4xi1>, vector<4xf32>
// CHECK: func.func private @f.kernel
func.func private @f.kernel(%q: memref<?x4xf32>, %k: memref<?x4xf32>, %v: memref<?x6xf32>, %b: index, %e: index, %sq: index, %sk: index) {
  %c0 = arith.constant 0 : index
  %s0 = attn.init_state %q scale 0.5 {schedule = #s} : memref<?x4xf32> -> <8 x 4 x 6, f32>
  %s1 = attn.online %s0, %k, %v rows %b to %e keys from %c0 lengths %sq, %sk where causal(top_left) mode edge {schedule = #s} : <8 x 4 x 6, f32>, memref<?x4xf32>, memref<?x6xf32>
  return
}
