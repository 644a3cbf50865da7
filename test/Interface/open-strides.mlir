// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: attn-opt %s --attn-open-strides --split-input-file | FileCheck %s

// Elements that are loaded and stored one by one, also through views.
// CHECK-LABEL: func.func private @element.kernel(
// CHECK-SAME:    %{{.*}}: memref<?x8xf32, strided<[?, ?], offset: ?>>, %{{.*}}: memref<?x8xf32, strided<[?, ?], offset: ?>>,
// CHECK:         memref.subview {{.*}} to memref<?x4xf32, strided<[?, ?], offset: ?>>
// CHECK:         memref.load {{.*}} : memref<?x4xf32, strided<[?, ?], offset: ?>>
func.func private @element.kernel(%x: memref<?x8xf32, strided<[?, 1], offset: ?>>, %out: memref<?x8xf32, strided<[?, 1], offset: ?>>, %work: memref<?xi8>, %threads: index, %call: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %rows = memref.dim %x, %c0 : memref<?x8xf32, strided<[?, 1], offset: ?>>
  %half = memref.subview %x[0, 4] [%rows, 4] [1, 1] : memref<?x8xf32, strided<[?, 1], offset: ?>> to memref<?x4xf32, strided<[?, 1], offset: ?>>
  scf.forall (%i, %j) in (%rows, 4) {
    %0 = memref.load %half[%i, %j] : memref<?x4xf32, strided<[?, 1], offset: ?>>
    memref.store %0, %out[%i, %j] : memref<?x8xf32, strided<[?, 1], offset: ?>>
  }
  return
}

// -----

// A vector of several elements, and a buffer that is one tensor or another.
// CHECK-LABEL: func.func private @vector.kernel(
// CHECK-SAME:    %{{.*}}: memref<8xf32, strided<[1], offset: ?>>, %{{.*}}: memref<8xf32, strided<[1], offset: ?>>, %{{.*}}: memref<8xf32, strided<[?], offset: ?>>,
func.func private @vector.kernel(%x: memref<8xf32, strided<[1], offset: ?>>, %y: memref<8xf32, strided<[1], offset: ?>>, %out: memref<8xf32, strided<[?], offset: ?>>, %work: memref<?xi8>, %threads: index, %call: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %yes = arith.constant true
  %0 = vector.load %x[%c0] : memref<8xf32, strided<[1], offset: ?>>, vector<4xf32>
  %1 = arith.select %yes, %x, %y : memref<8xf32, strided<[1], offset: ?>>
  %2 = memref.load %1[%c0] : memref<8xf32, strided<[1], offset: ?>>
  memref.store %2, %out[%c0] : memref<8xf32, strided<[?], offset: ?>>
  return
}
