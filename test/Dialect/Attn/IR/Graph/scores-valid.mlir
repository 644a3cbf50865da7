// RUN: attn-opt %s -verify-diagnostics
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What attn.scores accepts; the numbers are those of docs/Spec.md.

func.func @scores_c1_rank_2(%a: tensor<2x4xf32>, %b: tensor<3x4xf32>) {
  %r = attn.scores %a, %b : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<2x3xf32>
  return
}

func.func @scores_c1_rank_4(%a: tensor<1x2x2x4xf32>, %b: tensor<1x2x3x4xf32>) {
  %r = attn.scores %a, %b : (tensor<1x2x2x4xf32>, tensor<1x2x3x4xf32>) -> tensor<1x2x2x3xf32>
  return
}

func.func @scores_c2_same_rank(%a: tensor<2x2x4xf32>, %b: tensor<2x3x4xf32>) {
  %r = attn.scores %a, %b : (tensor<2x2x4xf32>, tensor<2x3x4xf32>) -> tensor<2x2x3xf32>
  return
}

func.func @scores_c3_same_element(%a: tensor<2x4xf16>, %b: tensor<3x4xf16>) {
  %r = attn.scores %a, %b : (tensor<2x4xf16>, tensor<3x4xf16>) -> tensor<2x3xf32>
  return
}

func.func @scores_c4_unknown_batch(%a: tensor<?x2x2x4xf32>, %b: tensor<5x2x3x4xf32>) {
  %r = attn.scores %a, %b : (tensor<?x2x2x4xf32>, tensor<5x2x3x4xf32>) -> tensor<?x2x2x3xf32>
  return
}

func.func @scores_c5_groups_of_three(%a: tensor<6x2x4xf32>, %b: tensor<2x3x4xf32>) {
  %r = attn.scores %a, %b : (tensor<6x2x4xf32>, tensor<2x3x4xf32>) -> tensor<6x2x3xf32>
  return
}

func.func @scores_c5_unknown_heads(%a: tensor<?x2x4xf32>, %b: tensor<2x3x4xf32>) {
  %r = attn.scores %a, %b : (tensor<?x2x4xf32>, tensor<2x3x4xf32>) -> tensor<?x2x3xf32>
  return
}

func.func @scores_c6_unknown_head_dimension(%a: tensor<2x?xf32>, %b: tensor<3x4xf32>) {
  %r = attn.scores %a, %b : (tensor<2x?xf32>, tensor<3x4xf32>) -> tensor<2x3xf32>
  return
}

func.func @scores_c7_unknown_lengths(%a: tensor<?x4xf32>, %b: tensor<3x4xf32>) {
  %r = attn.scores %a, %b : (tensor<?x4xf32>, tensor<3x4xf32>) -> tensor<?x?xf32>
  return
}

func.func @scores_c8_bf16_gives_f32(%a: tensor<2x4xbf16>, %b: tensor<3x4xbf16>) {
  %r = attn.scores %a, %b : (tensor<2x4xbf16>, tensor<3x4xbf16>) -> tensor<2x3xf32>
  return
}

func.func @scores_c8_f64_gives_f64(%a: tensor<2x4xf64>, %b: tensor<3x4xf64>) {
  %r = attn.scores %a, %b : (tensor<2x4xf64>, tensor<3x4xf64>) -> tensor<2x3xf64>
  return
}
