// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: attn-opt %s --attn-lower-products --split-input-file | FileCheck %s

// An item per element; the sum begins with the bias, in f32, and is rounded once.
// CHECK-LABEL: func.func @biased(
// CHECK-SAME:    %[[X:.*]]: tensor<?x6xf16>, %[[W:.*]]: tensor<6x4xf16>, %[[B:.*]]: tensor<4xf16>)
// CHECK:         %[[OUT:.*]] = scf.forall (%[[I:.*]], %[[N:.*]]) in (%{{.*}}, 4) shared_outs(%[[O:.*]] = %{{.*}}) -> (tensor<?x4xf16>) {
// CHECK:           %[[BIAS:.*]] = tensor.extract %[[B]][%[[N]]]
// CHECK:           %[[FIRST:.*]] = arith.extf %[[BIAS]]
// CHECK:           %[[SUM:.*]] = scf.for %[[K:.*]] = %{{.*}} iter_args(%[[S:.*]] = %[[FIRST]]) -> (f32) {
// CHECK-DAG:         tensor.extract %[[X]][%[[I]], %[[K]]]
// CHECK-DAG:         tensor.extract %[[W]][%[[K]], %[[N]]]
// CHECK:             math.fma %{{.*}}, %{{.*}}, %[[S]] : f32
// CHECK:           %[[ROUNDED:.*]] = arith.truncf %[[SUM]] : f32 to f16
// CHECK:           %[[CELL:.*]] = tensor.extract_slice %[[O]][%[[I]], %[[N]]] [1, 1] [1, 1]
// CHECK:           %[[SET:.*]] = tensor.insert %[[ROUNDED]] into %[[CELL]]
// CHECK:           tensor.parallel_insert_slice %[[SET]] into %[[O]][%[[I]], %[[N]]] [1, 1] [1, 1]
// CHECK:         return %[[OUT]]
func.func @biased(%x: tensor<?x6xf16>, %w: tensor<6x4xf16>, %b: tensor<4xf16>) -> tensor<?x4xf16> {
  %0 = attn.project %x, %w, %b : (tensor<?x6xf16>, tensor<6x4xf16>, tensor<4xf16>) -> tensor<?x4xf16>
  return %0 : tensor<?x4xf16>
}

// -----

// A matrix per batch entry, whose rows are the columns of the product.
// CHECK-LABEL: func.func @batches(
// CHECK-SAME:    %[[X:.*]]: tensor<2x?x6xf32>, %[[W:.*]]: tensor<2x?x6xf32>)
// CHECK:         %[[COLUMNS:.*]] = tensor.dim %[[W]], %c1
// CHECK:         scf.forall (%[[B:.*]], %[[I:.*]], %[[N:.*]]) in (2, %{{.*}}, %[[COLUMNS]])
// CHECK:             tensor.extract %[[X]][%[[B]], %[[I]], %[[K:.*]]]
// CHECK:             tensor.extract %[[W]][%[[B]], %[[N]], %[[K]]]
func.func @batches(%x: tensor<2x?x6xf32>, %w: tensor<2x?x6xf32>) -> tensor<2x?x?xf32> {
  %0 = attn.project %x, %w transposed : (tensor<2x?x6xf32>, tensor<2x?x6xf32>) -> tensor<2x?x?xf32>
  return %0 : tensor<2x?x?xf32>
}
