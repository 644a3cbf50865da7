// RUN: attn-opt %s -verify-diagnostics
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What attn.subtract_weights accepts; the numbers are those of docs/Spec.md.

func.func @subtract_weights_c1_rank_2(%a: tensor<5x?xf32>, %l: tensor<f32>) {
  %w = attn.subtract_weights %a, %a by %l : tensor<5x?xf32>, tensor<f32>
  return
}

func.func @subtract_weights_c1_rank_4(%a: tensor<?x2x?x?xf32>, %b: tensor<?x2x?x?xf32>, %l: tensor<2xf32>) {
  %w = attn.subtract_weights %a, %b by %l : tensor<?x2x?x?xf32>, tensor<2xf32>
  return
}

func.func @subtract_weights_c2_same_type(%a: tensor<4x5x6xf64>, %b: tensor<4x5x6xf64>, %l: tensor<f64>) {
  %w = attn.subtract_weights %a, %b by %l : tensor<4x5x6xf64>, tensor<f64>
  return
}

func.func @subtract_weights_c3_one_element(%a: tensor<4x5x6xf32>, %l: tensor<1xf32>) {
  %w = attn.subtract_weights %a, %a by %l : tensor<4x5x6xf32>, tensor<1xf32>
  return
}

func.func @subtract_weights_c3_unknown_heads(%a: tensor<?x5x6xf32>, %b: tensor<4x5x6xf32>, %l: tensor<4xf32>, %n: tensor<?xf32>) {
  %w = attn.subtract_weights %a, %a by %l : tensor<?x5x6xf32>, tensor<4xf32>
  %x = attn.subtract_weights %b, %b by %n : tensor<4x5x6xf32>, tensor<?xf32>
  return
}
