// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What lies where another result comes to is copied to the caller first.
// RUN: attn-opt %s --attn-order-results --split-input-file | FileCheck %s

// CHECK-LABEL: func.func @order(
// CHECK-SAME: %[[X:.*]]: memref<?x4xf32>, %[[A:[a-z0-9]+]]: memref<?x4xf32>, %[[B:[a-z0-9]+]]: memref<?x4xf32>, %[[C:[a-z0-9]+]]: memref<2x4xf32>
// CHECK: %[[NEW:.*]] = memref.alloc
// CHECK-NEXT: memref.copy %[[X]], %[[NEW]]
// CHECK: %[[PART:.*]] = memref.subview %[[A]]
// CHECK: memref.copy %[[A]], %[[B]]
// CHECK-NEXT: memref.copy %[[PART]], %[[C]]
// CHECK-NEXT: memref.copy %[[NEW]], %[[A]]
// CHECK-NEXT: return
func.func @order(%x: memref<?x4xf32>, %a: memref<?x4xf32>, %b: memref<?x4xf32>, %c: memref<2x4xf32>, %n: index) {
  %new = memref.alloc(%n) : memref<?x4xf32>
  memref.copy %x, %new : memref<?x4xf32> to memref<?x4xf32>
  memref.copy %new, %a : memref<?x4xf32> to memref<?x4xf32>
  memref.copy %a, %b : memref<?x4xf32> to memref<?x4xf32>
  %part = memref.subview %a[1, 0] [2, 4] [1, 1] : memref<?x4xf32> to memref<2x4xf32, strided<[4, 1], offset: 4>>
  memref.copy %part, %c : memref<2x4xf32, strided<[4, 1], offset: 4>> to memref<2x4xf32>
  return
}

// -----

// What needs no order keeps it.
// CHECK-LABEL: func.func @kept(
// CHECK: memref.copy %arg0, %arg1
// CHECK-NEXT: memref.copy %arg3, %arg3
// CHECK-NEXT: memref.copy %arg0, %arg2
func.func @kept(%x: memref<4xf32>, %a: memref<4xf32>, %b: memref<4xf32>, %c: memref<4xf32>) {
  memref.copy %x, %a : memref<4xf32> to memref<4xf32>
  memref.copy %c, %c : memref<4xf32> to memref<4xf32>
  memref.copy %x, %b : memref<4xf32> to memref<4xf32>
  return
}

// -----

// A circle.
// CHECK-LABEL: func.func @circle(
// CHECK: %[[N:.*]] = memref.dim %arg0
// CHECK: %[[SAVED:.*]] = memref.alloc(%[[N]])
// CHECK: memref.copy %arg0, %[[SAVED]]
// CHECK: memref.copy %arg1, %arg0
// CHECK-NEXT: memref.copy %[[SAVED]], %arg1
// CHECK-NEXT: return
func.func @circle(%a: memref<?xf32>, %b: memref<?xf32>) {
  memref.copy %b, %a : memref<?xf32> to memref<?xf32>
  memref.copy %a, %b : memref<?xf32> to memref<?xf32>
  return
}
