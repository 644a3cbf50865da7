// RUN: attn-opt %s --attn-join-scalar-loads --split-input-file | FileCheck %s

// Four turns of a loop over features.
// CHECK-LABEL: @turns
// CHECK-NOT: memref.load
// CHECK:      %[[JOINED:.*]] = vector.load %{{.*}}[%{{.*}}, %{{.*}}] : memref<?x64xf32, strided<[?, 1], offset: ?>>, vector<4xf32>
// CHECK:      %[[A:.*]] = vector.extract %[[JOINED]][0] : f32 from vector<4xf32>
// CHECK-NEXT: vector.broadcast %[[A]] : f32 to vector<4xf32>
// CHECK:      vector.extract %[[JOINED]][1]
// CHECK:      vector.extract %[[JOINED]][2]
// CHECK:      %[[D:.*]] = vector.extract %[[JOINED]][3]
// CHECK-NEXT: vector.broadcast %[[D]]
func.func @turns(%k: memref<?x64xf32, strided<[?, 1], offset: ?>>, %row: index, %d: index, %x: vector<4xf32>) -> vector<4xf32> {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %0 = memref.load %k[%row, %d] : memref<?x64xf32, strided<[?, 1], offset: ?>>
  %b0 = vector.broadcast %0 : f32 to vector<4xf32>
  %s0 = vector.fma %b0, %x, %x : vector<4xf32>
  %d1 = arith.addi %d, %c1 overflow<nsw> : index
  %1 = memref.load %k[%row, %d1] : memref<?x64xf32, strided<[?, 1], offset: ?>>
  %b1 = vector.broadcast %1 : f32 to vector<4xf32>
  %s1 = vector.fma %b1, %x, %s0 : vector<4xf32>
  %d2 = arith.addi %d, %c2 overflow<nsw> : index
  %2 = memref.load %k[%row, %d2] : memref<?x64xf32, strided<[?, 1], offset: ?>>
  %b2 = vector.broadcast %2 : f32 to vector<4xf32>
  %s2 = vector.fma %b2, %x, %s1 : vector<4xf32>
  %d3 = arith.addi %d, %c3 overflow<nsw> : index
  %3 = memref.load %k[%row, %d3] : memref<?x64xf32, strided<[?, 1], offset: ?>>
  %b3 = vector.broadcast %3 : f32 to vector<4xf32>
  %s3 = vector.fma %b3, %x, %s2 : vector<4xf32>
  return %s3 : vector<4xf32>
}

// -----

// A run of f64 has two elements.
// CHECK-LABEL: @doubles
// CHECK-COUNT-1: vector.load {{.*}} vector<2xf64>
// CHECK-NOT: memref.load
func.func @doubles(%k: memref<?x64xf64>, %row: index, %d: index) -> (vector<2xf64>, vector<2xf64>) {
  %c1 = arith.constant 1 : index
  %0 = memref.load %k[%row, %d] : memref<?x64xf64>
  %b0 = vector.broadcast %0 : f64 to vector<2xf64>
  %d1 = arith.addi %d, %c1 : index
  %1 = memref.load %k[%row, %d1] : memref<?x64xf64>
  %b1 = vector.broadcast %1 : f64 to vector<2xf64>
  return %b0, %b1 : vector<2xf64>, vector<2xf64>
}

// -----

