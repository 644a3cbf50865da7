// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A linalg.generic that multiplies matrices is a product, in whichever order its
// operands stand. Sums that begin elsewhere are added behind.
// RUN: attn-opt %s --attn-raise-projections --canonicalize | FileCheck %s

// CHECK-LABEL: @generic
// CHECK-NEXT: attn.project %arg0, %arg1 : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
func.func @generic(%x: tensor<?x?xf32>, %w: tensor<?x?xf32>, %e: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %zero = arith.constant 0.0 : f32
  %start = linalg.fill ins(%zero : f32) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
                       iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<?x?xf32>, tensor<?x?xf32>) outs(%start : tensor<?x?xf32>) {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %sum, %p : f32
    linalg.yield %s : f32
  } -> tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}

// The second operand has the rows.
// CHECK-LABEL: @swapped
// CHECK-NEXT: attn.project %arg1, %arg0 transposed : (tensor<2x5x6xf32>, tensor<2x4x6xf32>) -> tensor<2x5x4xf32>
func.func @swapped(%w: tensor<2x4x6xf32>, %x: tensor<2x5x6xf32>) -> tensor<2x5x4xf32> {
  %start = arith.constant dense<0.0> : tensor<2x5x4xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(b, k, n, m) -> (b, n, k)>, affine_map<(b, k, n, m) -> (b, m, k)>, affine_map<(b, k, n, m) -> (b, m, n)>],
                       iterator_types = ["parallel", "reduction", "parallel", "parallel"]}
      ins(%w, %x : tensor<2x4x6xf32>, tensor<2x5x6xf32>) outs(%start : tensor<2x5x4xf32>) {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %sum, %p : f32
    linalg.yield %s : f32
  } -> tensor<2x5x4xf32>
  return %y : tensor<2x5x4xf32>
}

// CHECK-LABEL: @weight_per_entry
// CHECK-NEXT: attn.project %arg0, %arg1 : (tensor<2x5x6xf16>, tensor<2x6x4xf16>) -> tensor<2x5x4xf32>
func.func @weight_per_entry(%x: tensor<2x5x6xf16>, %w: tensor<2x6x4xf16>) -> tensor<2x5x4xf32> {
  %start = arith.constant dense<0.0> : tensor<2x5x4xf32>
  %y = linalg.batch_matmul ins(%x, %w : tensor<2x5x6xf16>, tensor<2x6x4xf16>) outs(%start : tensor<2x5x4xf32>) -> tensor<2x5x4xf32>
  return %y : tensor<2x5x4xf32>
}

// CHECK-LABEL: @elsewhere
// CHECK-NEXT: %[[P:.*]] = attn.project %arg0, %arg1 : (tensor<5x6xf32>, tensor<6x4xf32>) -> tensor<5x4xf32>
// CHECK-NEXT: arith.addf %[[P]], %arg2 : tensor<5x4xf32>
func.func @elsewhere(%x: tensor<5x6xf32>, %w: tensor<6x4xf32>, %start: tensor<5x4xf32>) -> tensor<5x4xf32> {
  %y = linalg.matmul ins(%x, %w : tensor<5x6xf32>, tensor<6x4xf32>) outs(%start : tensor<5x4xf32>) -> tensor<5x4xf32>
  return %y : tensor<5x4xf32>
}

// A bias per row is not one per column.
// CHECK-LABEL: @bias_per_row
// CHECK: %[[START:.*]] = linalg.broadcast
// CHECK: %[[P:.*]] = attn.project %arg0, %arg1 :
// CHECK: arith.addf %[[P]], %[[START]]
func.func @bias_per_row(%x: tensor<4x6xf32>, %w: tensor<6x4xf32>, %b: tensor<4xf32>) -> tensor<4x4xf32> {
  %e = tensor.empty() : tensor<4x4xf32>
  %start = linalg.broadcast ins(%b : tensor<4xf32>) outs(%e : tensor<4x4xf32>) dimensions = [1]
  %y = linalg.matmul ins(%x, %w : tensor<4x6xf32>, tensor<6x4xf32>) outs(%start : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %y : tensor<4x4xf32>
}
