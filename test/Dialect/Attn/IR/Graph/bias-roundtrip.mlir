// RUN: attn-opt %s | attn-opt | FileCheck %s
// RUN: attn-opt %s --mlir-print-op-generic | attn-opt | FileCheck %s
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A bias of the same shape, and one that broadcasts.
// CHECK-LABEL: func @same_shape
// CHECK: attn.bias %{{.*}}, %{{.*}} : tensor<2x3xf32>, tensor<2x3xf32>
func.func @same_shape(%s: tensor<2x3xf32>, %b: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %r = attn.bias %s, %b : tensor<2x3xf32>, tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// CHECK-LABEL: func @per_head
// CHECK: attn.bias %{{.*}}, %{{.*}} : tensor<?x8x?x?xf32>, tensor<8x1x?xf32>
func.func @per_head(%s: tensor<?x8x?x?xf32>, %b: tensor<8x1x?xf32>) -> tensor<?x8x?x?xf32> {
  %r = attn.bias %s, %b : tensor<?x8x?x?xf32>, tensor<8x1x?xf32>
  return %r : tensor<?x8x?x?xf32>
}
