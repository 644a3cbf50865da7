// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Within a tile on the edge the blocks that all queries of a query block see need no
// predicate: one loop of two has none, the other takes the blocks on both sides.
// RUN: attn-opt %s --convert-attn-to-cpu --canonicalize | FileCheck %s
#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 8, key_tile = 4, unroll = 1, prefetch = 0>

// CHECK: func.func private @f.online_edge(
// CHECK-NOT: arith.cmpi sge, %{{.*}}, %{{.*}} : vector<4xi32>
// CHECK: scf.for %{{.*}} = %[[FROM:.*]] to %[[TO:.*]] step %c2 {
// CHECK-NOT: arith.cmpi sge, %{{.*}}, %{{.*}} : vector<4xi32>
// CHECK: %[[LEFT:.*]] = arith.subi %[[FROM]], %[[BEGIN:.*]] overflow
// CHECK-NOT: arith.cmpi sge, %{{.*}}, %{{.*}} : vector<4xi32>
// CHECK: %[[BEHIND:.*]] = arith.subi %[[TO]], %[[KEYS:.*]] overflow
// CHECK: scf.for %[[I:.*]] = %c0 to %{{.*}} step %c2 {
// CHECK: %[[IS_LEFT:.*]] = arith.cmpi slt, %[[I]], %[[KEYS]] : index
// CHECK: arith.select %[[IS_LEFT]], %[[BEGIN]], %[[BEHIND]] : index
// CHECK: arith.cmpi sge, %{{.*}}, %{{.*}} : vector<4xi32>
// CHECK: func.func private @f.kernel
func.func private @f.kernel(%q: memref<?x4xf32>, %k: memref<?x4xf32>, %v: memref<?x6xf32>, %b: index, %e: index, %sq: index, %sk: index) {
  %c0 = arith.constant 0 : index
  %s0 = attn.init_state %q scale 0.5 {schedule = #s} : memref<?x4xf32> -> <8 x 4 x 6, f32>
  %s1 = attn.online %s0, %k, %v rows %b to %e keys from %c0 lengths %sq, %sk where causal(top_left) mode edge {schedule = #s} : <8 x 4 x 6, f32>, memref<?x4xf32>, memref<?x6xf32>
  return
}
