// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A full tile: scores by FMA of a broadcast key and a vector of queries, softmax,
// context by FMA of a broadcast value and a vector of weights. No predicate of the
// mask and no test of values: nothing is excluded.
// RUN: attn-opt %s --convert-attn-to-cpu --canonicalize | FileCheck %s
#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 8, key_tile = 4, unroll = 1, prefetch = 0>

// CHECK: func.func private @f.online_full(%[[S:.*]]: memref<46x4xf32>, %[[K:.*]]: memref<?x4xf32>, %[[V:.*]]: memref<?x6xf32>,
// CHECK-NOT: : vector<4xindex>
// CHECK-NOT: cmpf ord
// CHECK-NOT: arith.cmpi {{.*}} : vector<4xi32>
// CHECK: %[[Q:.*]] = vector.load %[[S]]
// CHECK: %[[X:.*]] = memref.load %[[K]]
// CHECK: %[[XB:.*]] = vector.broadcast %[[X]] : f32 to vector<4xf32>
// CHECK: vector.fma %[[XB]], %[[Q]], %{{.*}} : vector<4xf32>
// CHECK-NOT: arith.cmpi {{.*}} : vector<4xi32>
// CHECK: %[[Y:.*]] = memref.load %[[V]]
// CHECK-NEXT: %[[YB:.*]] = vector.broadcast %[[Y]] : f32 to vector<4xf32>
// CHECK-NEXT: vector.fma %[[YB]], %{{.*}}, %{{.*}} : vector<4xf32>
// CHECK-NOT: vector.reduction
// CHECK: func.func private @f.kernel
func.func private @f.kernel(%q: memref<?x4xf32>, %k: memref<?x4xf32>, %v: memref<?x6xf32>, %b: index, %e: index, %sq: index, %sk: index) {
  %c0 = arith.constant 0 : index
  %s0 = attn.init_state %q scale 0.5 {schedule = #s} : memref<?x4xf32> -> <8 x 4 x 6, f32>
  %s1 = attn.online %s0, %k, %v rows %b to %e keys from %c0 lengths %sq, %sk where causal(top_left) mode full {schedule = #s} : <8 x 4 x 6, f32>, memref<?x4xf32>, memref<?x6xf32>
  return
}
