// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Many rows, a matrix: each step copies the input's columns, while it fetches
// rows behind them, packs four panels,
// which all blocks of rows read, and adds up to 256 products to the sums. The
// first sums are the bias; sums that lack products wait in the scratch.
// RUN: attn-opt %s --convert-attn-to-cpu --canonicalize | FileCheck %s
#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 64, key_tile = 1024, unroll = 1, prefetch = 0>

// CHECK: func.func private @f.project(%[[X:.*]]: memref<64x1200xf32>, %[[W:.*]]: memref<1200x?xf32>, %[[B:.*]]: memref<?xf32>, %[[O:.*]]: memref<64x?xf32>, %[[I:.*]]: memref<64x240xf32>, %[[S:.*]]: memref<12288x4xf32>, %[[P:.*]]: memref<960x4xf32>)
// CHECK: scf.for %[[BEGIN:.*]] = %c0 to %c1200 step %c240
// CHECK: scf.for %[[ROW:.*]] = %c0 to %c64 step %c1
// CHECK: %[[AHEAD:.*]] = arith.addi %[[ROW]], %c2
// CHECK: memref.prefetch %[[X]][%[[AHEAD]], %{{.*}}], read
// CHECK: %[[INPUT:.*]] = vector.load %[[X]]
// CHECK: vector.store %[[INPUT]], %[[I]]
// CHECK: scf.for %{{.*}} = %c0 to %{{.*}} step %c16
// CHECK: %[[COPY:.*]] = vector.load %[[W]]
// CHECK: vector.store %[[COPY]], %[[P]]
// CHECK: %[[MASK:.*]] = vector.create_mask
// CHECK: %[[PART:.*]] = vector.maskedload %[[W]]{{.*}}, %[[MASK]]
// CHECK: vector.store %[[PART]], %[[P]]
// CHECK: scf.for %{{.*}} = %c0 to %c64 step %c2
// CHECK: %[[ROWS:.*]] = memref.subview %[[I]][%{{.*}}, 0] [2, 240] [1, 1]
// CHECK: %[[START:.*]]:2 = scf.if
// CHECK: vector.load %{{.*}} : memref<1x?xf32>
// CHECK: } else {
// CHECK: vector.load %[[S]]
// CHECK: %[[SUMS:.*]]:2 = scf.for {{.*}} iter_args(%{{.*}} = %[[START]]#0, %{{.*}} = %[[START]]#1)
// CHECK: %[[COLUMNS:.*]] = vector.load %[[P]]
// CHECK: %[[NUMBER:.*]] = memref.load %[[ROWS]]
// CHECK: %[[ALL:.*]] = vector.broadcast %[[NUMBER]] : f32 to vector<4xf32>
// CHECK: vector.fma %[[ALL]], %[[COLUMNS]], %{{.*}} : vector<4xf32>
// CHECK: vector.store %[[SUMS]]#0, %[[S]]
// CHECK: vector.store %[[SUMS]]#0, %[[O]]
// The last panel.
// CHECK: scf.for %{{.*}} = %c0 to %c64 step %c2
// CHECK: vector.maskedstore %[[O]]
func.func private @f.kernel(%x: memref<64x1200xf32>, %w: memref<1200x?xf32>, %b: memref<?xf32>, %o: memref<64x?xf32>) {
  attn.project_tile %x, %w bias %b : memref<?xf32> outs(%o : memref<64x?xf32>) {schedule = #s} : memref<64x1200xf32>, memref<1200x?xf32>
  return
}
