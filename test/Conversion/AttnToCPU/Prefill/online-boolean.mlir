// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A boolean matrix is transposed into the state: a byte per pair becomes 1.0 or
// 0.0, one vector of queries per key.
// RUN: attn-opt %s --convert-attn-to-cpu --canonicalize | FileCheck %s
#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 8, key_tile = 4, unroll = 1, prefetch = 0>

// The rows of the matrix make the state larger: 40 + 12 (key_tile, lanes and one block to spare).
// CHECK: func.func private @f.online_edge(%[[S:.*]]: memref<58x4xf32>, {{.*}}, %[[M:.*]]: memref<?x?xi1>)
// CHECK: llvm.load %{{.*}} : !llvm.ptr -> vector<4xi8>
// CHECK: vector.shuffle
// CHECK: vector.store %{{.*}}, %[[S]]
// CHECK: %[[BITS:.*]] = arith.cmpf ogt, %{{.*}}, %cst : vector<4xf32>
// CHECK-NEXT: arith.andi %{{.*}}, %[[BITS]] : vector<4xi1>
func.func private @f.kernel(%q: memref<?x4xf32>, %k: memref<?x4xf32>, %v: memref<?x6xf32>, %b: index, %e: index, %sq: index, %sk: index, %m: memref<?x?xi1>) {
  %c0 = arith.constant 0 : index
  %s0 = attn.init_state %q scale 0.5 {schedule = #s} : memref<?x4xf32> -> <8 x 4 x 6, f32>
  %s1 = attn.online %s0, %k, %v rows %b to %e keys from %c0 lengths %sq, %sk where %m : memref<?x?xi1> mode edge {schedule = #s} : <8 x 4 x 6, f32>, memref<?x4xf32>, memref<?x6xf32>
  return
}
