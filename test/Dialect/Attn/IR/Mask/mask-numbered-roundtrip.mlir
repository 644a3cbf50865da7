// RUN: attn-opt %s | attn-opt | FileCheck %s
// RUN: attn-opt %s --mlir-print-op-generic | attn-opt | FileCheck %s
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What attn-tile-queries makes of documents: numbers, where each row's keys lie, and a table for each position.
// CHECK-LABEL: func @numbered
func.func @numbered(%s: tensor<2x4x5x7xf32>, %i: tensor<5xi32>, %j: tensor<7xi32>, %t: tensor<5xi32>) -> tensor<2x4x5x7xf32> {
  // CHECK: where document(%arg1 : tensor<5xi32>, %arg2 : tensor<7xi32> spans %arg3 : tensor<5xi32>, %arg3 : tensor<5xi32>) and causal(bottom_right in document = %arg3 : tensor<5xi32>) and window(left = 3, top_left in document = %arg3 : tensor<5xi32>) and chunked(8, from %arg3 : tensor<5xi32>, bottom_right in document = %arg3 : tensor<5xi32>)
  %0 = attn.mask %s where document(%i : tensor<5xi32>, %j : tensor<7xi32> spans %t : tensor<5xi32>, %t : tensor<5xi32>) and causal(bottom_right in document = %t : tensor<5xi32>)
      and window(left = 3, top_left in document = %t : tensor<5xi32>) and chunked(8, from %t : tensor<5xi32>, bottom_right in document = %t : tensor<5xi32>) : tensor<2x4x5x7xf32>
  return %0 : tensor<2x4x5x7xf32>
}
