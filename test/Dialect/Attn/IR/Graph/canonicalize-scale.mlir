// RUN: attn-opt %s -canonicalize | FileCheck %s
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Scales in a row become one.
// CHECK-LABEL: func @two
// CHECK-SAME: (%[[S:.*]]: tensor<2x3xf32>)
// CHECK-NEXT: %[[R:.*]] = attn.scale %[[S]] by 1.500000e+00 : tensor<2x3xf32>
// CHECK-NEXT: return %[[R]]
func.func @two(%s: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %a = attn.scale %s by 0.5 : tensor<2x3xf32>
  %b = attn.scale %a by 3.0 : tensor<2x3xf32>
  return %b : tensor<2x3xf32>
}

// CHECK-LABEL: func @inverse
// CHECK-SAME: (%[[S:.*]]: tensor<2x3xf32>)
// CHECK-NEXT: return %[[S]]
func.func @inverse(%s: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %a = attn.scale %s by 0.5 : tensor<2x3xf32>
  %b = attn.scale %a by 2.0 : tensor<2x3xf32>
  return %b : tensor<2x3xf32>
}
