// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every function has kernels of its own, with its name: labels in the assembly.
// RUN: attn-opt %s --convert-attn-to-cpu --canonicalize | FileCheck %s
#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 8, key_tile = 4, unroll = 1, prefetch = 0>

// CHECK: func.func private @f.project(
// CHECK: func.func private @f.kernel(
// CHECK: call @f.project(
// CHECK: func.func private @g.project(
// CHECK: func.func private @g.kernel(
// CHECK: call @g.project(
func.func private @f.kernel(%x: memref<?x4xf32>, %w: memref<4x3xf32>, %o: memref<?x3xf32>) {
  attn.project_tile %x, %w outs(%o : memref<?x3xf32>) {schedule = #s} : memref<?x4xf32>, memref<4x3xf32>
  return
}
func.func private @g.kernel(%x: memref<?x4xf32>, %w: memref<4x3xf32>, %o: memref<?x3xf32>) {
  attn.project_tile %x, %w outs(%o : memref<?x3xf32>) {schedule = #s} : memref<?x4xf32>, memref<4x3xf32>
  return
}
