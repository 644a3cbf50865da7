// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A weight that is read transposed, by maps or behind a linalg.transpose, which
// keeps its other users.
// RUN: attn-opt %s --attn-raise-projections --canonicalize | FileCheck %s
#input = affine_map<(m, n, k) -> (m, k)>
#weight = affine_map<(m, n, k) -> (n, k)>
#result = affine_map<(m, n, k) -> (m, n)>

// CHECK-LABEL: @maps
// CHECK-NEXT: attn.project %arg0, %arg1 transposed : (tensor<5x3xf32>, tensor<2x3xf32>) -> tensor<5x2xf32>
func.func @maps(%x: tensor<5x3xf32>, %w: tensor<2x3xf32>) -> tensor<5x2xf32> {
  %start = arith.constant dense<0.0> : tensor<5x2xf32>
  %y = linalg.matmul indexing_maps = [#input, #weight, #result]
      ins(%x, %w : tensor<5x3xf32>, tensor<2x3xf32>) outs(%start : tensor<5x2xf32>) -> tensor<5x2xf32>
  return %y : tensor<5x2xf32>
}

// CHECK-LABEL: @behind_a_transpose
// CHECK: %[[T:.*]] = linalg.transpose
// CHECK: %[[Y:.*]] = attn.project %arg0, %arg1 transposed
// CHECK: return %[[Y]], %[[T]]
func.func @behind_a_transpose(%x: tensor<5x3xf32>, %w: tensor<2x3xf32>, %e: tensor<3x2xf32>) -> (tensor<5x2xf32>, tensor<3x2xf32>) {
  %t = linalg.transpose ins(%w : tensor<2x3xf32>) outs(%e : tensor<3x2xf32>) permutation = [1, 0]
  %start = arith.constant dense<0.0> : tensor<5x2xf32>
  %y = linalg.matmul ins(%x, %t : tensor<5x3xf32>, tensor<3x2xf32>) outs(%start : tensor<5x2xf32>) -> tensor<5x2xf32>
  return %y, %t : tensor<5x2xf32>, tensor<3x2xf32>
}

// Twice is not at all; a projection is read through, too.
// CHECK-LABEL: @twice
// CHECK-NEXT: attn.project %arg0, %arg1 : (tensor<5x3xf32>, tensor<3x2xf32>) -> tensor<5x2xf32>
func.func @twice(%x: tensor<5x3xf32>, %w: tensor<3x2xf32>, %e: tensor<2x3xf32>) -> tensor<5x2xf32> {
  %t = linalg.transpose ins(%w : tensor<3x2xf32>) outs(%e : tensor<2x3xf32>) permutation = [1, 0]
  %y = attn.project %x, %t transposed : (tensor<5x3xf32>, tensor<2x3xf32>) -> tensor<5x2xf32>
  return %y : tensor<5x2xf32>
}

// Another transpose stays.
// CHECK-LABEL: @other_order
// CHECK: %[[T:.*]] = linalg.transpose
// CHECK: attn.project %arg0, %[[T]] : (tensor<2x5x3xf32>, tensor<2x3x4xf32>)
func.func @other_order(%x: tensor<2x5x3xf32>, %w: tensor<3x2x4xf32>, %e: tensor<2x3x4xf32>) -> tensor<2x5x4xf32> {
  %t = linalg.transpose ins(%w : tensor<3x2x4xf32>) outs(%e : tensor<2x3x4xf32>) permutation = [1, 0, 2]
  %start = arith.constant dense<0.0> : tensor<2x5x4xf32>
  %y = linalg.batch_matmul ins(%x, %t : tensor<2x5x3xf32>, tensor<2x3x4xf32>) outs(%start : tensor<2x5x4xf32>) -> tensor<2x5x4xf32>
  return %y : tensor<2x5x4xf32>
}
