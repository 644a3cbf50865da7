// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rows of a transposed weight are columns of a panel: squares are transposed in
// registers. Rows that it lacks are not read. Few rows of the input take dot
// products instead (project-tile-dots.mlir).
// RUN: attn-opt %s --convert-attn-to-cpu --canonicalize | FileCheck %s
#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 64, key_tile = 1024, unroll = 1, prefetch = 0>

// CHECK-LABEL: func.func private @one.project(
// CHECK: %[[ROW:.*]] = arith.minsi %{{.*}}, %c5
// CHECK: vector.load %arg1
// CHECK: vector.shuffle
// CHECK: arith.select
// CHECK: vector.store %{{.*}}, %arg5
// CHECK: vector.fma
// CHECK: func.func private @one.kernel
func.func private @one.kernel(%x: memref<9x64xf32>, %w: memref<6x64xf32>, %o: memref<9x6xf32>) {
  attn.project_tile %x, %w transposed outs(%o : memref<9x6xf32>) {schedule = #s} : memref<9x64xf32>, memref<6x64xf32>
  return
}

// CHECK-LABEL: func.func private @panels.pack_panels(
// CHECK: vector.load %arg0
// CHECK: vector.shuffle
// CHECK: vector.store %{{.*}}, %arg1{{.*}} : memref<2x64x4xf32>
func.func private @panels.kernel(%w: memref<6x64xf32>, %p: memref<2x64x4xf32>) {
  attn.pack_panels %w transposed outs(%p : memref<2x64x4xf32>) {schedule = #s} : memref<6x64xf32>
  return
}
