// RUN: attn-opt %s | attn-opt | FileCheck %s
// RUN: attn-opt %s --mlir-print-op-generic | attn-opt | FileCheck %s
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every term after `where`.
// CHECK-LABEL: func @top_left
// CHECK: where causal(top_left) : tensor<2x4x5x6xf32>
func.func @top_left(%s: tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xf32> {
  %r = attn.mask %s where causal(top_left) : tensor<2x4x5x6xf32>
  return %r : tensor<2x4x5x6xf32>
}

// CHECK-LABEL: func @bottom_right
// CHECK: where causal(bottom_right) : tensor<2x4x5x6xf32>
func.func @bottom_right(%s: tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xf32> {
  %r = attn.mask %s where causal(bottom_right) : tensor<2x4x5x6xf32>
  return %r : tensor<2x4x5x6xf32>
}

// CHECK-LABEL: func @offset_constant
// CHECK: where causal(offset = 3) : tensor<2x4x5x6xf32>
func.func @offset_constant(%s: tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xf32> {
  %r = attn.mask %s where causal(offset = 3) : tensor<2x4x5x6xf32>
  return %r : tensor<2x4x5x6xf32>
}

// CHECK-LABEL: func @offset_negative
// CHECK: where causal(offset = -3) : tensor<2x4x5x6xf32>
func.func @offset_negative(%s: tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xf32> {
  %r = attn.mask %s where causal(offset = -3) : tensor<2x4x5x6xf32>
  return %r : tensor<2x4x5x6xf32>
}

// CHECK-LABEL: func @offset_operand
// CHECK: where causal(offset = %{{[^ ]*}} : tensor<2xi64>) : tensor<2x4x5x6xf32>
func.func @offset_operand(%s: tensor<2x4x5x6xf32>, %n: tensor<2xi64>) -> tensor<2x4x5x6xf32> {
  %r = attn.mask %s where causal(offset = %n : tensor<2xi64>) : tensor<2x4x5x6xf32>
  return %r : tensor<2x4x5x6xf32>
}

// CHECK-LABEL: func @key_length
// CHECK: where key_length(%{{[^ ]*}} : tensor<i32>) : tensor<2x4x5x6xf32>
func.func @key_length(%s: tensor<2x4x5x6xf32>, %n: tensor<i32>) -> tensor<2x4x5x6xf32> {
  %r = attn.mask %s where key_length(%n : tensor<i32>) : tensor<2x4x5x6xf32>
  return %r : tensor<2x4x5x6xf32>
}

// CHECK-LABEL: func @boolean
// CHECK: where %{{[^ ]*}} : tensor<?x1x6xi1> : tensor<2x4x5x6xf32>
func.func @boolean(%s: tensor<2x4x5x6xf32>, %m: tensor<?x1x6xi1>) -> tensor<2x4x5x6xf32> {
  %r = attn.mask %s where %m : tensor<?x1x6xi1> : tensor<2x4x5x6xf32>
  return %r : tensor<2x4x5x6xf32>
}

// CHECK-LABEL: func @negation
// CHECK: where not causal(top_left) : tensor<2x4x5x6xf32>
func.func @negation(%s: tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xf32> {
  %r = attn.mask %s where not causal(top_left) : tensor<2x4x5x6xf32>
  return %r : tensor<2x4x5x6xf32>
}
