// RUN: attn-opt %s --attn-clamp-lookups | FileCheck %s
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A row that a tensor names is the nearest one that there is; the column, which a loop counts, is left alone.

// CHECK-LABEL: func @embedding
// CHECK-SAME: (%[[TABLE:.*]]: tensor<?x8xf32>,
// CHECK:      %[[ROW:.*]] = arith.index_cast %{{.*}} : i64 to index
// CHECK:      %[[COLUMN:.*]] = linalg.index 1
// CHECK:      %[[HIGH:.*]] = arith.minsi %[[ROW]],
// CHECK:      %[[INSIDE:.*]] = arith.maxsi %[[HIGH]],
// CHECK:      tensor.extract %[[TABLE]][%[[INSIDE]], %[[COLUMN]]]
func.func @embedding(%table: tensor<?x8xf32>, %ids: tensor<5xi64>) -> tensor<5x8xf32> {
  %empty = tensor.empty() : tensor<5x8xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%ids : tensor<5xi64>) outs(%empty : tensor<5x8xf32>) {
  ^bb0(%id: i64, %o: f32):
    %row = arith.index_cast %id : i64 to index
    %column = linalg.index 1 : index
    %x = tensor.extract %table[%row, %column] : tensor<?x8xf32>
    linalg.yield %x : f32
  } -> tensor<5x8xf32>
  return %r : tensor<5x8xf32>
}

// Sizes and constants say where they are.
// CHECK-LABEL: func @first
// CHECK-NOT:  arith.minsi
// CHECK:      return
func.func @first(%x: tensor<?xi64>, %y: tensor<?xf32>) -> tensor<2xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %y, %c0 : tensor<?xf32>
  %last = arith.subi %n, %c1 : index
  %a = tensor.extract %y[%c0] : tensor<?xf32>
  %b = tensor.extract %y[%last] : tensor<?xf32>
  %r = tensor.from_elements %a, %b : tensor<2xf32>
  return %r : tensor<2xf32>
}

// An element of an element.
// CHECK-LABEL: func @second
// CHECK:      tensor.extract %{{.*}}[%c0
// CHECK:      arith.minsi
// CHECK:      arith.maxsi
// CHECK:      tensor.extract
func.func @second(%x: tensor<?xi64>, %y: tensor<?xf32>) -> tensor<1xf32> {
  %c0 = arith.constant 0 : index
  %i = tensor.extract %x[%c0] : tensor<?xi64>
  %at = arith.index_cast %i : i64 to index
  %a = tensor.extract %y[%at] : tensor<?xf32>
  %r = tensor.from_elements %a : tensor<1xf32>
  return %r : tensor<1xf32>
}

// What is written is the nearest element, too.
// CHECK-LABEL: func @written
// CHECK:      %[[HIGH:.*]] = arith.minsi
// CHECK:      %[[INSIDE:.*]] = arith.maxsi %[[HIGH]],
// CHECK:      tensor.insert %{{.*}} into %{{.*}}[%[[INSIDE]]]
func.func @written(%x: tensor<?xi64>, %y: tensor<?xf32>, %v: f32) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %i = tensor.extract %x[%c0] : tensor<?xi64>
  %at = arith.index_cast %i : i64 to index
  %r = tensor.insert %v into %y[%at] : tensor<?xf32>
  return %r : tensor<?xf32>
}

// Sizes stand in front of ops whose bodies are written on vectors.
// CHECK-LABEL: func.func @rows
// CHECK: %[[SIZE:.*]] = tensor.dim %arg1, %{{.*}}
// CHECK: %[[LAST:.*]] = arith.subi %[[SIZE]], %{{.*}}
// CHECK: linalg.generic
// CHECK-NOT: tensor.dim
// CHECK: arith.minsi %{{.*}}, %[[LAST]]
// CHECK: tensor.extract
func.func @rows(%ids: tensor<8xi64>, %table: tensor<?x64xf32>) -> tensor<8x64xf32> {
  %e = tensor.empty() : tensor<8x64xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(a, b) -> (a)>, affine_map<(a, b) -> (a, b)>], iterator_types = ["parallel", "parallel"]} ins(%ids : tensor<8xi64>) outs(%e : tensor<8x64xf32>) {
  ^bb0(%i: i64, %o: f32):
    %x = arith.index_cast %i : i64 to index
    %j = linalg.index 1 : index
    %r = tensor.extract %table[%x, %j] : tensor<?x64xf32>
    linalg.yield %r : f32
  } -> tensor<8x64xf32>
  return %y : tensor<8x64xf32>
}

// No comparison before the call judges a remainder of an unknown size or a
// square; one does a sum of two counters, and none is needed for a remainder of
// a known size, or a product that known sizes bound.
// CHECK-LABEL: func @computed
// CHECK:      linalg.generic
// CHECK:      %[[REST:.*]] = arith.remui %{{.*}}, %dim
// CHECK:      %[[HIGH:.*]] = arith.minsi %[[REST]],
// CHECK:      %[[INSIDE:.*]] = arith.maxsi %[[HIGH]], %{{.*}}
// CHECK:      tensor.extract %arg0[%[[INSIDE]]]
// CHECK-NOT:  arith.minsi
// CHECK:      %[[SUM:.*]] = arith.addi
// CHECK:      tensor.extract %arg0[%[[SUM]]]
// CHECK:      %[[SEVENTH:.*]] = arith.remui %{{.*}}, %c7
// CHECK:      tensor.extract %arg1[%[[SEVENTH]]]
// CHECK:      %[[PRODUCT:.*]] = arith.muli
// CHECK:      tensor.extract %arg1[%[[PRODUCT]]]
// CHECK:      %[[HIGH:.*]] = arith.minsi
// CHECK:      %[[INSIDE:.*]] = arith.maxsi %[[HIGH]], %{{.*}}
// CHECK:      tensor.extract %arg1[%[[INSIDE]]]
func.func @computed(%x: tensor<?xf32>, %t: tensor<7xf32>) -> tensor<4x3xf32> {
  %c0 = arith.constant 0 : index
  %c7 = arith.constant 7 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %e = tensor.empty() : tensor<4x3xf32>
  %z = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<4x3xf32>) {
  ^bb0(%o: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %rest = arith.remui %i, %n : index
    %a = tensor.extract %x[%rest] : tensor<?xf32>
    %sum = arith.addi %i, %j : index
    %b = tensor.extract %x[%sum] : tensor<?xf32>
    %seventh = arith.remui %i, %c7 : index
    %c = tensor.extract %t[%seventh] : tensor<7xf32>
    %product = arith.muli %i, %j : index
    %d = tensor.extract %t[%product] : tensor<7xf32>
    %square = arith.muli %i, %i : index
    %e2 = tensor.extract %t[%square] : tensor<7xf32>
    %ab = arith.addf %a, %b : f32
    %cd = arith.addf %c, %d : f32
    %abcd = arith.addf %ab, %cd : f32
    %r = arith.addf %abcd, %e2 : f32
    linalg.yield %r : f32
  } -> tensor<4x3xf32>
  return %z : tensor<4x3xf32>
}
