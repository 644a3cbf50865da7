// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Many rows: the weight is copied to the scratch in panels, which all blocks of
// rows read. The first sums are the bias; sums that lack products wait in the
// scratch, and behind the end of the rows the last row is done again.
// RUN: attn-opt %s --convert-attn-to-cpu --canonicalize | FileCheck %s
#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 8, key_tile = 4, unroll = 1, prefetch = 0>

// CHECK: func.func private @f.project(%[[X:.*]]: memref<64x1200xf32>, %[[W:.*]]: memref<1200x?xf32>, %[[B:.*]]: memref<?xf32>, %[[O:.*]]: memref<64x?xf32>, %[[S:.*]]: memref<4160x4xf32>)
// CHECK: %[[COPY:.*]] = vector.load %[[W]]
// CHECK: vector.store %[[COPY]], %[[S]]
// CHECK: %[[MASK:.*]] = vector.create_mask
// CHECK: %[[PART:.*]] = vector.maskedload %[[W]]{{.*}}, %[[MASK]]
// CHECK: vector.store %[[PART]], %[[S]]
// CHECK: %[[START:.*]]:2 = scf.if
// CHECK: vector.load %{{.*}} : memref<1x?xf32>
// CHECK: vector.maskedload
// CHECK: } else {
// CHECK: vector.load %[[S]]
// CHECK: %[[SUMS:.*]]:2 = scf.for {{.*}} iter_args(%{{.*}} = %[[START]]#0, %{{.*}} = %[[START]]#1)
// CHECK: %[[COLUMNS:.*]] = vector.load %[[S]]
// CHECK: %[[I:.*]] = memref.load %[[X]]
// CHECK: %[[IB:.*]] = vector.broadcast %[[I]] : f32 to vector<4xf32>
// CHECK: vector.fma %[[IB]], %[[COLUMNS]], %{{.*}} : vector<4xf32>
// CHECK: vector.store %[[SUMS]]#0, %[[S]]
// CHECK: vector.store %[[SUMS]]#0, %[[O]]
// CHECK: vector.maskedstore %[[O]]{{.*}}, %[[SUMS]]#0
// CHECK: %[[SCRATCH:.*]] = memref.alloc() {alignment = 64 : i64} : memref<4160x4xf32>
// CHECK: call @f.project(%arg0, %arg1, %arg2, %arg3, %[[SCRATCH]])
func.func private @f.kernel(%x: memref<64x1200xf32>, %w: memref<1200x?xf32>, %b: memref<?xf32>, %o: memref<64x?xf32>) {
  attn.project_tile %x, %w bias %b : memref<?xf32> outs(%o : memref<64x?xf32>) {schedule = #s} : memref<64x1200xf32>, memref<1200x?xf32>
  return
}
