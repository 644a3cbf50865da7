// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A product whose sums begin at 0, however that is written, or at a bias per
// column is a projection. The number of rows may be unknown.
// RUN: attn-opt %s --attn-raise-projections --canonicalize | FileCheck %s

// CHECK-LABEL: @fill
// CHECK-NEXT: %[[Y:.*]] = attn.project %arg0, %arg1 : (tensor<?x6xf32>, tensor<6x4xf32>) -> tensor<?x4xf32>
// CHECK-NEXT: return %[[Y]]
func.func @fill(%x: tensor<?x6xf32>, %w: tensor<6x4xf32>, %e: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %zero = arith.constant 0.0 : f32
  %start = linalg.fill ins(%zero : f32) outs(%e : tensor<?x4xf32>) -> tensor<?x4xf32>
  %y = linalg.matmul ins(%x, %w : tensor<?x6xf32>, tensor<6x4xf32>) outs(%start : tensor<?x4xf32>) -> tensor<?x4xf32>
  return %y : tensor<?x4xf32>
}

// CHECK-LABEL: @constant
// CHECK-NEXT: attn.project %arg0, %arg1 : (tensor<5x6xf16>, tensor<6x4xf16>) -> tensor<5x4xf16>
func.func @constant(%x: tensor<5x6xf16>, %w: tensor<6x4xf16>) -> tensor<5x4xf16> {
  %start = arith.constant dense<0.0> : tensor<5x4xf16>
  %y = linalg.matmul ins(%x, %w : tensor<5x6xf16>, tensor<6x4xf16>) outs(%start : tensor<5x4xf16>) -> tensor<5x4xf16>
  return %y : tensor<5x4xf16>
}

// CHECK-LABEL: @bias
// CHECK-NEXT: attn.project %arg0, %arg1, %arg2 : (tensor<5x6xf32>, tensor<6x4xf32>, tensor<4xf32>) -> tensor<5x4xf32>
func.func @bias(%x: tensor<5x6xf32>, %w: tensor<6x4xf32>, %b: tensor<4xf32>) -> tensor<5x4xf32> {
  %e = tensor.empty() : tensor<5x4xf32>
  %start = linalg.broadcast ins(%b : tensor<4xf32>) outs(%e : tensor<5x4xf32>) dimensions = [0]
  %y = linalg.matmul ins(%x, %w : tensor<5x6xf32>, tensor<6x4xf32>) outs(%start : tensor<5x4xf32>) -> tensor<5x4xf32>
  return %y : tensor<5x4xf32>
}

// Batch entries and heads are one batch dimension; so are those of a transposed weight, and a weight for all is none.
// CHECK-LABEL: @two_batches
// CHECK-SAME:    (%[[X:[a-z0-9]+]]: tensor<?x3x5x6xf32>, %[[W:[a-z0-9]+]]: tensor<?x3x4x6xf32>
// CHECK-DAG:   %[[A:.*]] = tensor.collapse_shape %[[X]] {{\[\[}}0, 1], [2], [3]] : tensor<?x3x5x6xf32> into tensor<?x5x6xf32>
// CHECK-DAG:   %[[B:.*]] = tensor.collapse_shape %[[W]] {{\[\[}}0, 1], [2], [3]] : tensor<?x3x4x6xf32> into tensor<?x4x6xf32>
// CHECK:       %[[P:.*]] = attn.project %[[A]], %[[B]] transposed : (tensor<?x5x6xf32>, tensor<?x4x6xf32>) -> tensor<?x5x4xf32>
// CHECK:       tensor.expand_shape %[[P]] {{\[\[}}0, 1], [2], [3]] output_shape [%{{.*}}, 3, 5, 4]
func.func @two_batches(%x: tensor<?x3x5x6xf32>, %w: tensor<?x3x4x6xf32>, %e: tensor<?x3x5x4xf32>) -> tensor<?x3x5x4xf32> {
  %zero = arith.constant 0.0 : f32
  %start = linalg.fill ins(%zero : f32) outs(%e : tensor<?x3x5x4xf32>) -> tensor<?x3x5x4xf32>
  %y = linalg.contract indexing_maps = [affine_map<(a, b, m, n, k) -> (a, b, m, k)>, affine_map<(a, b, m, n, k) -> (a, b, n, k)>, affine_map<(a, b, m, n, k) -> (a, b, m, n)>]
      ins(%x, %w : tensor<?x3x5x6xf32>, tensor<?x3x4x6xf32>) outs(%start : tensor<?x3x5x4xf32>) -> tensor<?x3x5x4xf32>
  return %y : tensor<?x3x5x4xf32>
}

// CHECK-LABEL: @one_weight
// CHECK:       attn.project %{{.*}}, %arg1, %arg2 : (tensor<6x5x6xf32>, tensor<6x4xf32>, tensor<4xf32>) -> tensor<6x5x4xf32>
func.func @one_weight(%x: tensor<2x3x5x6xf32>, %w: tensor<6x4xf32>, %b: tensor<4xf32>) -> tensor<2x3x5x4xf32> {
  %e = tensor.empty() : tensor<2x3x5x4xf32>
  %start = linalg.broadcast ins(%b : tensor<4xf32>) outs(%e : tensor<2x3x5x4xf32>) dimensions = [0, 1, 2]
  %y = linalg.contract indexing_maps = [affine_map<(a, b, m, n, k) -> (a, b, m, k)>, affine_map<(a, b, m, n, k) -> (k, n)>, affine_map<(a, b, m, n, k) -> (a, b, m, n)>]
      ins(%x, %w : tensor<2x3x5x6xf32>, tensor<6x4xf32>) outs(%start : tensor<2x3x5x4xf32>) -> tensor<2x3x5x4xf32>
  return %y : tensor<2x3x5x4xf32>
}
