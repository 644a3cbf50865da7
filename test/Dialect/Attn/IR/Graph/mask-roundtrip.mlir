// RUN: attn-opt %s | attn-opt | FileCheck %s
// RUN: attn-opt %s --mlir-print-op-generic | attn-opt | FileCheck %s
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A mask and its operands.
// CHECK-LABEL: func @no_operand
// CHECK: attn.mask %{{.*}} where causal(top_left) : tensor<3x3xf32>
func.func @no_operand(%s: tensor<3x3xf32>) -> tensor<3x3xf32> {
  %r = attn.mask %s where causal(top_left) : tensor<3x3xf32>
  return %r : tensor<3x3xf32>
}

// CHECK-LABEL: func @operands
// CHECK-SAME: %[[S:[^ ]*]]: tensor<2x4x?x?xf32>, %[[LEN:[^ ]*]]: tensor<2xi64>, %[[ALLOWED:[^ ]*]]: tensor<?x?xi1>
// CHECK: attn.mask %[[S]] where key_length(%[[LEN]] : tensor<2xi64>) and %[[ALLOWED]] : tensor<?x?xi1> : tensor<2x4x?x?xf32>
func.func @operands(%s: tensor<2x4x?x?xf32>, %len: tensor<2xi64>, %allowed: tensor<?x?xi1>) -> tensor<2x4x?x?xf32> {
  %r = attn.mask %s where key_length(%len : tensor<2xi64>) and %allowed : tensor<?x?xi1> : tensor<2x4x?x?xf32>
  return %r : tensor<2x4x?x?xf32>
}
