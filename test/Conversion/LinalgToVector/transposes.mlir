// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: attn-opt %s --attn-vectorize-linalg="lanes=4 masked-bits=32" --canonicalize --cse --split-input-file | FileCheck %s
// RUN: attn-opt %s --attn-vectorize-linalg="lanes=4" --canonicalize --cse --split-input-file | FileCheck %s --check-prefix=NUMBERS
// RUN: attn-opt %s --attn-vectorize-linalg="lanes=1 item-elements=1" --canonicalize --cse --split-input-file | FileCheck %s --check-prefix=SCALARS

// Four vectors are read along one loop, interleaved twice, and written along the other. Whole blocks have no edge.
// CHECK-LABEL: @whole
// CHECK:      scf.forall
// CHECK:        scf.for %[[C:.*]] = %c0 to %c64 step %c4
// CHECK-COUNT-4:  vector.load %arg0[%{{.*}}, %{{.*}}] {{.*}} vector<4xf32>
// CHECK:          vector.shuffle %{{.*}}, %{{.*}} [0, 4, 1, 5]
// CHECK-NEXT:     vector.shuffle %{{.*}}, %{{.*}} [2, 6, 3, 7]
// CHECK-COUNT-6:  vector.shuffle
// CHECK-NOT:      vector.shuffle
// CHECK-COUNT-4:  vector.store %{{.*}}, %arg1[%{{.*}}, %[[C]]]
// CHECK-NOT:  vector.maskedload
// CHECK-NOT:  scf.for
// CHECK:      return
// SCALARS-LABEL: @whole
// SCALARS-NOT: vector
// SCALARS:     memref.store
func.func @whole(%x: memref<64x1024xf32>, %y: memref<1024x64xf32>) {
  linalg.transpose ins(%x : memref<64x1024xf32>) outs(%y : memref<1024x64xf32>) permutation = [1, 0]
  return
}

// -----

// What is left of a block is read and written under masks, or number by number.
// CHECK-LABEL: @edges
// CHECK-COUNT-4: vector.load
// CHECK-COUNT-4: vector.store
// CHECK:      scf.for
// CHECK-COUNT-4: vector.maskedload
// CHECK-COUNT-8: vector.shuffle
// CHECK-COUNT-4: vector.maskedstore
// CHECK:      return
// NUMBERS-LABEL: @edges
// NUMBERS-COUNT-4: vector.load
// NUMBERS-COUNT-8: vector.shuffle
// NUMBERS-COUNT-3: vector.store
// NUMBERS:     vector.store
// NUMBERS-NOT: vector.
// NUMBERS:     memref.load
// NUMBERS:     memref.store
// NUMBERS:     return
func.func @edges(%x: memref<?x?x5xf32>, %y: memref<?x5x?xf32>) {
  linalg.transpose ins(%x : memref<?x?x5xf32>) outs(%y : memref<?x5x?xf32>) permutation = [0, 2, 1]
  return
}

// -----

// Numbers of 16 bits have twice as many to a vector; three in a row are too few for a block.
// CHECK-LABEL: @kinds
// CHECK-COUNT-8: vector.load %arg0{{.*}} vector<8xbf16>
// CHECK-COUNT-24: vector.shuffle
// CHECK-NOT:  vector.shuffle
// CHECK:      return
func.func @kinds(%x: memref<64x64xbf16>, %y: memref<64x64xbf16>, %narrow: memref<1000x3xf32>, %wide: memref<3x1000xf32>) {
  linalg.transpose ins(%x : memref<64x64xbf16>) outs(%y : memref<64x64xbf16>) permutation = [1, 0]
  linalg.transpose ins(%narrow : memref<1000x3xf32>) outs(%wide : memref<3x1000xf32>) permutation = [1, 0]
  return
}
