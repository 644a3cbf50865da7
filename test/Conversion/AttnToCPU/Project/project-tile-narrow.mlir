// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A weight narrower than a panel is packed for any number of rows: its columns
// are read and written under a mask, but the sums are whole vectors.
// RUN: attn-opt %s --convert-attn-to-cpu --canonicalize | FileCheck %s
#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 8, key_tile = 4, unroll = 1, prefetch = 0>

// CHECK: func.func private @f.project(
// CHECK: %[[MASK:.*]] = vector.constant_mask [3] : vector<4xi1>
// CHECK: vector.maskedload %arg1{{.*}}, %[[MASK]]
// CHECK: vector.store %{{.*}}, %arg3
// CHECK: vector.fma
// CHECK-NOT: vector.store
// CHECK: vector.maskedstore %arg2
// CHECK-NOT: vector.store
// CHECK: func.func private @f.kernel
func.func private @f.kernel(%x: memref<?x4xf32>, %w: memref<4x3xf32>, %o: memref<?x3xf32>) {
  attn.project_tile %x, %w outs(%o : memref<?x3xf32>) {schedule = #s} : memref<?x4xf32>, memref<4x3xf32>
  return
}
