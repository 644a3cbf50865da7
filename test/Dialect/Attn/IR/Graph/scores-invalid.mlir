// RUN: attn-opt %s -split-input-file -verify-diagnostics
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What attn.scores rejects; the numbers are those of docs/Spec.md.

func.func @scores_c1_rank_1(%a: tensor<4xf32>, %b: tensor<3x4xf32>) {
  // expected-error@+1 {{expects the query to have rank 2, 3 or 4, but got 'tensor<4xf32>'}}
  %r = attn.scores %a, %b : (tensor<4xf32>, tensor<3x4xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @scores_c1_rank_5(%a: tensor<1x1x1x2x4xf32>, %b: tensor<1x1x1x3x4xf32>) {
  // expected-error@+1 {{expects the query to have rank 2, 3 or 4, but got 'tensor<1x1x1x2x4xf32>'}}
  %r = attn.scores %a, %b : (tensor<1x1x1x2x4xf32>, tensor<1x1x1x3x4xf32>) -> tensor<1x1x1x2x3xf32>
  return
}

// -----

func.func @scores_c2_key_of_other_rank(%a: tensor<2x4xf32>, %b: tensor<1x3x4xf32>) {
  // expected-error@+1 {{expects query and key to have the same rank, but got 'tensor<2x4xf32>' and 'tensor<1x3x4xf32>'}}
  %r = attn.scores %a, %b : (tensor<2x4xf32>, tensor<1x3x4xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @scores_c2_scores_of_other_rank(%a: tensor<2x4xf32>, %b: tensor<3x4xf32>) {
  // expected-error@+1 {{expects query and scores to have the same rank, but got 'tensor<2x4xf32>' and 'tensor<1x2x3xf32>'}}
  %r = attn.scores %a, %b : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<1x2x3xf32>
  return
}

// -----

func.func @scores_c3_other_element(%a: tensor<2x4xf16>, %b: tensor<3x4xf32>) {
  // expected-error@+1 {{expects query and key to have the same element type, but got 'f16' and 'f32'}}
  %r = attn.scores %a, %b : (tensor<2x4xf16>, tensor<3x4xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @scores_c4_key_of_other_batch(%a: tensor<2x2x2x4xf32>, %b: tensor<3x2x3x4xf32>) {
  // expected-error@+1 {{expects query and key of the same batch size, but got 2 and 3}}
  %r = attn.scores %a, %b : (tensor<2x2x2x4xf32>, tensor<3x2x3x4xf32>) -> tensor<2x2x2x3xf32>
  return
}

// -----

func.func @scores_c4_scores_of_other_batch(%a: tensor<2x2x2x4xf32>, %b: tensor<2x2x3x4xf32>) {
  // expected-error@+1 {{expects query and scores of the same batch size, but got 2 and 3}}
  %r = attn.scores %a, %b : (tensor<2x2x2x4xf32>, tensor<2x2x3x4xf32>) -> tensor<3x2x2x3xf32>
  return
}

// -----

func.func @scores_c5_five_heads_over_two(%a: tensor<5x2x4xf32>, %b: tensor<2x3x4xf32>) {
  // expected-error@+1 {{expects the number of query heads to be a multiple of the number of key heads, but got 5 and 2}}
  %r = attn.scores %a, %b : (tensor<5x2x4xf32>, tensor<2x3x4xf32>) -> tensor<5x2x3xf32>
  return
}

// -----

func.func @scores_c5_no_key_head(%a: tensor<4x2x4xf32>, %b: tensor<0x3x4xf32>) {
  // expected-error@+1 {{expects the number of query heads to be a multiple of the number of key heads, but got 4 and 0}}
  %r = attn.scores %a, %b : (tensor<4x2x4xf32>, tensor<0x3x4xf32>) -> tensor<4x2x3xf32>
  return
}

// -----

func.func @scores_c5_scores_of_other_heads(%a: tensor<4x2x4xf32>, %b: tensor<2x3x4xf32>) {
  // expected-error@+1 {{expects as many heads in the scores as in the query, but got 2 and 4}}
  %r = attn.scores %a, %b : (tensor<4x2x4xf32>, tensor<2x3x4xf32>) -> tensor<2x2x3xf32>
  return
}

// -----

func.func @scores_c6_other_head_dimension(%a: tensor<2x4xf32>, %b: tensor<3x5xf32>) {
  // expected-error@+1 {{expects query and key to have the same head dimension, but got 4 and 5}}
  %r = attn.scores %a, %b : (tensor<2x4xf32>, tensor<3x5xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @scores_c7_other_row_count(%a: tensor<2x4xf32>, %b: tensor<3x4xf32>) {
  // expected-error@+1 {{expects a row of scores per query, but got 4 and 2}}
  %r = attn.scores %a, %b : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<4x3xf32>
  return
}

// -----

func.func @scores_c7_other_column_count(%a: tensor<2x4xf32>, %b: tensor<3x4xf32>) {
  // expected-error@+1 {{expects a column of scores per key, but got 4 and 3}}
  %r = attn.scores %a, %b : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @scores_c8_bf16_gives_bf16(%a: tensor<2x4xbf16>, %b: tensor<3x4xbf16>) {
  // expected-error@+1 {{expects scores of 'f32' for queries of 'bf16', but got 'bf16'}}
  %r = attn.scores %a, %b : (tensor<2x4xbf16>, tensor<3x4xbf16>) -> tensor<2x3xbf16>
  return
}

// -----

func.func @scores_c8_f64_gives_f32(%a: tensor<2x4xf64>, %b: tensor<3x4xf64>) {
  // expected-error@+1 {{expects scores of 'f64' for queries of 'f64', but got 'f32'}}
  %r = attn.scores %a, %b : (tensor<2x4xf64>, tensor<3x4xf64>) -> tensor<2x3xf32>
  return
}
