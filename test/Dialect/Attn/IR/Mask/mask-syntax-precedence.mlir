// RUN: attn-opt %s | attn-opt | FileCheck %s
// RUN: attn-opt %s --mlir-print-op-generic | attn-opt | FileCheck %s
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// `not` binds tighter than `and`, `and` tighter than `or`; only needed parentheses are printed.
// CHECK-LABEL: func @and_before_or
// CHECK: where %{{[^ ]*}} : tensor<5x6xi1> or causal(top_left) and key_length(%{{[^ ]*}} : tensor<2xi32>) : tensor<2x4x5x6xf32>
func.func @and_before_or(%s: tensor<2x4x5x6xf32>, %m: tensor<5x6xi1>, %n: tensor<2xi32>) -> tensor<2x4x5x6xf32> {
  %r = attn.mask %s where %m : tensor<5x6xi1> or causal(top_left) and key_length(%n : tensor<2xi32>) : tensor<2x4x5x6xf32>
  return %r : tensor<2x4x5x6xf32>
}

// CHECK-LABEL: func @parentheses_keep_or
// CHECK: where (%{{[^ ]*}} : tensor<5x6xi1> or causal(top_left)) and key_length(%{{[^ ]*}} : tensor<2xi32>) : tensor<2x4x5x6xf32>
func.func @parentheses_keep_or(%s: tensor<2x4x5x6xf32>, %m: tensor<5x6xi1>, %n: tensor<2xi32>) -> tensor<2x4x5x6xf32> {
  %r = attn.mask %s where (%m : tensor<5x6xi1> or causal(top_left)) and key_length(%n : tensor<2xi32>) : tensor<2x4x5x6xf32>
  return %r : tensor<2x4x5x6xf32>
}

// CHECK-LABEL: func @needless_parentheses
// CHECK: where causal(top_left) and key_length(%{{[^ ]*}} : tensor<2xi32>) : tensor<2x4x5x6xf32>
func.func @needless_parentheses(%s: tensor<2x4x5x6xf32>, %n: tensor<2xi32>) -> tensor<2x4x5x6xf32> {
  %r = attn.mask %s where ((causal(top_left)) and (key_length(%n : tensor<2xi32>))) : tensor<2x4x5x6xf32>
  return %r : tensor<2x4x5x6xf32>
}

// CHECK-LABEL: func @not_before_and
// CHECK: where not causal(top_left) and causal(bottom_right) : tensor<2x4x5x6xf32>
func.func @not_before_and(%s: tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xf32> {
  %r = attn.mask %s where not causal(top_left) and causal(bottom_right) : tensor<2x4x5x6xf32>
  return %r : tensor<2x4x5x6xf32>
}

// CHECK-LABEL: func @not_of_a_list
// CHECK: where not (causal(top_left) and causal(bottom_right)) : tensor<2x4x5x6xf32>
func.func @not_of_a_list(%s: tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xf32> {
  %r = attn.mask %s where not (causal(top_left) and causal(bottom_right)) : tensor<2x4x5x6xf32>
  return %r : tensor<2x4x5x6xf32>
}

// CHECK-LABEL: func @not_not
// CHECK: where not not causal(top_left) : tensor<2x4x5x6xf32>
func.func @not_not(%s: tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xf32> {
  %r = attn.mask %s where not not causal(top_left) : tensor<2x4x5x6xf32>
  return %r : tensor<2x4x5x6xf32>
}

// CHECK-LABEL: func @nested_and
// CHECK: where causal(top_left) and (causal(bottom_right) and causal(offset = 1)) : tensor<2x4x5x6xf32>
func.func @nested_and(%s: tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xf32> {
  %r = attn.mask %s where causal(top_left) and (causal(bottom_right) and causal(offset = 1)) : tensor<2x4x5x6xf32>
  return %r : tensor<2x4x5x6xf32>
}
