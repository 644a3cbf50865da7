// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: attn-opt %s --attn-merge-projections --canonicalize --cse --verify-diagnostics --remarks-filter-missed=attn-merge-projections --remark-policy=all | FileCheck %s

// Queries, and keys of fewer heads, of a weight that is transposed; a bias that is an operand, one that is added, and none.
// CHECK-LABEL: @attention
// CHECK-DAG: %[[W:.*]] = arith.constant dense<{{\[\[}}1.000000e+00, 2.000000e+00, 3.000000e+00, 4.000000e+00, 1.000000e+01, 3.000000e+01, 0.000000e+00, 0.000000e+00], [5.000000e+00, 6.000000e+00, 7.000000e+00, 8.000000e+00, 2.000000e+01, 4.000000e+01, 0.000000e+00, 0.000000e+00]]> : tensor<2x8xf32>
// CHECK-DAG: %[[B:.*]] = arith.constant dense<[1.000000e-01, 1.000000e-01, 1.000000e-01, 1.000000e-01, 2.000000e-01, 3.000000e-01, 0.000000e+00, 0.000000e+00]> : tensor<8xf32>
// CHECK: %[[ALL:.*]] = attn.project %arg0, %[[W]], %[[B]] : (tensor<?x2xf32>, tensor<2x8xf32>, tensor<8xf32>) -> tensor<?x8xf32>
// CHECK-NOT: attn.project
// CHECK: %[[Q:.*]] = tensor.extract_slice %[[ALL]][0, 0] [%{{.*}}, 4] [1, 1]
// CHECK: %[[K:.*]] = tensor.extract_slice %[[ALL]][0, 4] [%{{.*}}, 2] [1, 1]
// CHECK: %[[V:.*]] = tensor.extract_slice %[[ALL]][0, 6] [%{{.*}}, 2] [1, 1]
// CHECK-NOT: arith.addf
// CHECK: tensor.expand_shape %[[Q]]
// CHECK: tensor.expand_shape %[[K]]
// CHECK: tensor.expand_shape %[[V]]
func.func @attention(%x: tensor<?x2xf32>, %n: index) -> (tensor<?x2x2xf32>, tensor<?x1x2xf32>, tensor<?x1x2xf32>) {
  %wq = arith.constant dense<[[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]]> : tensor<2x4xf32>
  %wk = arith.constant dense<[[10.0, 20.0], [30.0, 40.0]]> : tensor<2x2xf32>
  %wv = arith.constant dense<0.0> : tensor<2x2xf32>
  %bq = arith.constant dense<0.1> : tensor<4xf32>
  %bk = arith.constant dense<[0.2, 0.3]> : tensor<2xf32>
  %q = attn.project %x, %wq, %bq : (tensor<?x2xf32>, tensor<2x4xf32>, tensor<4xf32>) -> tensor<?x4xf32>
  %k = attn.project %x, %wk transposed : (tensor<?x2xf32>, tensor<2x2xf32>) -> tensor<?x2xf32>
  %empty = tensor.empty(%n) : tensor<?x2xf32>
  %rows = linalg.broadcast ins(%bk : tensor<2xf32>) outs(%empty : tensor<?x2xf32>) dimensions = [0]
  %keys = arith.addf %rows, %k : tensor<?x2xf32>
  %v = attn.project %x, %wv : (tensor<?x2xf32>, tensor<2x2xf32>) -> tensor<?x2xf32>
  %0 = tensor.expand_shape %q [[0], [1, 2]] output_shape [%n, 2, 2] : tensor<?x4xf32> into tensor<?x2x2xf32>
  %1 = tensor.expand_shape %keys [[0], [1, 2]] output_shape [%n, 1, 2] : tensor<?x2xf32> into tensor<?x1x2xf32>
  %2 = tensor.expand_shape %v [[0], [1, 2]] output_shape [%n, 1, 2] : tensor<?x2xf32> into tensor<?x1x2xf32>
  return %0, %1, %2 : tensor<?x2x2xf32>, tensor<?x1x2xf32>, tensor<?x1x2xf32>
}

