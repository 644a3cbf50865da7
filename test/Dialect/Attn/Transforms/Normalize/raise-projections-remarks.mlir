// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What stays linalg, and why.
// RUN: attn-opt %s --attn-raise-projections --split-input-file --verify-diagnostics --remarks-filter-missed=attn-raise-projections --remark-policy=all

func.func @buffers(%x: memref<5x6xf32>, %w: memref<6x4xf32>, %y: memref<5x4xf32>) {
  // expected-remark @below {{linalg.matmul stays: it works on buffers}}
  linalg.matmul ins(%x, %w : memref<5x6xf32>, memref<6x4xf32>) outs(%y : memref<5x4xf32>)
  return
}

// -----

func.func @mixed_types(%x: tensor<5x6xf16>, %w: tensor<6x4xf16>) -> tensor<5x4xf32> {
  %start = arith.constant dense<0.0> : tensor<5x4xf32>
  // expected-remark @below {{linalg.matmul stays: its operands are not of one type f16, bf16, f32 or f64}}
  %y = linalg.matmul ins(%x, %w : tensor<5x6xf16>, tensor<6x4xf16>) outs(%start : tensor<5x4xf32>) -> tensor<5x4xf32>
  return %y : tensor<5x4xf32>
}

// -----

func.func @integers(%x: tensor<5x6xi32>, %w: tensor<6x4xi32>, %start: tensor<5x4xi32>) -> tensor<5x4xi32> {
  // expected-remark @below {{linalg.matmul stays: its operands are not of one type f16, bf16, f32 or f64}}
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

func.func @weight_per_entry(%x: tensor<2x5x6xf32>, %w: tensor<2x6x4xf32>) -> tensor<2x5x4xf32> {
  %start = arith.constant dense<0.0> : tensor<2x5x4xf32>
  // expected-remark @below {{linalg.batch_matmul stays: its weight is not one matrix for all rows}}
  %y = linalg.batch_matmul ins(%x, %w : tensor<2x5x6xf32>, tensor<2x6x4xf32>) outs(%start : tensor<2x5x4xf32>) -> tensor<2x5x4xf32>
  return %y : tensor<2x5x4xf32>
}

// -----

func.func @unknown_sizes(%x: tensor<5x6xf32>, %w: tensor<6x?xf32>, %e: tensor<5x?xf32>) -> tensor<5x?xf32> {
  %zero = arith.constant 0.0 : f32
  %start = linalg.fill ins(%zero : f32) outs(%e : tensor<5x?xf32>) -> tensor<5x?xf32>
  // expected-remark @below {{linalg.matmul stays: the sizes of its weight are known at run time only}}
  %y = linalg.matmul ins(%x, %w : tensor<5x6xf32>, tensor<6x?xf32>) outs(%start : tensor<5x?xf32>) -> tensor<5x?xf32>
  return %y : tensor<5x?xf32>
}

// -----

func.func @sums_begin_elsewhere(%x: tensor<5x6xf32>, %w: tensor<6x4xf32>, %start: tensor<5x4xf32>) -> tensor<5x4xf32> {
  // expected-remark @below {{linalg.matmul stays: its sums begin neither at 0 nor at a bias per column}}
  %y = linalg.matmul ins(%x, %w : tensor<5x6xf32>, tensor<6x4xf32>) outs(%start : tensor<5x4xf32>) -> tensor<5x4xf32>
  return %y : tensor<5x4xf32>
}

// -----

func.func @bias_per_row(%x: tensor<4x6xf32>, %w: tensor<6x4xf32>, %b: tensor<4xf32>) -> tensor<4x4xf32> {
  %e = tensor.empty() : tensor<4x4xf32>
  %start = linalg.broadcast ins(%b : tensor<4xf32>) outs(%e : tensor<4x4xf32>) dimensions = [1]
  // expected-remark @below {{linalg.matmul stays: its sums begin neither at 0 nor at a bias per column}}
  %y = linalg.matmul ins(%x, %w : tensor<4x6xf32>, tensor<6x4xf32>) outs(%start : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %y : tensor<4x4xf32>
}

// -----

func.func @transposed(%x: tensor<5x6xf32>, %w: tensor<4x6xf32>) -> tensor<5x4xf32> {
  %start = arith.constant dense<0.0> : tensor<5x4xf32>
  // expected-remark @below {{linalg.matmul stays: its weight is transposed and not a constant}}
  %y = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%x, %w : tensor<5x6xf32>, tensor<4x6xf32>) outs(%start : tensor<5x4xf32>) -> tensor<5x4xf32>
  return %y : tensor<5x4xf32>
}
