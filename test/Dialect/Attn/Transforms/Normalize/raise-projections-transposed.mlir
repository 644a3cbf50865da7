// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A weight that is read transposed becomes a transposed constant, of the kind
// that it was.
// RUN: attn-opt %s --attn-raise-projections --canonicalize | FileCheck %s
#input = affine_map<(m, n, k) -> (m, k)>
#weight = affine_map<(m, n, k) -> (n, k)>
#result = affine_map<(m, n, k) -> (m, n)>

// CHECK-LABEL: @dense
// CHECK: %[[W:.*]] = arith.constant dense<{{\[\[}}1.000000e+00, 4.000000e+00], [2.000000e+00, 5.000000e+00], [3.000000e+00, 6.000000e+00]]> : tensor<3x2xf32>
// CHECK: attn.project %arg0, %[[W]] : (tensor<5x3xf32>, tensor<3x2xf32>) -> tensor<5x2xf32>
func.func @dense(%x: tensor<5x3xf32>) -> tensor<5x2xf32> {
  %w = arith.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>
  %start = arith.constant dense<0.0> : tensor<5x2xf32>
  %y = linalg.matmul indexing_maps = [#input, #weight, #result]
      ins(%x, %w : tensor<5x3xf32>, tensor<2x3xf32>) outs(%start : tensor<5x2xf32>) -> tensor<5x2xf32>
  return %y : tensor<5x2xf32>
}

// CHECK-LABEL: @splat
// CHECK: %[[W:.*]] = arith.constant dense<2.000000e+00> : tensor<3x2xf32>
// CHECK: attn.project %arg0, %[[W]]
func.func @splat(%x: tensor<5x3xf32>) -> tensor<5x2xf32> {
  %w = arith.constant dense<2.0> : tensor<2x3xf32>
  %start = arith.constant dense<0.0> : tensor<5x2xf32>
  %y = linalg.matmul indexing_maps = [#input, #weight, #result]
      ins(%x, %w : tensor<5x3xf32>, tensor<2x3xf32>) outs(%start : tensor<5x2xf32>) -> tensor<5x2xf32>
  return %y : tensor<5x2xf32>
}

// CHECK-LABEL: @resource
// CHECK: %[[W:.*]] = arith.constant dense_resource<[[NAME:.*]]> : tensor<2x2xf16>
// CHECK: attn.project %arg0, %[[W]]
// CHECK: [[NAME]]: "0x400000000100030002000400"
func.func @resource(%x: tensor<5x2xf16>) -> tensor<5x2xf16> {
  %w = arith.constant dense_resource<weight> : tensor<2x2xf16>
  %start = arith.constant dense<0.0> : tensor<5x2xf16>
  %y = linalg.matmul indexing_maps = [#input, #weight, #result]
      ins(%x, %w : tensor<5x2xf16>, tensor<2x2xf16>) outs(%start : tensor<5x2xf16>) -> tensor<5x2xf16>
  return %y : tensor<5x2xf16>
}

{-#
  dialect_resources: {
    builtin: { weight: "0x020000000100020003000400" }
  }
#-}