// A second user of the sums before the bias: the bias stays behind.
// CHECK-LABEL: @two_users
// CHECK-COUNT-2: attn.project
func.func @two_users(%x: tensor<3x2xf32>) -> (tensor<3x2xf32>, tensor<3x1x2xf32>, tensor<3x1x2xf32>) {
  %w = arith.constant dense<[[10.0, 20.0], [30.0, 40.0]]> : tensor<2x2xf32>
  %u = arith.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %b = arith.constant dense<0.5> : tensor<3x2xf32>
  // expected-remark @+1 {{what follows is computed with its sums}}
  %k = attn.project %x, %w : (tensor<3x2xf32>, tensor<2x2xf32>) -> tensor<3x2xf32>
  %keys = arith.addf %k, %b : tensor<3x2xf32>
  %v = attn.project %x, %u : (tensor<3x2xf32>, tensor<2x2xf32>) -> tensor<3x2xf32>
  %1 = tensor.expand_shape %k [[0], [1, 2]] output_shape [3, 1, 2] : tensor<3x2xf32> into tensor<3x1x2xf32>
  %2 = tensor.expand_shape %v [[0], [1, 2]] output_shape [3, 1, 2] : tensor<3x2xf32> into tensor<3x1x2xf32>
  return %keys, %1, %2 : tensor<3x2xf32>, tensor<3x1x2xf32>, tensor<3x1x2xf32>
}

// Weights of the call, and weights per batch entry.
// CHECK-LABEL: @arguments
// CHECK-COUNT-2: attn.project
func.func @arguments(%x: tensor<3x2xf32>, %w: tensor<2x2xf32>) -> (tensor<3x1x2xf32>, tensor<3x1x2xf32>) {
  // expected-remark @+1 {{its weight or bias is no constant}}
  %k = attn.project %x, %w : (tensor<3x2xf32>, tensor<2x2xf32>) -> tensor<3x2xf32>
  // expected-remark @+1 {{its weight or bias is no constant}}
  %v = attn.project %x, %w transposed : (tensor<3x2xf32>, tensor<2x2xf32>) -> tensor<3x2xf32>
  %1 = tensor.expand_shape %k [[0], [1, 2]] output_shape [3, 1, 2] : tensor<3x2xf32> into tensor<3x1x2xf32>
  %2 = tensor.expand_shape %v [[0], [1, 2]] output_shape [3, 1, 2] : tensor<3x2xf32> into tensor<3x1x2xf32>
  return %1, %2 : tensor<3x1x2xf32>, tensor<3x1x2xf32>
}

// Rows added in 16 bits are rounded before: they stay, and so does the product.
// CHECK-LABEL: @narrow
// CHECK-COUNT-2: attn.project
func.func @narrow(%x: tensor<3x2xf16>) -> (tensor<3x1x2xf16>, tensor<3x1x2xf16>) {
  %w = arith.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf16>
  %u = arith.constant dense<[[5.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf16>
  %b = arith.constant dense<[0.2, 0.3]> : tensor<2xf16>
  // expected-remark @+1 {{what follows is computed with its sums}}
  %k = attn.project %x, %w : (tensor<3x2xf16>, tensor<2x2xf16>) -> tensor<3x2xf16>
  %empty = tensor.empty() : tensor<3x2xf16>
  %rows = linalg.broadcast ins(%b : tensor<2xf16>) outs(%empty : tensor<3x2xf16>) dimensions = [0]
  %keys = arith.addf %k, %rows : tensor<3x2xf16>
  %v = attn.project %x, %u : (tensor<3x2xf16>, tensor<2x2xf16>) -> tensor<3x2xf16>
  %1 = tensor.expand_shape %keys [[0], [1, 2]] output_shape [3, 1, 2] : tensor<3x2xf16> into tensor<3x1x2xf16>
  %2 = tensor.expand_shape %v [[0], [1, 2]] output_shape [3, 1, 2] : tensor<3x2xf16> into tensor<3x1x2xf16>
  return %1, %2 : tensor<3x1x2xf16>, tensor<3x1x2xf16>
}
