// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lanes are columns: vectors of the weight where it lies, scalars of the input
// broadcast. The bias is where the sums begin.
// RUN: attn-opt %s --convert-attn-to-cpu --canonicalize | FileCheck %s
#s = #attn.schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 8, key_tile = 4, unroll = 1, prefetch = 0>

// CHECK: func.func private @f.project(%[[X:.*]]: memref<?x4xf32>, %[[W:.*]]: memref<4x?xf32>, %[[B:.*]]: memref<?xf32>, %[[O:.*]]: memref<?x?xf32>)
// CHECK: %[[START:.*]] = vector.load %[[B]]
// CHECK: %{{.*}}:2 = scf.for {{.*}} iter_args(%{{.*}} = %[[START]], %{{.*}} = %[[START]])
// CHECK: %[[COLUMNS:.*]] = vector.load %[[W]]
// CHECK: %[[I:.*]] = memref.load %[[X]]
// CHECK: %[[IB:.*]] = vector.broadcast %[[I]] : f32 to vector<4xf32>
// CHECK: vector.fma %[[IB]], %[[COLUMNS]], %{{.*}} : vector<4xf32>
// CHECK: vector.store %{{.*}}, %[[O]]
// CHECK: call @f.project(%arg0, %arg1, %arg2, %arg3)
func.func private @f.kernel(%x: memref<?x4xf32>, %w: memref<4x?xf32>, %b: memref<?xf32>, %o: memref<?x?xf32>) {
  attn.project_tile %x, %w bias %b : memref<?xf32> outs(%o : memref<?x?xf32>) {schedule = #s} : memref<?x4xf32>, memref<4x?xf32>
  return
}
