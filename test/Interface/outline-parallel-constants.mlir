// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Constants are repeated in the body instead of captured.
// RUN: attn-opt %s --attn-outline-parallel | FileCheck %s

// CHECK: func.func private @f.items(
// CHECK: %[[ONE:.*]] = arith.constant 1.000000e+00 : f32
// CHECK: memref.store %[[ONE]],
// CHECK: func.func private @f.kernel
// CHECK: llvm.alloca %{{.*}} x !llvm.struct<(struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>, struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)>)>
func.func private @f.kernel(%x: memref<?x?xf32>, %o: memref<?x?xf32>, %ws: memref<?xi8>, %threads: index, %call: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : memref<?x?xf32>
  %m = memref.dim %x, %c1 : memref<?x?xf32>
  %one = arith.constant 1.0 : f32
  scf.forall (%i, %j) in (3, 4) {
    memref.store %one, %o[%i, %j] : memref<?x?xf32>
  }
  return
}
