// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Ops that differ only in their operands share a kernel.
// RUN: attn-opt %s --convert-attn-to-cpu --canonicalize | FileCheck %s
#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 8, key_tile = 4, unroll = 1, prefetch = 0>

// CHECK-COUNT-1: func.func private @f.project
// CHECK-NOT: func.func private @f.project
// CHECK: func.func private @f.kernel
// CHECK: call @f.project(%arg0, %arg2, %arg3, %{{.*}})
// CHECK-COUNT-3: memref.alloc()
// CHECK-NEXT: call @f.project(%arg1, %arg2, %arg4, %{{.*}})
func.func private @f.kernel(%x: memref<?x4xf32>, %y: memref<?x4xf32>, %w: memref<4x3xf32>, %o: memref<?x3xf32>, %p: memref<?x3xf32>) {
  attn.project_tile %x, %w outs(%o : memref<?x3xf32>) {schedule = #s} : memref<?x4xf32>, memref<4x3xf32>
  attn.project_tile %y, %w outs(%p : memref<?x3xf32>) {schedule = #s} : memref<?x4xf32>, memref<4x3xf32>
  return
}
