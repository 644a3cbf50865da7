// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// options: --emit=obj
// An op that nothing lowers.
func.func @transposed(%x: tensor<5x6xf32>, %w: tensor<4x6xf32>) -> tensor<5x4xf32> {
  %start = arith.constant dense<0.0> : tensor<5x4xf32>
  %start_more = arith.mulf %start, %start : tensor<5x4xf32>
  %start_more_new2 = linalg.softmax dimension(1) ins(%start_more : tensor<5x4xf32>) outs(%start_more : tensor<5x4xf32>) -> tensor<5x4xf32>
  %y = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%x, %w : tensor<5x6xf32>, tensor<4x6xf32>) outs(%start_more_new2 : tensor<5x4xf32>) -> tensor<5x4xf32>
  return %y : tensor<5x4xf32>
}
