// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: attn-opt %s --pass-pipeline='builtin.module(func.func(attn-sink-reads))' | FileCheck %s

// The loop reads the place of its view; one that nothing else uses is dead then.
// CHECK-LABEL: @place.kernel
// CHECK: scf.forall (%[[I:.*]]) in (4)
// CHECK-NEXT: %[[N:.*]] = memref.load %arg0[%c0]
// CHECK-NEXT: %[[TWICE:.*]] = arith.addi %[[N]], %[[N]]
// CHECK-NEXT: %[[ROW:.*]] = memref.subview %arg2[%[[TWICE]]] [4] [1]
// CHECK: memref.store %{{.*}}, %[[ROW]][%[[I]]]
func.func private @place.kernel(%at: memref<?xindex>, %x: memref<4xf32>, %out: memref<?xf32>, %work: memref<?xi8>, %threads: index, %call: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %n = memref.load %at[%c0] : memref<?xindex>
  %twice = arith.addi %n, %n : index
  %row = memref.subview %out[%twice] [4] [1] : memref<?xf32> to memref<4xf32, strided<[1], offset: ?>>
  scf.forall (%i) in (4) {
    %0 = memref.load %x[%i] : memref<4xf32>
    memref.store %0, %row[%i] : memref<4xf32, strided<[1], offset: ?>>
  }
  return
}

// Each of two loops reads, and so does a second one behind a write of something else.
// CHECK-LABEL: @two.kernel
// CHECK: scf.forall
// CHECK-NEXT: memref.load %arg0[]
// CHECK: scf.forall
// CHECK-NEXT: memref.load %arg0[]
func.func private @two.kernel(%at: memref<f32>, %a: memref<4xf32>, %b: memref<4xf32>, %work: memref<?xi8>, %threads: index, %call: !llvm.ptr) {
  %n = memref.load %at[] : memref<f32>
  scf.forall (%i) in (4) {
    memref.store %n, %a[%i] : memref<4xf32>
  }
  scf.forall (%i) in (4) {
    memref.store %n, %b[%i] : memref<4xf32>
  }
  return
}

// A number of items, and what is written before the loop, or by it, stay in front.
// CHECK-LABEL: @items.kernel
// CHECK: %[[N:.*]] = memref.load
// CHECK-NEXT: scf.forall (%{{.*}}) in (%[[N]])
// CHECK-NOT: memref.load
func.func private @items.kernel(%at: memref<index>, %a: memref<4xf32>, %work: memref<?xi8>, %threads: index, %call: !llvm.ptr) {
  %zero = arith.constant 0.0 : f32
  %n = memref.load %at[] : memref<index>
  scf.forall (%i) in (%n) {
    memref.store %zero, %a[%i] : memref<4xf32>
  }
  return
}

// CHECK-LABEL: @written.kernel
// CHECK: memref.load %arg0[%c0]
// CHECK-NEXT: memref.store
// CHECK-NEXT: scf.forall
// CHECK-NOT: memref.load
func.func private @written.kernel(%x: memref<4xf32>, %a: memref<4xf32>, %work: memref<?xi8>, %threads: index, %call: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %n = memref.load %x[%c0] : memref<4xf32>
  memref.store %zero, %x[%c0] : memref<4xf32>
  scf.forall (%i) in (4) {
    memref.store %n, %a[%i] : memref<4xf32>
  }
  return
}

// CHECK-LABEL: @itself.kernel
// CHECK: memref.load %arg0[%c0]
// CHECK-NEXT: scf.forall
// CHECK-NOT: memref.load
func.func private @itself.kernel(%x: memref<4xf32>, %work: memref<?xi8>, %threads: index, %call: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %n = memref.load %x[%c0] : memref<4xf32>
  scf.forall (%i) in (4) {
    memref.store %n, %x[%i] : memref<4xf32>
  }
  return
}

// A result may be the memory of the argument that it names.
// CHECK-LABEL: @overlaps.kernel
// CHECK: memref.load %arg0[%c0]
// CHECK-NEXT: scf.forall
// CHECK-NOT: memref.load
func.func private @overlaps.kernel(%x: memref<4xf32>, %y: memref<4xf32>, %work: memref<?xi8>, %threads: index, %call: !llvm.ptr)
    attributes {attn.ports = [#attn.port<"x", input [4] : tensor<4xf32>>, #attn.port<"y", output [4] : tensor<4xf32>, overlaps [x]>]} {
  %c0 = arith.constant 0 : index
  %n = memref.load %x[%c0] : memref<4xf32>
  scf.forall (%i) in (4) {
    memref.store %n, %y[%i] : memref<4xf32>
  }
  return
}
