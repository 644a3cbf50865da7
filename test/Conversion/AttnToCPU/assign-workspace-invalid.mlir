// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A buffer of an item whose size is not known has no place, and is named.
// RUN: attn-opt %s --attn-assign-workspace --attn-outline-parallel --verify-diagnostics

func.func private @f.kernel(%x: memref<?x?xf32>, %o: memref<?x?xf32>, %ws: memref<?xi8>, %threads: index, %call: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : memref<?x?xf32>
  %m = memref.dim %x, %c1 : memref<?x?xf32>
  %one = arith.constant 1.0 : f32
  scf.forall (%i) in (%n) {
    // expected-error @+1 {{'memref.alloc' op has a size that is only known at run time, inside a parallel item}}
    %t = memref.alloc(%i) : memref<?xf32>
    memref.store %one, %t[%i] : memref<?xf32>
  }
  return
}
