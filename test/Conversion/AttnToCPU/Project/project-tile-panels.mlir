// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A weight that comes in panels is not copied. A single row reads several panels
// side by side.
// RUN: attn-opt %s --convert-attn-to-cpu --canonicalize | FileCheck %s
#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 8, key_tile = 4, unroll = 1, prefetch = 0>

// CHECK-LABEL: func.func private @many.project(
// CHECK-SAME: %[[W:[^,]*]]: memref<?x64x4xf32>
// CHECK-NOT: vector.maskedload
// CHECK: %[[PANEL:.*]] = memref.subview %[[W]][%{{.*}}, 0, 0] [1, 64, 4] [1, 1, 1] : memref<?x64x4xf32> to memref<64x4xf32, strided<[4, 1], offset: ?>>
// CHECK: vector.load %[[PANEL]]
// CHECK: func.func private @many.kernel
func.func private @many.kernel(%x: memref<7x64xf32>, %w: memref<?x64x4xf32>, %o: memref<7x?xf32>) {
  attn.project_tile %x, %w outs(%o : memref<7x?xf32>) {schedule = #s} : memref<7x64xf32>, memref<?x64x4xf32>
  return
}

// CHECK-LABEL: func.func private @one.project(
// CHECK-COUNT-8: memref.subview %{{.*}} [1, 64, 4] [1, 1, 1]
// CHECK: iter_args
// CHECK-COUNT-8: vector.fma
// CHECK: func.func private @one.kernel
func.func private @one.kernel(%x: memref<1x64xf32>, %w: memref<9x64x4xf32>, %o: memref<1x34xf32>) {
  attn.project_tile %x, %w outs(%o : memref<1x34xf32>) {schedule = #s} : memref<1x64xf32>, memref<9x64x4xf32>
  return
}
