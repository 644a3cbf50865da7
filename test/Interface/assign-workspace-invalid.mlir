// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A buffer whose size only the running kernel knows has no place, and is named.
// RUN: attn-opt %s --attn-assign-workspace --verify-diagnostics --split-input-file

func.func private @f.kernel(%x: memref<?x?xf32>, %o: memref<?x?xf32>, %ws: memref<?xi8>, %threads: index, %call: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : memref<?x?xf32>
  %m = memref.dim %x, %c1 : memref<?x?xf32>
  %one = arith.constant 1.0 : f32
  scf.forall (%i) in (%n) {
    %size = scf.while (%k = %i) : (index) -> index {
      %y = memref.load %x[%i, %k] : memref<?x?xf32>
      %more = arith.cmpf olt, %y, %one : f32
      scf.condition(%more) %k : index
    } do {
    ^bb0(%k: index):
      %next = arith.addi %k, %c1 : index
      scf.yield %next : index
    }
    // expected-error @+1 {{'memref.alloc' op has a size that does not follow from the sizes of the arguments}}
    %t = memref.alloc(%size) : memref<?xf32>
    memref.store %one, %t[%i] : memref<?xf32>
  }
  return
}

// -----
func.func private @f.kernel(%x: memref<?x?xf32>, %o: memref<?x?xf32>, %ws: memref<?xi8>, %threads: index, %call: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : memref<?x?xf32>
  %m = memref.dim %x, %c1 : memref<?x?xf32>
  %one = arith.constant 1.0 : f32
  // expected-error @+1 {{'memref.alloc' op has more bytes than an index can count}}
  %t = memref.alloc(%n) : memref<4611686018427387904x?xf32>
  memref.store %one, %t[%c0, %c0] : memref<4611686018427387904x?xf32>
  return
}
