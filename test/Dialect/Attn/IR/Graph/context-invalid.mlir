// RUN: attn-opt %s -split-input-file -verify-diagnostics
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What attn.context rejects; the numbers are those of docs/Spec.md.

func.func @context_c1_rank_1(%a: tensor<6xf32>, %b: tensor<6x4xf32>) {
  // expected-error@+1 {{expects the weights to have rank 2, 3 or 4, but got 'tensor<6xf32>'}}
  %r = attn.context %a, %b : (tensor<6xf32>, tensor<6x4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @context_c2_value_of_other_rank(%a: tensor<5x6xf32>, %b: tensor<1x6x4xf32>) {
  // expected-error@+1 {{expects weights and value to have the same rank}}
  %r = attn.context %a, %b : (tensor<5x6xf32>, tensor<1x6x4xf32>) -> tensor<5x4xf32>
  return
}

// -----

func.func @context_c2_out_of_other_rank(%a: tensor<5x6xf32>, %b: tensor<6x4xf32>) {
  // expected-error@+1 {{expects weights and out to have the same rank}}
  %r = attn.context %a, %b : (tensor<5x6xf32>, tensor<6x4xf32>) -> tensor<1x5x4xf32>
  return
}

// -----

func.func @context_c3_value_of_other_batch(%a: tensor<2x2x5x6xf32>, %b: tensor<3x2x6x4xf32>) {
  // expected-error@+1 {{expects weights and value of the same batch size, but got 2 and 3}}
  %r = attn.context %a, %b : (tensor<2x2x5x6xf32>, tensor<3x2x6x4xf32>) -> tensor<2x2x5x4xf32>
  return
}

// -----

func.func @context_c3_out_of_other_batch(%a: tensor<2x2x5x6xf32>, %b: tensor<2x2x6x4xf32>) {
  // expected-error@+1 {{expects weights and out of the same batch size, but got 2 and 3}}
  %r = attn.context %a, %b : (tensor<2x2x5x6xf32>, tensor<2x2x6x4xf32>) -> tensor<3x2x5x4xf32>
  return
}

// -----

func.func @context_c4_three_heads_over_two(%a: tensor<3x5x6xf32>, %b: tensor<2x6x4xf32>) {
  // expected-error@+1 {{expects the number of query heads to be a multiple of the number of key heads, but got 3 and 2}}
  %r = attn.context %a, %b : (tensor<3x5x6xf32>, tensor<2x6x4xf32>) -> tensor<3x5x4xf32>
  return
}

// -----

func.func @context_c4_out_of_other_heads(%a: tensor<4x5x6xf32>, %b: tensor<2x6x4xf32>) {
  // expected-error@+1 {{expects as many heads in out as in the weights, but got 2 and 4}}
  %r = attn.context %a, %b : (tensor<4x5x6xf32>, tensor<2x6x4xf32>) -> tensor<2x5x4xf32>
  return
}

// -----

func.func @context_c5_other_key_count(%a: tensor<5x6xf32>, %b: tensor<7x4xf32>) {
  // expected-error@+1 {{expects a column of weights per value, but got 6 and 7}}
  %r = attn.context %a, %b : (tensor<5x6xf32>, tensor<7x4xf32>) -> tensor<5x4xf32>
  return
}

// -----

func.func @context_c6_other_row_count(%a: tensor<5x6xf32>, %b: tensor<6x4xf32>) {
  // expected-error@+1 {{expects a row of out per row of weights, but got 3 and 5}}
  %r = attn.context %a, %b : (tensor<5x6xf32>, tensor<6x4xf32>) -> tensor<3x4xf32>
  return
}

// -----

func.func @context_c6_other_head_dimension(%a: tensor<5x6xf32>, %b: tensor<6x4xf32>) {
  // expected-error@+1 {{expects out and value to have the same head dimension, but got 3 and 4}}
  %r = attn.context %a, %b : (tensor<5x6xf32>, tensor<6x4xf32>) -> tensor<5x3xf32>
  return
}

// -----

func.func @context_c7_other_element(%a: tensor<5x6xf32>, %b: tensor<6x4xf16>) {
  // expected-error@+1 {{expects value and out to have the same element type, but got 'f16' and 'f32'}}
  %r = attn.context %a, %b : (tensor<5x6xf32>, tensor<6x4xf16>) -> tensor<5x4xf32>
  return
}

// -----

func.func @context_c8_f16_weights(%a: tensor<5x6xf16>, %b: tensor<6x4xf16>) {
  // expected-error@+1 {{expects weights of 'f32' for values of 'f16', but got 'f16'}}
  %r = attn.context %a, %b : (tensor<5x6xf16>, tensor<6x4xf16>) -> tensor<5x4xf16>
  return
}
