// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rows of a known length are copied by vectors of at most 64 bytes, of which the last
// overlaps; others number by number.
// RUN: attn-opt %s --attn-lower-copies --canonicalize | FileCheck %s --implicit-check-not=memref.copy

// CHECK-LABEL: func.func @overlaps(
// CHECK-SAME: %[[A:.*]]: memref<?x100xf16, strided<[?, 1], offset: ?>>, %[[B:.*]]: memref<?x100xf16>
// CHECK: %[[ROWS:.*]] = memref.dim %[[A]], %c0
// CHECK: scf.for %[[I:.*]] = %c0 to %[[ROWS]] step %c1
// CHECK: scf.for %[[J:.*]] = %c0 to %c100 step %c32
// CHECK: %[[C:.*]] = arith.minui %[[J]], %c68
// CHECK: %[[X:.*]] = vector.load %[[A]][%[[I]], %[[C]]] : {{.*}}, vector<32xf16>
// CHECK: vector.store %[[X]], %[[B]][%[[I]], %[[C]]] : memref<?x100xf16>, vector<32xf16>
func.func @overlaps(%a: memref<?x100xf16, strided<[?, 1], offset: ?>>, %b: memref<?x100xf16>) {
  memref.copy %a, %b : memref<?x100xf16, strided<[?, 1], offset: ?>> to memref<?x100xf16>
  return
}

// CHECK-LABEL: func.func @short_rows(
// CHECK: vector.load {{.*}} : memref<2x5x3xf32>, vector<2xf32>
// CHECK: vector.store {{.*}} : memref<2x5x3xf32, strided<[30, 6, 1]>>, vector<2xf32>
func.func @short_rows(%a: memref<2x5x3xf32>, %b: memref<2x5x3xf32, strided<[30, 6, 1]>>) {
  memref.copy %a, %b : memref<2x5x3xf32> to memref<2x5x3xf32, strided<[30, 6, 1]>>
  return
}

// CHECK-LABEL: func.func @unknown_length(
// CHECK-NOT: vector.
// CHECK: linalg.generic
func.func @unknown_length(%a: memref<4x?xf32>, %b: memref<4x?xf32>) {
  memref.copy %a, %b : memref<4x?xf32> to memref<4x?xf32>
  return
}

// CHECK-LABEL: func.func @strided_elements(
// CHECK-NOT: vector.
// CHECK: linalg.generic
func.func @strided_elements(%a: memref<4x8xf32, strided<[1, 4]>>, %b: memref<4x8xf32>) {
  memref.copy %a, %b : memref<4x8xf32, strided<[1, 4]>> to memref<4x8xf32>
  return
}

// CHECK-LABEL: func.func @bits(
// CHECK-NOT: vector.
// CHECK: linalg.generic
func.func @bits(%a: memref<4x8xi1>, %b: memref<4x8xi1>) {
  memref.copy %a, %b : memref<4x8xi1> to memref<4x8xi1>
  return
}

// CHECK-LABEL: func.func @one_number(
// CHECK-NOT: vector.
// CHECK: linalg.generic
func.func @one_number(%a: memref<f32>, %b: memref<f32>) {
  memref.copy %a, %b : memref<f32> to memref<f32>
  return
}
