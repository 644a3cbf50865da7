// RUN: attn-opt %s | attn-opt | FileCheck %s
// RUN: attn-opt %s --mlir-print-op-generic | attn-opt | FileCheck %s
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// CHECK: %maximum, %sum, %acc = attn.merge_states %[[M:.*]], %[[L:.*]], %[[A:.*]] with %[[M]], %[[L]], %[[A]] : tensor<2x?xf32>, tensor<2x?x8xf32>
func.func @merge(%m: tensor<2x?xf32>, %l: tensor<2x?xf32>, %a: tensor<2x?x8xf32>) -> tensor<2x?x8xf32> {
  %r:3 = attn.merge_states %m, %l, %a with %m, %l, %a : tensor<2x?xf32>, tensor<2x?x8xf32>
  return %r#2 : tensor<2x?x8xf32>
}
