// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What stays linalg, and why.
// RUN: attn-opt %s --attn-raise-projections --split-input-file --verify-diagnostics --remarks-filter-missed=attn-raise-projections --remark-policy=all

func.func @buffers(%x: memref<5x6xf32>, %w: memref<6x4xf32>, %y: memref<5x4xf32>) {
  // expected-remark @below {{linalg.matmul stays: it works on buffers}}
  linalg.matmul ins(%x, %w : memref<5x6xf32>, memref<6x4xf32>) outs(%y : memref<5x4xf32>)
  return
}

// -----

func.func @integers(%x: tensor<5x6xi32>, %w: tensor<6x4xi32>, %start: tensor<5x4xi32>) -> tensor<5x4xi32> {
  // expected-remark @below {{linalg.matmul stays: its operands are not all of f64, or of f16, bf16 and f32}}
  %y = linalg.matmul ins(%x, %w : tensor<5x6xi32>, tensor<6x4xi32>) outs(%start : tensor<5x4xi32>) -> tensor<5x4xi32>
  return %y : tensor<5x4xi32>
}

// -----

func.func @input_transposed(%x: tensor<6x5xf32>, %w: tensor<6x4xf32>) -> tensor<5x4xf32> {
  %start = arith.constant dense<0.0> : tensor<5x4xf32>
  // expected-remark @below {{linalg.matmul stays: its input is transposed or broadcast}}
  %y = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%x, %w : tensor<6x5xf32>, tensor<6x4xf32>) outs(%start : tensor<5x4xf32>) -> tensor<5x4xf32>
  return %y : tensor<5x4xf32>
}

// -----

func.func @double_and_single(%x: tensor<5x6xf32>, %w: tensor<6x4xf32>) -> tensor<5x4xf64> {
  %start = arith.constant dense<0.0> : tensor<5x4xf64>
  // expected-remark @below {{linalg.matmul stays: its operands are not all of f64, or of f16, bf16 and f32}}
  %y = linalg.matmul ins(%x, %w : tensor<5x6xf32>, tensor<6x4xf32>) outs(%start : tensor<5x4xf64>) -> tensor<5x4xf64>
  return %y : tensor<5x4xf64>
}

// -----

func.func @two_batches(%x: tensor<?x?x5x6xf32>, %w: tensor<?x?x6x4xf32>, %start: tensor<?x?x5x4xf32>) -> tensor<?x?x5x4xf32> {
  // expected-remark @below {{linalg.generic stays: several of its batch dimensions are of unknown size}}
  %y = linalg.generic {indexing_maps = [affine_map<(a, b, m, n, k) -> (a, b, m, k)>, affine_map<(a, b, m, n, k) -> (a, b, k, n)>, affine_map<(a, b, m, n, k) -> (a, b, m, n)>],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<?x?x5x6xf32>, tensor<?x?x6x4xf32>) outs(%start : tensor<?x?x5x4xf32>) {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %sum, %p : f32
    linalg.yield %s : f32
  } -> tensor<?x?x5x4xf32>
  return %y : tensor<?x?x5x4xf32>
}

// -----

func.func @weight_of_heads(%x: tensor<2x3x5x6xf32>, %w: tensor<3x6x4xf32>, %start: tensor<2x3x5x4xf32>) -> tensor<2x3x5x4xf32> {
  // expected-remark @below {{linalg.generic stays: its weight is no matrix}}
  %y = linalg.generic {indexing_maps = [affine_map<(a, b, m, n, k) -> (a, b, m, k)>, affine_map<(a, b, m, n, k) -> (b, k, n)>, affine_map<(a, b, m, n, k) -> (a, b, m, n)>],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<2x3x5x6xf32>, tensor<3x6x4xf32>) outs(%start : tensor<2x3x5x4xf32>) {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %sum, %p : f32
    linalg.yield %s : f32
  } -> tensor<2x3x5x4xf32>
  return %y : tensor<2x3x5x4xf32>
}
