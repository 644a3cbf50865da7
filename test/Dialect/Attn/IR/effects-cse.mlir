// RUN: attn-opt %s -cse | FileCheck %s
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Equal graph ops become one; different factors or masks do not.
// CHECK-LABEL: func @equal
// CHECK-COUNT-1: attn.mask
// CHECK-NOT: attn.mask
func.func @equal(%s: tensor<5x6xf32>) -> (tensor<5x6xf32>, tensor<5x6xf32>) {
  %a = attn.mask %s where causal(top_left) : tensor<5x6xf32>
  %b = attn.mask %s where causal(top_left) : tensor<5x6xf32>
  return %a, %b : tensor<5x6xf32>, tensor<5x6xf32>
}

// CHECK-LABEL: func @different
// CHECK: attn.mask %{{.*}} where causal(top_left)
// CHECK: attn.mask %{{.*}} where causal(bottom_right)
func.func @different(%s: tensor<5x6xf32>) -> (tensor<5x6xf32>, tensor<5x6xf32>) {
  %a = attn.mask %s where causal(top_left) : tensor<5x6xf32>
  %b = attn.mask %s where causal(bottom_right) : tensor<5x6xf32>
  return %a, %b : tensor<5x6xf32>, tensor<5x6xf32>
}
