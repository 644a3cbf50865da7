// RUN: attn-opt %s -canonicalize | FileCheck %s
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A mask that counts from the last key keeps its meaning.
// CHECK-LABEL: @different_last_keys
// CHECK: attn.mask {{.*}} where key_length
// CHECK: attn.mask {{.*}} where causal(bottom_right)
func.func @different_last_keys(%scores: tensor<2x1x4x5xf32>, %n: tensor<2xi32>) -> tensor<2x1x4x5xf32> {
  %0 = attn.mask %scores where key_length(%n : tensor<2xi32>) : tensor<2x1x4x5xf32>
  %1 = attn.mask %0 where causal(bottom_right) : tensor<2x1x4x5xf32>
  return %1 : tensor<2x1x4x5xf32>
}
