// RUN: attn-opt %s | attn-opt | FileCheck %s
// RUN: attn-opt %s --mlir-print-op-generic | attn-opt | FileCheck %s
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Weighted sums; the value may be of half precision.
// CHECK-LABEL: func @rank_2
// CHECK: attn.context %{{.*}}, %{{.*}} : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
func.func @rank_2(%w: tensor<2x3xf32>, %v: tensor<3x4xf32>) -> tensor<2x4xf32> {
  %o = attn.context %w, %v : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  return %o : tensor<2x4xf32>
}

// CHECK-LABEL: func @groups_of_half_precision
// CHECK: attn.context {{.*}} : (tensor<?x8x?x?xf32>, tensor<?x2x?x16xf16>) -> tensor<?x8x?x16xf16>
func.func @groups_of_half_precision(%w: tensor<?x8x?x?xf32>, %v: tensor<?x2x?x16xf16>) -> tensor<?x8x?x16xf16> {
  %o = attn.context %w, %v : (tensor<?x8x?x?xf32>, tensor<?x2x?x16xf16>) -> tensor<?x8x?x16xf16>
  return %o : tensor<?x8x?x16xf16>
}
