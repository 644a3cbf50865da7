// RUN: attn-opt %s | attn-opt | FileCheck %s
// RUN: attn-opt %s --mlir-print-op-generic | attn-opt | FileCheck %s
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Weights from scores.
// CHECK-LABEL: func @softmax
// CHECK: attn.softmax %{{.*}} : tensor<2x?x3xf32>
func.func @softmax(%s: tensor<2x?x3xf32>) -> tensor<2x?x3xf32> {
  %w = attn.softmax %s : tensor<2x?x3xf32>
  return %w : tensor<2x?x3xf32>
}
