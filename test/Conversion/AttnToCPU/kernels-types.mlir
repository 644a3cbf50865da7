// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Other types of the operands make another kernel too.
// RUN: attn-opt %s --convert-attn-to-cpu --canonicalize | FileCheck %s
#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 8, key_tile = 4, unroll = 1, prefetch = 0>

// CHECK: func.func private @f.project(%{{.*}}: memref<?x4xf32>
// CHECK: func.func private @f.project_1(%{{.*}}: memref<5x4xf32>
// CHECK: call @f.project(
// CHECK-COUNT-3: memref.alloc()
// CHECK-NEXT: call @f.project_1(
func.func private @f.kernel(%x: memref<?x4xf32>, %y: memref<5x4xf32>, %w: memref<4x3xf32>, %o: memref<?x3xf32>, %p: memref<5x3xf32>) {
  attn.project_tile %x, %w outs(%o : memref<?x3xf32>) {schedule = #s} : memref<?x4xf32>, memref<4x3xf32>
  attn.project_tile %y, %w outs(%p : memref<5x3xf32>) {schedule = #s} : memref<5x4xf32>, memref<4x3xf32>
  return
}
