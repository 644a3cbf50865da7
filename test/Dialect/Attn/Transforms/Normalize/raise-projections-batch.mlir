// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A product of a batch with one weight is a projection of rank 3; its bias is
// broadcast over the batch and the rows.
// RUN: attn-opt %s --attn-raise-projections --canonicalize | FileCheck %s
#input = affine_map<(b, m, n, k) -> (b, m, k)>
#weight = affine_map<(b, m, n, k) -> (k, n)>
#result = affine_map<(b, m, n, k) -> (b, m, n)>

// CHECK-LABEL: @batch
// CHECK-NEXT: attn.project %arg0, %arg1, %arg2 : (tensor<?x?x6xf32>, tensor<6x4xf32>, tensor<4xf32>) -> tensor<?x?x4xf32>
func.func @batch(%x: tensor<?x?x6xf32>, %w: tensor<6x4xf32>, %b: tensor<4xf32>, %e: tensor<?x?x4xf32>) -> tensor<?x?x4xf32> {
  %start = linalg.broadcast ins(%b : tensor<4xf32>) outs(%e : tensor<?x?x4xf32>) dimensions = [0, 1]
  %y = linalg.batch_matmul indexing_maps = [#input, #weight, #result]
      ins(%x, %w : tensor<?x?x6xf32>, tensor<6x4xf32>) outs(%start : tensor<?x?x4xf32>) -> tensor<?x?x4xf32>
  return %y : tensor<?x?x4xf32>
}
