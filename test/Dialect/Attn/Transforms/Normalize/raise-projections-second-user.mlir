// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where the sums begin, and a weight that is transposed, keep their other users;
// so does the product.
// RUN: attn-opt %s --attn-raise-projections --canonicalize | FileCheck %s
#input = affine_map<(m, n, k) -> (m, k)>
#weight = affine_map<(m, n, k) -> (n, k)>
#result = affine_map<(m, n, k) -> (m, n)>

// CHECK-LABEL: @f
// CHECK-DAG: %[[W:.*]] = arith.constant dense<{{\[\[}}1.000000e+00, 2.000000e+00]]> : tensor<1x2xf32>
// CHECK: %[[START:.*]] = linalg.broadcast
// CHECK: %[[Y:.*]] = attn.project %arg0, %[[W]] transposed, %arg1
// CHECK: return %[[Y]], %[[Y]], %[[START]], %[[W]]
func.func @f(%x: tensor<5x2xf32>, %b: tensor<1xf32>) -> (tensor<5x1xf32>, tensor<5x1xf32>, tensor<5x1xf32>, tensor<1x2xf32>) {
  %w = arith.constant dense<[[1.0, 2.0]]> : tensor<1x2xf32>
  %e = tensor.empty() : tensor<5x1xf32>
  %start = linalg.broadcast ins(%b : tensor<1xf32>) outs(%e : tensor<5x1xf32>) dimensions = [0]
  %y = linalg.matmul indexing_maps = [#input, #weight, #result]
      ins(%x, %w : tensor<5x2xf32>, tensor<1x2xf32>) outs(%start : tensor<5x1xf32>) -> tensor<5x1xf32>
  return %y, %y, %start, %w : tensor<5x1xf32>, tensor<5x1xf32>, tensor<5x1xf32>, tensor<1x2xf32>
}