// Nothing is joined that is shorter than a run, lies in different rows or has a
// gap, ...
// CHECK-LABEL: @no_run
// CHECK-NOT: vector.load
// CHECK-COUNT-6: memref.load
func.func @no_run(%k: memref<?x64xf64>, %row: index, %other: index, %d: index) -> (vector<2xf64>, vector<2xf64>, vector<2xf64>, vector<2xf64>, vector<2xf64>, vector<2xf64>) {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c9 = arith.constant 9 : index
  %d1 = arith.addi %d, %c1 : index
  %d2 = arith.addi %d, %c2 : index
  %d9 = arith.addi %d, %c9 : index
  %0 = memref.load %k[%row, %d] : memref<?x64xf64>
  %b0 = vector.broadcast %0 : f64 to vector<2xf64>
  %1 = memref.load %k[%other, %d1] : memref<?x64xf64>
  %b1 = vector.broadcast %1 : f64 to vector<2xf64>
  %2 = memref.load %k[%row, %d2] : memref<?x64xf64>
  %b2 = vector.broadcast %2 : f64 to vector<2xf64>
  %3 = memref.load %k[%row, %d9] : memref<?x64xf64>
  %b3 = vector.broadcast %3 : f64 to vector<2xf64>
  %4 = memref.load %k[%d, %row] : memref<?x64xf64>
  %b4 = vector.broadcast %4 : f64 to vector<2xf64>
  %5 = memref.load %k[%d1, %row] : memref<?x64xf64>
  %b5 = vector.broadcast %5 : f64 to vector<2xf64>
  return %b0, %b1, %b2, %b3, %b4, %b5 : vector<2xf64>, vector<2xf64>, vector<2xf64>, vector<2xf64>, vector<2xf64>, vector<2xf64>
}

// -----

// ... has another use, ...
// CHECK-LABEL: @second_user
// CHECK-NOT: vector.load
func.func @second_user(%k: memref<?x64xf64>, %row: index, %d: index) -> (f64, vector<2xf64>) {
  %c1 = arith.constant 1 : index
  %0 = memref.load %k[%row, %d] : memref<?x64xf64>
  %d1 = arith.addi %d, %c1 : index
  %1 = memref.load %k[%row, %d1] : memref<?x64xf64>
  %b1 = vector.broadcast %1 : f64 to vector<2xf64>
  return %0, %b1 : f64, vector<2xf64>
}

// -----

// ... does not lie next to each other, ...
// CHECK-LABEL: @strided
// CHECK-NOT: vector.load
func.func @strided(%k: memref<?x64xf64, strided<[?, 2]>>, %row: index, %d: index) -> (vector<2xf64>, vector<2xf64>) {
  %c1 = arith.constant 1 : index
  %0 = memref.load %k[%row, %d] : memref<?x64xf64, strided<[?, 2]>>
  %b0 = vector.broadcast %0 : f64 to vector<2xf64>
  %d1 = arith.addi %d, %c1 : index
  %1 = memref.load %k[%row, %d1] : memref<?x64xf64, strided<[?, 2]>>
  %b1 = vector.broadcast %1 : f64 to vector<2xf64>
  return %b0, %b1 : vector<2xf64>, vector<2xf64>
}

// -----

// ... or may have changed in between.
// CHECK-LABEL: @written
// CHECK-NOT: vector.load
func.func @written(%k: memref<?x64xf64>, %row: index, %d: index, %x: f64) -> (vector<2xf64>, vector<2xf64>) {
  %c1 = arith.constant 1 : index
  %0 = memref.load %k[%row, %d] : memref<?x64xf64>
  %b0 = vector.broadcast %0 : f64 to vector<2xf64>
  %d1 = arith.addi %d, %c1 : index
  memref.store %x, %k[%row, %d1] : memref<?x64xf64>
  %1 = memref.load %k[%row, %d1] : memref<?x64xf64>
  %b1 = vector.broadcast %1 : f64 to vector<2xf64>
  return %b0, %b1 : vector<2xf64>, vector<2xf64>
}

// -----

// The index of the first element is known too late.
// CHECK-LABEL: @late
// CHECK-NOT: vector.load
func.func @late(%k: memref<?x64xf64>, %row: index, %d: index) -> (vector<2xf64>, vector<2xf64>) {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %d2 = arith.addi %d, %c2 : index
  %1 = memref.load %k[%row, %d2] : memref<?x64xf64>
  %b1 = vector.broadcast %1 : f64 to vector<2xf64>
  %d1 = arith.addi %d, %c1 : index
  %0 = memref.load %k[%row, %d1] : memref<?x64xf64>
  %b0 = vector.broadcast %0 : f64 to vector<2xf64>
  return %b0, %b1 : vector<2xf64>, vector<2xf64>
}
