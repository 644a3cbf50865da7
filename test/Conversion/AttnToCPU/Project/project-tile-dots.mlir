// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Few rows with a transposed weight: lanes are products. Numbers behind the last
// whole vector are masked, lanes are added at the end, and the next rows of the
// weight are prefetched. Nothing is transposed.
// RUN: attn-opt %s --convert-attn-to-cpu --canonicalize | FileCheck %s
#s = #attn.cpu_schedule<lanes = 4, rows = 4, vectors = 2, query_tile = 64, key_tile = 1024, unroll = 1, prefetch = 0>

// CHECK-LABEL: func.func private @two.project(
// CHECK: scf.for %{{.*}} = %c0 to %c16 step %c1 iter_args({{.*}}) -> (vector<4xf32>, vector<4xf32>, vector<4xf32>, vector<4xf32>, vector<4xf32>, vector<4xf32>, vector<4xf32>, vector<4xf32>)
// CHECK: vector.load %arg0
// CHECK: vector.load %arg0
// CHECK: memref.prefetch %arg1
// CHECK: vector.load %arg1
// CHECK: vector.fma
// CHECK: vector.maskedload %arg1
// CHECK: vector.shuffle %{{.*}} [2, 3, 0, 1]
// CHECK: vector.shuffle %{{.*}} [1, 0, 3, 2]
// CHECK: memref.store
// CHECK: vector.maskedstore %arg2
// CHECK: func.func private @two.kernel
func.func private @two.kernel(%x: memref<2x66xf32>, %w: memref<9x66xf32>, %o: memref<2x9xf32>) {
  attn.project_tile %x, %w transposed outs(%o : memref<2x9xf32>) {attn.few_rows, schedule = #s} : memref<2x66xf32>, memref<9x66xf32>
  return
}

// More than four rows come in steps of 2048 bytes, whose vectors of products
// wait; each pass fetches some of the next rows of the weight.
// CHECK-LABEL: func.func private @six.project(
// CHECK-SAME: %[[PARTS:[a-z0-9]*]]: memref<128x4xf32>)
// CHECK: vector.store %{{.*}}, %[[PARTS]]
// CHECK: scf.for %{{.*}} = %c0 to %c256 step %c128
// CHECK: vector.load %[[PARTS]]
// CHECK: memref.prefetch %arg1
// CHECK: vector.load %arg1
// CHECK: vector.fma
// CHECK: vector.store %{{.*}}, %[[PARTS]]
// CHECK: vector.load %[[PARTS]]
// CHECK: vector.maskedload %arg1
// CHECK: vector.shuffle %{{.*}} [2, 3, 0, 1]
// CHECK: func.func private @six.kernel
func.func private @six.kernel(%x: memref<6x1026xf32>, %w: memref<9x1026xf32>, %o: memref<6x9xf32>) {
  attn.project_tile %x, %w transposed outs(%o : memref<6x9xf32>) {attn.few_rows, schedule = #s} : memref<6x1026xf32>, memref<9x1026xf32>
  return
}
