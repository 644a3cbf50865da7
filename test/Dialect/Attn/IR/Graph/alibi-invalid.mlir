// RUN: attn-opt %s -split-input-file -verify-diagnostics
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What attn.alibi rejects; the numbers are those of docs/Spec.md.

func.func @alibi_c1_rank_1(%s: tensor<5xf32>, %t: tensor<1xf32>) {
  // expected-error@+1 {{expects the scores to have rank 2, 3 or 4, but got 'tensor<5xf32>'}}
  %r = attn.alibi %s, %t aligned top_left : tensor<5xf32>, tensor<1xf32>
  return
}

// -----

func.func @alibi_c2_other_result_type(%s: tensor<4x5x6xf32>, %t: tensor<4xf32>) {
  // expected-error@+1 {{failed to verify that all of {scores, result} have same type}}
  %r = "attn.alibi"(%s, %t) <{alignment = 0 : i32, operandSegmentSizes = array<i32: 1, 1, 0>}> : (tensor<4x5x6xf32>, tensor<4xf32>) -> tensor<4x5x7xf32>
  return
}

// -----

func.func @alibi_c3_other_number_of_heads(%s: tensor<4x5x6xf32>, %t: tensor<3xf32>) {
  // expected-error@+1 {{expects slopes to have type 'tensor<4xf32>', but got 'tensor<3xf32>'}}
  %r = attn.alibi %s, %t aligned top_left : tensor<4x5x6xf32>, tensor<3xf32>
  return
}

// -----

func.func @alibi_c3_other_element(%s: tensor<4x5x6xf32>, %t: tensor<4xf16>) {
  // expected-error@+1 {{expects slopes to have type 'tensor<4xf32>', but got 'tensor<4xf16>'}}
  %r = attn.alibi %s, %t aligned top_left : tensor<4x5x6xf32>, tensor<4xf16>
  return
}

// -----

func.func @alibi_c4_computed_slopes_of_unknown_heads(%s: tensor<?x5x6xf32>) {
  // expected-error@+1 {{expects a known number of heads where slopes are left out, but got 'tensor<?x5x6xf32>'}}
  %r = attn.alibi %s aligned top_left : tensor<?x5x6xf32>
  return
}

// -----

func.func @alibi_c4_computed_slopes_of_too_many_heads(%s: tensor<65537x5x6xf32>) {
  // expected-error@+1 {{expects at most 65536 heads where slopes are left out, but got 'tensor<65537x5x6xf32>'}}
  %r = attn.alibi %s aligned top_left : tensor<65537x5x6xf32>
  return
}

// -----

func.func @alibi_c5_no_offset(%s: tensor<4x5x6xf32>, %t: tensor<4xf32>) {
  // expected-error@+1 {{expects an offset exactly with the alignment offset}}
  %r = attn.alibi %s, %t aligned offset : tensor<4x5x6xf32>, tensor<4xf32>
  return
}

// -----

func.func @alibi_c5_offset_of_top_left(%s: tensor<4x5x6xf32>, %t: tensor<4xf32>, %o: tensor<i64>) {
  // expected-error@+1 {{expects an offset exactly with the alignment offset}}
  %r = attn.alibi %s, %t aligned top_left by %o : tensor<i64> : tensor<4x5x6xf32>, tensor<4xf32>
  return
}

// -----

func.func @alibi_c6_offset_of_floats(%s: tensor<4x5x6xf32>, %t: tensor<4xf32>, %o: tensor<f32>) {
  // expected-error@+1 {{alibi}}
  %r = attn.alibi %s, %t aligned offset by %o : tensor<f32> : tensor<4x5x6xf32>, tensor<4xf32>
  return
}
