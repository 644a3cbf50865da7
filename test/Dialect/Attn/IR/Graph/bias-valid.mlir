// RUN: attn-opt %s -verify-diagnostics
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What attn.bias accepts; the numbers are those of docs/Spec.md.

func.func @bias_c1_row(%s: tensor<2x4x5x6xf32>, %b: tensor<6xf32>) {
  %r = attn.bias %s, %b : tensor<2x4x5x6xf32>, tensor<6xf32>
  return
}

func.func @bias_c1_per_head(%s: tensor<2x4x5x6xf32>, %b: tensor<4x1x1xf32>) {
  %r = attn.bias %s, %b : tensor<2x4x5x6xf32>, tensor<4x1x1xf32>
  return
}

func.func @bias_c1_unknown(%s: tensor<2x4x?x6xf32>, %b: tensor<?x?xf32>) {
  %r = attn.bias %s, %b : tensor<2x4x?x6xf32>, tensor<?x?xf32>
  return
}

func.func @bias_c1_scalar(%s: tensor<5x6xf32>, %b: tensor<f32>) {
  %r = attn.bias %s, %b : tensor<5x6xf32>, tensor<f32>
  return
}

func.func @bias_c2_same_element(%s: tensor<5x6xf64>, %b: tensor<5x6xf64>) {
  %r = attn.bias %s, %b : tensor<5x6xf64>, tensor<5x6xf64>
  return
}

func.func @bias_c3_same_result_type(%s: tensor<5x6xf32>, %b: tensor<5x6xf32>) {
  %r = "attn.bias"(%s, %b) : (tensor<5x6xf32>, tensor<5x6xf32>) -> tensor<5x6xf32>
  return
}
