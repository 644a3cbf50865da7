// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One row of a bias for all queries: a scalar per key, broadcast. The last block
// moves back where keys are left over, and reads nothing in front of key 0.
// RUN: attn-opt %s --convert-attn-to-cpu --canonicalize --cse | FileCheck %s
#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 8, key_tile = 4, unroll = 1, prefetch = 0>

// CHECK: func.func private @f.online_full({{.*}}, %[[B:.*]]: memref<1x?xf32>)
// CHECK: %[[X:.*]] = memref.load %[[B]][%c0, %{{.*}}] : memref<1x?xf32>
// CHECK: vector.broadcast %[[X]] : f32 to vector<4xf32>
// CHECK: scf.for
// CHECK: %[[INSIDE:.*]] = arith.maxsi %{{.*}}, %c0 : index
// CHECK: %[[KEY:.*]] = arith.addi %{{.*}}, %[[INSIDE]] overflow<nsw>
// CHECK-NEXT: memref.load %[[B]][%c0, %[[KEY]]] : memref<1x?xf32>
func.func private @f.kernel(%q: memref<?x4xf32>, %k: memref<?x4xf32>, %v: memref<?x6xf32>, %b: index, %e: index, %sq: index, %sk: index, %x: memref<1x?xf32>) {
  %c0 = arith.constant 0 : index
  %s0 = attn.init_state %q scale 0.5 {schedule = #s} : memref<?x4xf32> -> <8 x 4 x 6, f32>
  %s1 = attn.online %s0, %k, %v rows %b to %e keys from %c0 lengths %sq, %sk bias %x : memref<1x?xf32> mode full {schedule = #s} : <8 x 4 x 6, f32>, memref<?x4xf32>, memref<?x6xf32>
  return
}
