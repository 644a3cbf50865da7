// RUN: attn-opt %s --mlir-print-op-generic | FileCheck %s
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Terms name operands by position; an operand that is written twice is two operands.
// CHECK-LABEL: sym_name = "positions"
// CHECK: mask = #attn.any_of<#attn.all_of<#attn.key_length<0>, #attn.allowed<1>>, #attn.not<#attn.causal<offset, operand = 2>>>
func.func @positions(%s: tensor<2x4x5x6xf32>, %n: tensor<2xi32>, %m: tensor<5x6xi1>) -> tensor<2x4x5x6xf32> {
  %r = attn.mask %s where key_length(%n : tensor<2xi32>) and %m : tensor<5x6xi1> or not causal(offset = %n : tensor<2xi32>) : tensor<2x4x5x6xf32>
  return %r : tensor<2x4x5x6xf32>
}

// CHECK-LABEL: sym_name = "constants"
// CHECK: mask = #attn.all_of<#attn.causal<top_left>, #attn.causal<offset, offset = -2>>
func.func @constants(%s: tensor<5x6xf32>) -> tensor<5x6xf32> {
  %r = attn.mask %s where causal(top_left) and causal(offset = -2) : tensor<5x6xf32>
  return %r : tensor<5x6xf32>
}
