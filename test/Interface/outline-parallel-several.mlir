// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Several loops of a kernel: a function each, in order; several kernels keep theirs
// apart.
// RUN: attn-opt %s --attn-outline-parallel | FileCheck %s

// CHECK-DAG: func.func private @f.items(
// CHECK-DAG: func.func private @f.items_1(
// CHECK: func.func private @f.kernel
// CHECK: constant @f.items :
// CHECK: llvm.call
// CHECK: constant @f.items_1 :
// CHECK: llvm.call
// CHECK: func.func private @g.items(
// CHECK: func.func private @g.kernel
// CHECK: constant @g.items :
func.func private @f.kernel(%x: memref<?x?xf32>, %o: memref<?x?xf32>, %ws: memref<?xi8>, %threads: index, %call: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : memref<?x?xf32>
  %m = memref.dim %x, %c1 : memref<?x?xf32>
  %one = arith.constant 1.0 : f32
  scf.forall (%i) in (%n) {
    memref.store %one, %o[%i, %i] : memref<?x?xf32>
  }
  scf.forall (%i) in (%m) {
    memref.store %one, %o[%i, %i] : memref<?x?xf32>
  }
  return
}
func.func private @g.kernel(%x: memref<?x?xf32>, %o: memref<?x?xf32>, %ws: memref<?xi8>, %threads: index, %call: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : memref<?x?xf32>
  %m = memref.dim %x, %c1 : memref<?x?xf32>
  %one = arith.constant 1.0 : f32
  scf.forall (%i) in (%n) {
    memref.store %one, %o[%i, %i] : memref<?x?xf32>
  }
  return
}
