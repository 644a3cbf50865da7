// RUN: attn-opt %s --attn-expand-for-llvm --split-input-file | FileCheck %s
// RUN: attn-opt %s --attn-expand-for-llvm --convert-to-llvm --reconcile-unrealized-casts --split-input-file | FileCheck %s --check-prefix=LLVM --implicit-check-not=vector. --implicit-check-not=memref.

// LLVM-LABEL: @mask
// CHECK-LABEL: @mask
// CHECK-SAME: %[[N:.*]]: index
// CHECK-DAG:  %[[LANES:.*]] = arith.constant dense<[0, 1, 2, 3]> : vector<4xi32>
// CHECK-DAG:  %[[N32:.*]] = arith.index_cast %[[N]] : index to i32
// CHECK:      %[[ALL:.*]] = vector.broadcast %[[N32]] : i32 to vector<4xi32>
// CHECK:      arith.cmpi sgt, %[[ALL]], %[[LANES]]
func.func @mask(%n: index) -> vector<4xi1> {
  %m = vector.create_mask %n : vector<4xi1>
  return %m : vector<4xi1>
}

// -----

// LLVM-LABEL: @known
// CHECK-LABEL: @known
// CHECK: arith.constant dense<[0, 1, 2, 3]> : vector<4xindex>
// CHECK: arith.constant dense<[true, true, false, false]>
func.func @known() -> (vector<4xindex>, vector<4xi1>) {
  %s = vector.step : vector<4xindex>
  %m = vector.constant_mask [2] : vector<4xi1>
  return %s, %m : vector<4xindex>, vector<4xi1>
}

// -----

// Two dimensions: a row at a time.
// LLVM-LABEL: @rows
// CHECK-LABEL: @rows
// CHECK-COUNT-2: vector.fma %{{.*}} : vector<4xf32>
// CHECK-NOT:     vector.fma
func.func @rows(%x: vector<2x4xf32>, %y: vector<4xf32>) -> vector<2x4xf32> {
  %b = vector.broadcast %y : vector<4xf32> to vector<2x4xf32>
  %r = vector.fma %x, %b, %x : vector<2x4xf32>
  return %r : vector<2x4xf32>
}

// -----

// A subview becomes its address.
// LLVM-LABEL: @subview
// CHECK-LABEL: @subview
// CHECK-NOT: memref.subview
// CHECK:     memref.reinterpret_cast
// CHECK:     vector.load {{.*}} {alignment = 4 : i64}
func.func @subview(%x: memref<8x64xf32>, %i: index) -> vector<4xf32> {
  %c0 = arith.constant 0 : index
  %s = memref.subview %x[%i, 0] [1, 64] [1, 1] : memref<8x64xf32> to memref<64xf32, strided<[1], offset: ?>>
  %v = vector.load %s[%c0] : memref<64xf32, strided<[1], offset: ?>>, vector<4xf32>
  return %v : vector<4xf32>
}

// -----

// Nothing to expand.
// LLVM-LABEL: @nothing
// CHECK-LABEL: @nothing
// CHECK-NEXT: return
func.func @nothing() {
  return
}

// -----

// A vector in memory lies as its elements do; one that says so itself is left.
// LLVM-LABEL: @alignment
// LLVM: llvm.load %{{.*}} {alignment = 2 : i64} : !llvm.ptr -> vector<4xf16>
// LLVM: llvm.store %{{.*}} {alignment = 32 : i64} : vector<4xf64>
// CHECK-LABEL: @alignment
// CHECK: vector.load %{{.*}} {alignment = 2 : i64} : memref<8xf16>
// CHECK: vector.maskedload {{.*}} {alignment = 1 : i64} : memref<8xi8>
// CHECK: vector.maskedstore {{.*}} {alignment = 1 : i64} : memref<8xi8>
// CHECK: vector.store %{{.*}} {alignment = 32 : i64} : memref<8xf64>
func.func @alignment(%x: memref<8xf16>, %y: memref<8xi8>, %z: memref<8xf64>, %m: vector<4xi1>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0> : vector<4xi8>
  %a = vector.load %x[%c0] : memref<8xf16>, vector<4xf16>
  %b = vector.maskedload %y[%c0], %m, %zero : memref<8xi8>, vector<4xi1>, vector<4xi8> into vector<4xi8>
  vector.maskedstore %y[%c0], %m, %b : memref<8xi8>, vector<4xi1>, vector<4xi8>
  %c = arith.extf %a : vector<4xf16> to vector<4xf64>
  vector.store %c, %z[%c0] {alignment = 32} : memref<8xf64>, vector<4xf64>
  return
}

// -----

// LLVM-LABEL: @affine
// CHECK-LABEL: @affine
// CHECK-NOT:   affine.
// CHECK:       arith.muli
// CHECK:       arith.addi
func.func @affine(%i: index) -> index {
  %0 = affine.apply affine_map<(i) -> (i * 3 + 1)>(%i)
  return %0 : index
}
