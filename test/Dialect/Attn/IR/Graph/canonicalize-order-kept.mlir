// RUN: attn-opt %s -canonicalize | FileCheck %s
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Steps of different kinds keep their order: exclusion is the last word on a score.
// CHECK-LABEL: func @bias_between_masks
// CHECK: attn.mask
// CHECK-NEXT: attn.bias
// CHECK-NEXT: attn.mask
func.func @bias_between_masks(%s: tensor<5x6xf32>, %b: tensor<5x6xf32>) -> tensor<5x6xf32> {
  %0 = attn.mask %s where causal(top_left) : tensor<5x6xf32>
  %1 = attn.bias %0, %b : tensor<5x6xf32>, tensor<5x6xf32>
  %2 = attn.mask %1 where causal(offset = 1) : tensor<5x6xf32>
  return %2 : tensor<5x6xf32>
}

// CHECK-LABEL: func @bias_between_scales
// CHECK: attn.scale
// CHECK-NEXT: attn.bias
// CHECK-NEXT: attn.scale
func.func @bias_between_scales(%s: tensor<5x6xf32>, %b: tensor<5x6xf32>) -> tensor<5x6xf32> {
  %0 = attn.scale %s by 0.5 : tensor<5x6xf32>
  %1 = attn.bias %0, %b : tensor<5x6xf32>, tensor<5x6xf32>
  %2 = attn.scale %1 by 0.5 : tensor<5x6xf32>
  return %2 : tensor<5x6xf32>
}
