// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Two blocks of rows. In panels, steps of 64 rows for both blocks, which fetch
// half a panel's row per turn, 144 rows ahead; the sums wait in the scratch. In
// place, steps of 16 rows.
// RUN: attn-opt %s --convert-attn-to-cpu --canonicalize | FileCheck %s
#s = #attn.cpu_schedule<lanes = 16, rows = 2, vectors = 2, query_tile = 64, key_tile = 1024, unroll = 1, prefetch = 0>

// CHECK-LABEL: func.func private @panels.project(
// CHECK-SAME: %[[W:[a-z0-9]*]]: memref<2x128x32xf32>, %{{.*}}: memref<4x64xf32>, %{{.*}}: memref<64x144xf32>, %[[SUMS:[a-z0-9]*]]: memref<16x32xf32>)
// CHECK: scf.for %{{.*}} = %c0 to %c128 step %c64
// CHECK: scf.for %[[ROW:.*]] = %c0 to %c4 step %c2
// CHECK: scf.if
// CHECK: } else {
// CHECK: vector.load %[[SUMS]]
// CHECK: scf.for %{{.*}} = %c0 to %c64 step %c1
// CHECK: memref.prefetch
// CHECK-NOT: memref.prefetch
// CHECK: vector.load
// CHECK: vector.store %{{.*}}, %[[SUMS]]
// CHECK: func.func private @panels.kernel
func.func private @panels.kernel(%x: memref<4x128xf32>, %w: memref<2x128x32xf32>, %o: memref<4x64xf32>) {
  attn.project_tile %x, %w outs(%o : memref<4x64xf32>) {attn.few_rows, schedule = #s} : memref<4x128xf32>, memref<2x128x32xf32>
  return
}

// CHECK-LABEL: func.func private @place.project(
// CHECK-SAME: %[[W:[a-z0-9]*]]: memref<128x96xf32>, %{{.*}}: memref<3x96xf32>
// CHECK: scf.for %{{.*}} = %c0 to %c128 step %c16
// CHECK: scf.for %{{.*}} = %c0 to %c96 step %c32
// CHECK: memref.prefetch %[[W]]
// CHECK-NOT: memref.prefetch
// CHECK: vector.load %[[W]]
// CHECK: func.func private @place.kernel
func.func private @place.kernel(%x: memref<3x128xf32>, %w: memref<128x96xf32>, %o: memref<3x96xf32>) {
  attn.project_tile %x, %w outs(%o : memref<3x96xf32>) {attn.few_rows, schedule = #s} : memref<3x128xf32>, memref<128x96xf32>
  return
}

// Without the mark: one step of all rows, whose sums wait nowhere.
// CHECK-LABEL: func.func private @many.project(
// CHECK-SAME: %{{.*}}: memref<4x64xf32>, %{{.*}}: memref<64x144xf32>)
// CHECK: scf.for %{{.*}} = %c0 to %c128 step %c1
func.func private @many.kernel(%x: memref<4x128xf32>, %w: memref<2x128x32xf32>, %o: memref<4x64xf32>) {
  attn.project_tile %x, %w outs(%o : memref<4x64xf32>) {schedule = #s} : memref<4x128xf32>, memref<2x128x32xf32>
  return
}
