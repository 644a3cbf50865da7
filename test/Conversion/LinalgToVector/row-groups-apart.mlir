// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loops that must not share their rows: each has a loop of its own.
//
// RUN: attn-opt %s --attn-vectorize-linalg="lanes=8 masked-bits=32" --canonicalize --cse --split-input-file | FileCheck %s

#matrix = affine_map<(i, j) -> (i, j)>
#turned = affine_map<(i, j) -> (j, i)>
#shared = affine_map<(i, j) -> (j)>
#loops = ["parallel", "parallel"]

// The same rows are one loop.
// CHECK-LABEL: @together
// CHECK:         math.absf
// CHECK-NOT:     scf.for
// CHECK:         arith.negf
func.func @together(%x: memref<64x64xf32>, %y: memref<64x64xf32>, %z: memref<64x64xf32>) {
  linalg.generic {indexing_maps = [#matrix, #matrix], iterator_types = #loops} ins(%x : memref<64x64xf32>) outs(%y : memref<64x64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %b = math.absf %a : f32
    linalg.yield %b : f32
  }
  linalg.generic {indexing_maps = [#matrix, #matrix], iterator_types = #loops} ins(%y : memref<64x64xf32>) outs(%z : memref<64x64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %b = arith.negf %a : f32
    linalg.yield %b : f32
  }
  return
}

// -----

#matrix = affine_map<(i, j) -> (i, j)>
#turned = affine_map<(i, j) -> (j, i)>
#loops = ["parallel", "parallel"]

// The second reads columns of what the first wrote.
// CHECK-LABEL: @columns
// CHECK:         math.absf
// CHECK:         scf.for {{.*}} step %c1 {
// CHECK:         arith.negf
func.func @columns(%x: memref<64x64xf32>, %y: memref<64x64xf32>, %z: memref<64x64xf32>) {
  linalg.generic {indexing_maps = [#matrix, #matrix], iterator_types = #loops} ins(%x : memref<64x64xf32>) outs(%y : memref<64x64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %b = math.absf %a : f32
    linalg.yield %b : f32
  }
  linalg.generic {indexing_maps = [#turned, #matrix], iterator_types = #loops} ins(%y : memref<64x64xf32>) outs(%z : memref<64x64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %b = arith.negf %a : f32
    linalg.yield %b : f32
  }
  return
}

// -----

#matrix = affine_map<(i, j) -> (i, j)>
#loops = ["parallel", "parallel"]

// Two views of one buffer, which overlap.
// CHECK-LABEL: @views
// CHECK:         math.absf
// CHECK:         scf.for {{.*}} step %c1 {
// CHECK:         arith.negf
func.func @views(%x: memref<65x64xf32>, %z: memref<64x64xf32>) {
  %first = memref.subview %x[0, 0] [64, 64] [1, 1] : memref<65x64xf32> to memref<64x64xf32, strided<[64, 1]>>
  %next = memref.subview %x[1, 0] [64, 64] [1, 1] : memref<65x64xf32> to memref<64x64xf32, strided<[64, 1], offset: 64>>
  linalg.generic {indexing_maps = [#matrix, #matrix], iterator_types = #loops} ins(%z : memref<64x64xf32>) outs(%first : memref<64x64xf32, strided<[64, 1]>>) {
  ^bb0(%a: f32, %o: f32):
    %b = math.absf %a : f32
    linalg.yield %b : f32
  }
  linalg.generic {indexing_maps = [#matrix, #matrix], iterator_types = #loops} ins(%next : memref<64x64xf32, strided<[64, 1], offset: 64>>) outs(%z : memref<64x64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %b = arith.negf %a : f32
    linalg.yield %b : f32
  }
  return
}

// -----

#matrix = affine_map<(i, j) -> (i, j)>
#loops = ["parallel", "parallel"]

// The second looks up any element of what the first wrote.
// CHECK-LABEL: @lookup
// CHECK:         math.absf
// CHECK:         scf.for {{.*}} step %c1 {
// CHECK:         memref.load %arg1
func.func @lookup(%x: memref<64x64xf32>, %y: memref<64x64xf32>, %z: memref<64x64xf32>) {
  linalg.generic {indexing_maps = [#matrix, #matrix], iterator_types = #loops} ins(%x : memref<64x64xf32>) outs(%y : memref<64x64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %b = math.absf %a : f32
    linalg.yield %b : f32
  }
  linalg.generic {indexing_maps = [#matrix, #matrix], iterator_types = #loops} ins(%x : memref<64x64xf32>) outs(%z : memref<64x64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %b = memref.load %y[%j, %i] : memref<64x64xf32>
    linalg.yield %b : f32
  }
  return
}

// -----

#matrix = affine_map<(i, j) -> (i, j)>
#loops = ["parallel", "parallel"]

// Rows of another number.
// CHECK-LABEL: @other_rows
// CHECK:         math.absf
// CHECK:         scf.for {{.*}} step %c1 {
// CHECK:         arith.negf
func.func @other_rows(%x: memref<64x64xf32>, %y: memref<64x64xf32>, %u: memref<80x64xf32>, %v: memref<80x64xf32>) {
  linalg.generic {indexing_maps = [#matrix, #matrix], iterator_types = #loops} ins(%x : memref<64x64xf32>) outs(%y : memref<64x64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %b = math.absf %a : f32
    linalg.yield %b : f32
  }
  linalg.generic {indexing_maps = [#matrix, #matrix], iterator_types = #loops} ins(%u : memref<80x64xf32>) outs(%v : memref<80x64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %b = arith.negf %a : f32
    linalg.yield %b : f32
  }
  return
}
