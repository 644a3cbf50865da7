// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A saved state of lanes of queries: acc is transposed, m and l become the last two columns as they are. QueryBlocks that the rows
// do not fill are written row by row.
// RUN: attn-opt %s --convert-attn-to-cpu --canonicalize | FileCheck %s
#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 8, key_tile = 4, unroll = 1, prefetch = 0>

// CHECK: func.func private @f.save_state(%[[S:.*]]: memref<{{.*}}x4xf32>, %[[P:.*]]: memref<?x8xf32>)
// CHECK-DAG: %[[ROWS:.*]] = memref.dim %[[P]], %c0
// CHECK-DAG: %[[M:.*]] = memref.subview %[[P]][0, 6] [%{{.*}}, 1] [1, 1]
// CHECK-DAG: %[[L:.*]] = memref.subview %[[P]][0, 7] [%{{.*}}, 1] [1, 1]
// CHECK: scf.for
// CHECK: scf.if
// CHECK: vector.load %[[S]]
// CHECK: vector.store %{{.*}}, %[[P]]
// CHECK-NOT: arith.mulf
// CHECK: %[[X:.*]] = memref.load %[[S]]
// CHECK: memref.store %[[X]], %[[M]]
// CHECK: %[[Y:.*]] = memref.load %[[S]]
// CHECK: memref.store %[[Y]], %[[L]]
func.func private @f.kernel(%q: memref<?x4xf32>, %p: memref<?x8xf32>) {
  %s = attn.init_state %q scale 0.5 {schedule = #s} : memref<?x4xf32> -> !attn.state<8 x 4 x 6, f32>
  attn.save_state %s outs(%p : memref<?x8xf32>) {schedule = #s} : !attn.state<8 x 4 x 6, f32>
  return
}
