// RUN: attn-opt %s | attn-opt | FileCheck %s
// RUN: attn-opt %s --mlir-print-op-generic | attn-opt | FileCheck %s
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The operand of causal(offset = %x) is tensor<?xi32> unless a type is given; it is printed always.
// CHECK-LABEL: func @default_type
// CHECK: where causal(offset = %{{[^ ]*}} : tensor<?xi32>) : tensor<2x4x5x6xf32>
func.func @default_type(%s: tensor<2x4x5x6xf32>, %n: tensor<?xi32>) -> tensor<2x4x5x6xf32> {
  %r = attn.mask %s where causal(offset = %n) : tensor<2x4x5x6xf32>
  return %r : tensor<2x4x5x6xf32>
}
