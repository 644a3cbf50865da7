// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One row of booleans for all queries is read where it lies, and nothing in
// front of key 0 by a block that moves back.
// RUN: attn-opt %s --convert-attn-to-cpu --canonicalize --cse | FileCheck %s
#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 8, key_tile = 4, unroll = 1, prefetch = 0>

// CHECK: func.func private @f.online_edge({{.*}}, %[[M:.*]]: memref<1x?xi1>)
// CHECK-NOT: vector<4xi8>
// CHECK: vector.store
// CHECK: scf.for
// CHECK: %[[INSIDE:.*]] = arith.maxsi %{{.*}}, %c0 : index
// CHECK: %[[KEY:.*]] = arith.addi %{{.*}}, %[[INSIDE]] overflow<nsw>
// CHECK-NEXT: %[[BIT:.*]] = memref.load %[[M]][%c0, %[[KEY]]] : memref<1x?xi1>
// CHECK: vector.broadcast %[[BIT]] : i1 to vector<4xi1>
// CHECK: func.func private @f.kernel
func.func private @f.kernel(%q: memref<?x4xf32>, %k: memref<?x4xf32>, %v: memref<?x6xf32>, %b: index, %e: index, %sq: index, %sk: index, %m: memref<1x?xi1>) {
  %c0 = arith.constant 0 : index
  %s0 = attn.init_state %q scale 0.5 {schedule = #s} : memref<?x4xf32> -> <8 x 4 x 6, f32>
  %s1 = attn.online %s0, %k, %v rows %b to %e keys from %c0 lengths %sq, %sk where %m : memref<1x?xi1> mode edge {schedule = #s} : <8 x 4 x 6, f32>, memref<?x4xf32>, memref<?x6xf32>
  return
}
