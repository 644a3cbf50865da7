// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A row of a panel is one cache line: the first block of rows copies what it
// reads of the weight to the scratch, from which the others take it. Behind
// blocks of six rows come blocks of four, two, and one; eight rows are twice
// four.
// RUN: attn-opt %s --convert-attn-to-cpu --canonicalize | FileCheck %s
#s = #attn.cpu_schedule<lanes = 8, rows = 6, vectors = 2, query_tile = 96, key_tile = 1026, unroll = 1, prefetch = 0>

// CHECK-LABEL: func.func private @copied.project(
// CHECK-SAME: %[[X:[a-z0-9]*]]: memref<20x128xf32>, %[[W:[a-z0-9]*]]: memref<128x96xf32>, %{{[a-z0-9]*}}: memref<20x96xf32>, %{{.*}}, %{{.*}}, %[[COPY:[a-z0-9]*]]: memref<{{[0-9]*}}x16xf32>)
// CHECK: scf.for %{{.*}} = %c0 to %c128 step %c64
// CHECK: scf.for %{{.*}} = %c0 to %c96 step %c16
// CHECK: scf.for
// CHECK: memref.prefetch %[[W]]
// CHECK: vector.load %[[W]]
// CHECK: vector.load %[[W]]
// CHECK: vector.store %{{.*}}, %[[COPY]]
// CHECK-NOT: vector.load %[[W]]
// CHECK: vector.load %[[COPY]]
// CHECK: scf.for %{{.*}} = %c12 to %c20 step %c4
// CHECK: vector.load %[[COPY]]
// CHECK: func.func private @copied.kernel
func.func private @copied.kernel(%x: memref<20x128xf32>, %w: memref<128x96xf32>, %o: memref<20x96xf32>) {
  attn.project_tile %x, %w outs(%o : memref<20x96xf32>) {schedule = #s} : memref<20x128xf32>, memref<128x96xf32>
  return
}
