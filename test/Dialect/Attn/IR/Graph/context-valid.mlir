// RUN: attn-opt %s -verify-diagnostics
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What attn.context accepts; the numbers are those of docs/Spec.md.

func.func @context_c1_rank_3(%a: tensor<2x5x6xf32>, %b: tensor<2x6x4xf32>) {
  %r = attn.context %a, %b : (tensor<2x5x6xf32>, tensor<2x6x4xf32>) -> tensor<2x5x4xf32>
  return
}

func.func @context_c2_same_rank(%a: tensor<5x6xf32>, %b: tensor<6x4xf32>) {
  %r = attn.context %a, %b : (tensor<5x6xf32>, tensor<6x4xf32>) -> tensor<5x4xf32>
  return
}

func.func @context_c3_unknown_batch(%a: tensor<?x2x5x6xf32>, %b: tensor<3x2x6x4xf32>) {
  %r = attn.context %a, %b : (tensor<?x2x5x6xf32>, tensor<3x2x6x4xf32>) -> tensor<?x2x5x4xf32>
  return
}

func.func @context_c4_groups_of_four(%a: tensor<8x5x6xf32>, %b: tensor<2x6x4xf32>) {
  %r = attn.context %a, %b : (tensor<8x5x6xf32>, tensor<2x6x4xf32>) -> tensor<8x5x4xf32>
  return
}

func.func @context_c5_unknown_keys(%a: tensor<5x?xf32>, %b: tensor<6x4xf32>) {
  %r = attn.context %a, %b : (tensor<5x?xf32>, tensor<6x4xf32>) -> tensor<5x4xf32>
  return
}

func.func @context_c6_wider_value(%a: tensor<5x6xf32>, %b: tensor<6x9xf32>) {
  %r = attn.context %a, %b : (tensor<5x6xf32>, tensor<6x9xf32>) -> tensor<5x9xf32>
  return
}

func.func @context_c7_same_element(%a: tensor<5x6xf32>, %b: tensor<6x4xf16>) {
  %r = attn.context %a, %b : (tensor<5x6xf32>, tensor<6x4xf16>) -> tensor<5x4xf16>
  return
}

func.func @context_c8_f64_weights(%a: tensor<5x6xf64>, %b: tensor<6x4xf64>) {
  %r = attn.context %a, %b : (tensor<5x6xf64>, tensor<6x4xf64>) -> tensor<5x4xf64>
  return
}
