// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A weight that comes in panels is not copied, and the next panel is prefetched.
// Where a step has all products, no sums wait, and their rows of out are fetched.
// RUN: attn-opt %s --convert-attn-to-cpu --canonicalize | FileCheck %s
#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 64, key_tile = 1024, unroll = 1, prefetch = 0>

// CHECK-LABEL: func.func private @many.project(
// CHECK-SAME: %{{[^,]*}}: memref<7x64xf32>, %[[W:[^,]*]]: memref<?x64x4xf32>, %{{[^,]*}}: memref<7x?xf32>, %{{[^,]*}}: memref<64x80xf32>)
// CHECK: %[[PANEL:.*]] = memref.subview %[[W]][%[[NUMBER:.*]], 0, 0] [1, 64, 4] [1, 1, 1] : memref<?x64x4xf32> to memref<64x4xf32, strided<[4, 1], offset: ?>>
// CHECK: arith.addi %[[NUMBER]], %c1
// CHECK: %[[NEXT:.*]] = memref.subview %[[W]]
// CHECK: scf.for %[[ROW:.*]] = %c0 to %c6 step %c2
// CHECK: memref.prefetch %arg2[%[[ROW]], %{{.*}}], write
// CHECK: memref.prefetch %arg2[%{{.*}}, %{{.*}}], write
// CHECK: memref.prefetch %[[NEXT]]
// CHECK: vector.load %[[PANEL]]
// CHECK: vector.store %{{.*}}, %arg2
// The last row.
// CHECK: iter_args(%{{.*}} = %{{.*}}) -> (vector<4xf32>)
// CHECK: func.func private @many.kernel
func.func private @many.kernel(%x: memref<7x64xf32>, %w: memref<?x64x4xf32>, %o: memref<7x?xf32>) {
  attn.project_tile %x, %w outs(%o : memref<7x?xf32>) {schedule = #s} : memref<7x64xf32>, memref<?x64x4xf32>
  return
}
