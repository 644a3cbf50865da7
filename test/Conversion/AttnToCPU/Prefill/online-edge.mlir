// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A tile on the edge: the causal predicate is one comparison of a broadcast
// scalar with the numbers of the lanes; excluded scores are -inf.
// RUN: attn-opt %s --convert-attn-to-cpu --canonicalize | FileCheck %s
#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 8, key_tile = 4, unroll = 1, prefetch = 0>

// CHECK: func.func private @f.online_edge(
// CHECK-DAG: %[[LANES:.*]] = arith.constant dense<[0, -1, -2, -3]> : vector<4xi32>
// CHECK-DAG: %[[INF:.*]] = arith.constant dense<0xFF800000> : vector<4xf32>
// CHECK: %[[X:.*]] = vector.broadcast %{{.*}} : i32 to vector<4xi32>
// CHECK: %[[SEES:.*]] = arith.cmpi sge, %[[X]], %[[LANES]] : vector<4xi32>
// CHECK: %[[BOTH:.*]] = arith.andi %{{.*}}, %[[SEES]] : vector<4xi1>
// CHECK: %[[SCORE:.*]] = arith.select %[[BOTH]], %{{.*}}, %[[INF]] : vector<4xi1>, vector<4xf32>
// CHECK: vector.store %[[SCORE]]
// CHECK: func.func private @f.kernel
func.func private @f.kernel(%q: memref<?x4xf32>, %k: memref<?x4xf32>, %v: memref<?x6xf32>, %b: index, %e: index, %sq: index, %sk: index) {
  %c0 = arith.constant 0 : index
  %s0 = attn.init_state %q scale 0.5 {schedule = #s} : memref<?x4xf32> -> <8 x 4 x 6, f32>
  %s1 = attn.online %s0, %k, %v rows %b to %e keys from %c0 lengths %sq, %sk where causal(top_left) mode edge {schedule = #s} : <8 x 4 x 6, f32>, memref<?x4xf32>, memref<?x6xf32>
  return
}
