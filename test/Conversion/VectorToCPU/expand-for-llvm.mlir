// RUN: attn-opt %s --attn-expand-for-llvm --split-input-file | FileCheck %s
// RUN: attn-opt %s --attn-expand-for-llvm --lower-affine --convert-to-llvm --reconcile-unrealized-casts --split-input-file | FileCheck %s --check-prefix=LLVM --implicit-check-not=vector. --implicit-check-not=memref.

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
// CHECK:     vector.load
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
