// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One matrix that is repeated for all batch entries is one weight, also behind a transpose of its copies.
// RUN: attn-opt %s --attn-raise-projections | FileCheck %s

// CHECK-LABEL: func.func @shared
// CHECK: attn.project %arg0, %arg1 : (tensor<?x4x32xf32>, tensor<32x64xf32>) -> tensor<?x4x64xf32>
func.func @shared(%x: tensor<?x4x32xf32>, %w: tensor<32x64xf32>, %n: index) -> tensor<?x4x64xf32> {
  %c0 = arith.constant 0.0 : f32
  %e = tensor.empty(%n) : tensor<?x32x64xf32>
  %ws = linalg.broadcast ins(%w : tensor<32x64xf32>) outs(%e : tensor<?x32x64xf32>) dimensions = [0]
  %empty = tensor.empty(%n) : tensor<?x4x64xf32>
  %zero = linalg.fill ins(%c0 : f32) outs(%empty : tensor<?x4x64xf32>) -> tensor<?x4x64xf32>
  %y = linalg.batch_matmul ins(%x, %ws : tensor<?x4x32xf32>, tensor<?x32x64xf32>) outs(%zero : tensor<?x4x64xf32>) -> tensor<?x4x64xf32>
  return %y : tensor<?x4x64xf32>
}

// CHECK-LABEL: func.func @turned
// CHECK: attn.project %arg0, %arg1 transposed : (tensor<?x4x32xf32>, tensor<64x32xf32>) -> tensor<?x4x64xf32>
func.func @turned(%x: tensor<?x4x32xf32>, %w: tensor<64x32xf32>, %n: index) -> tensor<?x4x64xf32> {
  %c0 = arith.constant 0.0 : f32
  %e = tensor.empty(%n) : tensor<?x64x32xf32>
  %ws = linalg.broadcast ins(%w : tensor<64x32xf32>) outs(%e : tensor<?x64x32xf32>) dimensions = [0]
  %t = tensor.empty(%n) : tensor<?x32x64xf32>
  %turned = linalg.transpose ins(%ws : tensor<?x64x32xf32>) outs(%t : tensor<?x32x64xf32>) permutation = [0, 2, 1]
  %empty = tensor.empty(%n) : tensor<?x4x64xf32>
  %zero = linalg.fill ins(%c0 : f32) outs(%empty : tensor<?x4x64xf32>) -> tensor<?x4x64xf32>
  %y = linalg.batch_matmul ins(%x, %turned : tensor<?x4x32xf32>, tensor<?x32x64xf32>) outs(%zero : tensor<?x4x64xf32>) -> tensor<?x4x64xf32>
  return %y : tensor<?x4x64xf32>
}

// Columns that are repeated are no weight of all entries.
// CHECK-LABEL: func.func @columns
// CHECK: attn.project %{{.*}}, %{{.*}} : (tensor<2x4x32xf32>, tensor<2x32x64xf32>)
func.func @columns(%x: tensor<2x4x32xf32>, %w: tensor<2x64xf32>) -> tensor<2x4x64xf32> {
  %c0 = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x32x64xf32>
  %ws = linalg.broadcast ins(%w : tensor<2x64xf32>) outs(%e : tensor<2x32x64xf32>) dimensions = [1]
  %empty = tensor.empty() : tensor<2x4x64xf32>
  %zero = linalg.fill ins(%c0 : f32) outs(%empty : tensor<2x4x64xf32>) -> tensor<2x4x64xf32>
  %y = linalg.batch_matmul ins(%x, %ws : tensor<2x4x32xf32>, tensor<2x32x64xf32>) outs(%zero : tensor<2x4x64xf32>) -> tensor<2x4x64xf32>
  return %y : tensor<2x4x64xf32>
}
