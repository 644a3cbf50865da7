// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Of a weight that is narrower than a panel, only the vectors that it has are
// computed, and the last of them is written under a mask. The last rows are
// blocks of half as many.
// RUN: attn-opt %s --convert-attn-to-cpu --canonicalize | FileCheck %s
#s = #attn.cpu_schedule<lanes = 4, rows = 4, vectors = 3, query_tile = 24, key_tile = 4, unroll = 1, prefetch = 0>

// CHECK: func.func private @f.project(
// CHECK: %[[MASK:.*]] = vector.constant_mask [3] : vector<4xi1>
// CHECK: vector.maskedload %arg1{{.*}}, %[[MASK]]
// CHECK: vector.store %{{.*}}, %arg5
// CHECK: scf.for {{.*}} -> (vector<4xf32>, vector<4xf32>, vector<4xf32>, vector<4xf32>, vector<4xf32>, vector<4xf32>, vector<4xf32>, vector<4xf32>)
// CHECK-COUNT-8: vector.fma
// CHECK-NOT: vector.fma
// CHECK: vector.store %{{.*}}, %arg2
// CHECK: vector.maskedstore %arg2
// CHECK: scf.for {{.*}} -> (vector<4xf32>, vector<4xf32>, vector<4xf32>, vector<4xf32>)
// CHECK: scf.for {{.*}} -> (vector<4xf32>, vector<4xf32>)
// CHECK-NOT: iter_args
// CHECK: func.func private @f.kernel
func.func private @f.kernel(%x: memref<?x4xf32>, %w: memref<4x7xf32>, %o: memref<?x7xf32>) {
  attn.project_tile %x, %w outs(%o : memref<?x7xf32>) {schedule = #s} : memref<?x4xf32>, memref<4x7xf32>
  return
}
