// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loops under a condition get the last numbers, so that the kernel's own keep theirs.
// RUN: attn-opt %s --attn-outline-parallel | FileCheck %s

// CHECK: func.func private @f.items(
// CHECK: arith.constant 1.0
// CHECK: func.func private @f.items_1(
// CHECK: arith.constant 2.0
// CHECK: func.func private @f.kernel
// CHECK: scf.if
// CHECK:   constant @f.items_1 :
// CHECK: constant @f.items :
func.func private @f.kernel(%x: memref<?x?xf32>, %o: memref<?x?xf32>, %ws: memref<?xi8>, %threads: index, %call: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?x?xf32>
  %one = arith.constant 1.0 : f32
  %two = arith.constant 2.0 : f32
  %some = arith.cmpi ne, %n, %c0 : index
  scf.if %some {
    scf.forall (%i) in (%n) {
      memref.store %two, %o[%i, %i] : memref<?x?xf32>
    }
  }
  scf.forall (%i) in (%n) {
    memref.store %one, %o[%i, %i] : memref<?x?xf32>
  }
  return
}
