// RUN: attn-opt %s -split-input-file -verify-diagnostics
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What attn.sdpa rejects about operands; the numbers are those of docs/Spec.md.

func.func @sdpa_c1_rank_1(%q: tensor<8xf32>, %k: tensor<6x8xf32>, %v: tensor<6x3xf32>) {
  // expected-error@+1 {{expects the query to have rank 2, 3 or 4, but got 'tensor<8xf32>'}}
  %r0 = attn.sdpa %q, %k, %v scale 0.5
      : (tensor<8xf32>, tensor<6x8xf32>, tensor<6x3xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @sdpa_c2_key_of_other_rank(%q: tensor<5x8xf32>, %k: tensor<1x6x8xf32>, %v: tensor<6x3xf32>) {
  // expected-error@+1 {{expects query and key to have the same rank}}
  %r0 = attn.sdpa %q, %k, %v scale 0.5
      : (tensor<5x8xf32>, tensor<1x6x8xf32>, tensor<6x3xf32>) -> tensor<5x3xf32>
  return
}

// -----

func.func @sdpa_c2_value_of_other_rank(%q: tensor<5x8xf32>, %k: tensor<6x8xf32>, %v: tensor<1x6x3xf32>) {
  // expected-error@+1 {{expects query and value to have the same rank}}
  %r0 = attn.sdpa %q, %k, %v scale 0.5
      : (tensor<5x8xf32>, tensor<6x8xf32>, tensor<1x6x3xf32>) -> tensor<5x3xf32>
  return
}

// -----

func.func @sdpa_c2_out_of_other_rank(%q: tensor<5x8xf32>, %k: tensor<6x8xf32>, %v: tensor<6x3xf32>) {
  // expected-error@+1 {{expects query and out to have the same rank}}
  %r0 = attn.sdpa %q, %k, %v scale 0.5
      : (tensor<5x8xf32>, tensor<6x8xf32>, tensor<6x3xf32>) -> tensor<1x5x3xf32>
  return
}

// -----

func.func @sdpa_c3_key_of_other_element(%q: tensor<5x8xf32>, %k: tensor<6x8xf16>, %v: tensor<6x3xf32>) {
  // expected-error@+1 {{expects query and key to have the same element type, but got 'f32' and 'f16'}}
  %r0 = attn.sdpa %q, %k, %v scale 0.5
      : (tensor<5x8xf32>, tensor<6x8xf16>, tensor<6x3xf32>) -> tensor<5x3xf32>
  return
}

// -----

func.func @sdpa_c3_out_of_other_element(%q: tensor<5x8xf16>, %k: tensor<6x8xf16>, %v: tensor<6x3xf16>) {
  // expected-error@+1 {{expects value and out to have the same element type, but got 'f16' and 'bf16'}}
  %r0 = attn.sdpa %q, %k, %v scale 0.5
      : (tensor<5x8xf16>, tensor<6x8xf16>, tensor<6x3xf16>) -> tensor<5x3xbf16>
  return
}

// -----

func.func @sdpa_c3_value_f64_of_query_f32(%q: tensor<5x8xf32>, %k: tensor<6x8xf32>, %v: tensor<6x3xf64>) {
  // expected-error@+1 {{expects query and value both of f64 or neither, but got 'f32' and 'f64'}}
  %r0 = attn.sdpa %q, %k, %v scale 0.5
      : (tensor<5x8xf32>, tensor<6x8xf32>, tensor<6x3xf64>) -> tensor<5x3xf64>
  return
}

// -----

func.func @sdpa_c4_key_of_other_batch(%q: tensor<2x4x5x8xf32>, %k: tensor<3x2x6x8xf32>, %v: tensor<2x2x6x3xf32>) {
  // expected-error@+1 {{expects query and key of the same batch size, but got 2 and 3}}
  %r0 = attn.sdpa %q, %k, %v scale 0.5
      : (tensor<2x4x5x8xf32>, tensor<3x2x6x8xf32>, tensor<2x2x6x3xf32>) -> tensor<2x4x5x3xf32>
  return
}

// -----

func.func @sdpa_c4_value_of_other_batch(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x6x8xf32>, %v: tensor<3x2x6x3xf32>) {
  // expected-error@+1 {{expects query and value of the same batch size, but got 2 and 3}}
  %r0 = attn.sdpa %q, %k, %v scale 0.5
      : (tensor<2x4x5x8xf32>, tensor<2x2x6x8xf32>, tensor<3x2x6x3xf32>) -> tensor<2x4x5x3xf32>
  return
}

// -----

func.func @sdpa_c4_out_of_other_batch(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x6x8xf32>, %v: tensor<2x2x6x3xf32>) {
  // expected-error@+1 {{expects query and out of the same batch size, but got 2 and 3}}
  %r0 = attn.sdpa %q, %k, %v scale 0.5
      : (tensor<2x4x5x8xf32>, tensor<2x2x6x8xf32>, tensor<2x2x6x3xf32>) -> tensor<3x4x5x3xf32>
  return
}

// -----

func.func @sdpa_c5_value_of_other_heads(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x6x8xf32>, %v: tensor<2x4x6x3xf32>) {
  // expected-error@+1 {{expects key and value to have the same number of heads, but got 2 and 4}}
  %r0 = attn.sdpa %q, %k, %v scale 0.5
      : (tensor<2x4x5x8xf32>, tensor<2x2x6x8xf32>, tensor<2x4x6x3xf32>) -> tensor<2x4x5x3xf32>
  return
}

// -----

func.func @sdpa_c5_out_of_other_heads(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x6x8xf32>, %v: tensor<2x2x6x3xf32>) {
  // expected-error@+1 {{expects query and out to have the same number of heads, but got 4 and 2}}
  %r0 = attn.sdpa %q, %k, %v scale 0.5
      : (tensor<2x4x5x8xf32>, tensor<2x2x6x8xf32>, tensor<2x2x6x3xf32>) -> tensor<2x2x5x3xf32>
  return
}

// -----

func.func @sdpa_c5_four_heads_over_three(%q: tensor<2x4x5x8xf32>, %k: tensor<2x3x6x8xf32>, %v: tensor<2x3x6x3xf32>) {
  // expected-error@+1 {{expects the number of query heads to be a multiple of the number of key heads, but got 4 and 3}}
  %r0 = attn.sdpa %q, %k, %v scale 0.5
      : (tensor<2x4x5x8xf32>, tensor<2x3x6x8xf32>, tensor<2x3x6x3xf32>) -> tensor<2x4x5x3xf32>
  return
}

// -----

func.func @sdpa_c5_heads_of_bshd_as_bhsd(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x6x8xf32>, %v: tensor<2x2x6x3xf32>) {
  // expected-error@+1 {{expects query and out to have the same number of heads, but got 5 and 4}}
  %r0 = attn.sdpa %q, %k, %v scale 0.5 {query_layout = #attn<layout bshd>}
      : (tensor<2x4x5x8xf32>, tensor<2x2x6x8xf32>, tensor<2x2x6x3xf32>) -> tensor<2x4x5x3xf32>
  return
}

// -----

func.func @sdpa_c6_key_of_other_head_dimension(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x6x9xf32>, %v: tensor<2x2x6x3xf32>) {
  // expected-error@+1 {{expects query and key to have the same head dimension, but got 8 and 9}}
  %r0 = attn.sdpa %q, %k, %v scale 0.5
      : (tensor<2x4x5x8xf32>, tensor<2x2x6x9xf32>, tensor<2x2x6x3xf32>) -> tensor<2x4x5x3xf32>
  return
}

// -----

func.func @sdpa_c6_out_of_other_head_dimension(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x6x8xf32>, %v: tensor<2x2x6x3xf32>) {
  // expected-error@+1 {{expects value and out to have the same head dimension, but got 3 and 8}}
  %r0 = attn.sdpa %q, %k, %v scale 0.5
      : (tensor<2x4x5x8xf32>, tensor<2x2x6x8xf32>, tensor<2x2x6x3xf32>) -> tensor<2x4x5x8xf32>
  return
}

// -----

func.func @sdpa_c7_value_of_other_length(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x6x8xf32>, %v: tensor<2x2x7x3xf32>) {
  // expected-error@+1 {{expects key and value to have the same length, but got 6 and 7}}
  %r0 = attn.sdpa %q, %k, %v scale 0.5
      : (tensor<2x4x5x8xf32>, tensor<2x2x6x8xf32>, tensor<2x2x7x3xf32>) -> tensor<2x4x5x3xf32>
  return
}

// -----

func.func @sdpa_c7_out_of_other_length(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x6x8xf32>, %v: tensor<2x2x6x3xf32>) {
  // expected-error@+1 {{expects query and out to have the same length, but got 5 and 6}}
  %r0 = attn.sdpa %q, %k, %v scale 0.5
      : (tensor<2x4x5x8xf32>, tensor<2x2x6x8xf32>, tensor<2x2x6x3xf32>) -> tensor<2x4x6x3xf32>
  return
}

// -----

func.func @sdpa_c8_scale_zero(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x6x8xf32>, %v: tensor<2x2x6x3xf32>) {
  // expected-error@+1 {{expects a finite scale other than 0, but got 0}}
  %r0 = attn.sdpa %q, %k, %v scale 0.0
      : (tensor<2x4x5x8xf32>, tensor<2x2x6x8xf32>, tensor<2x2x6x3xf32>) -> tensor<2x4x5x3xf32>
  return
}

// -----

func.func @sdpa_c8_scale_nan(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x6x8xf32>, %v: tensor<2x2x6x3xf32>) {
  // expected-error@+1 {{expects a finite scale other than 0, but got nan}}
  %r0 = attn.sdpa %q, %k, %v scale 0x7FF8000000000000
      : (tensor<2x4x5x8xf32>, tensor<2x2x6x8xf32>, tensor<2x2x6x3xf32>) -> tensor<2x4x5x3xf32>
  return
}

// -----

func.func @sdpa_c9_bias_of_other_shape(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x6x8xf32>, %v: tensor<2x2x6x3xf32>, %b: tensor<6x5xf32>) {
  // expected-error@+1 {{expects the bias to broadcast to the scores from the right, but got 'tensor<6x5xf32>'}}
  %r0 = attn.sdpa %q, %k, %v bias %b : tensor<6x5xf32> scale 0.5
      : (tensor<2x4x5x8xf32>, tensor<2x2x6x8xf32>, tensor<2x2x6x3xf32>) -> tensor<2x4x5x3xf32>
  return
}

// -----

func.func @sdpa_c9_bias_in_layout_of_query(%q: tensor<2x5x4x8xf32>, %k: tensor<2x2x6x8xf32>, %v: tensor<2x2x6x3xf32>, %b: tensor<2x5x4x6xf32>) {
  // expected-error@+1 {{expects the bias to broadcast to the scores from the right, but got 'tensor<2x5x4x6xf32>'}}
  %r0 = attn.sdpa %q, %k, %v bias %b : tensor<2x5x4x6xf32> scale 0.5 {query_layout = #attn<layout bshd>}
      : (tensor<2x5x4x8xf32>, tensor<2x2x6x8xf32>, tensor<2x2x6x3xf32>) -> tensor<2x4x5x3xf32>
  return
}

// -----

func.func @sdpa_c9_bias_of_other_element(%q: tensor<5x8xf16>, %k: tensor<6x8xf16>, %v: tensor<6x3xf16>, %b: tensor<5x6xf16>) {
  // expected-error@+1 {{expects a bias of 'f32' for queries of 'f16', but got 'tensor<5x6xf16>'}}
  %r0 = attn.sdpa %q, %k, %v bias %b : tensor<5x6xf16> scale 0.5
      : (tensor<5x8xf16>, tensor<6x8xf16>, tensor<6x3xf16>) -> tensor<5x3xf16>
  return
}

// -----

func.func @sdpa_c10_mask_operand_of_other_batch(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x6x8xf32>, %v: tensor<2x2x6x3xf32>, %n: tensor<3xi32>) {
  // expected-error@+1 {{expects the operand of key_length to have one element per batch entry (2), but got 'tensor<3xi32>'}}
  %r0 = attn.sdpa %q, %k, %v scale 0.5 where key_length(%n : tensor<3xi32>)
      : (tensor<2x4x5x8xf32>, tensor<2x2x6x8xf32>, tensor<2x2x6x3xf32>) -> tensor<2x4x5x3xf32>
  return
}

// -----

func.func @sdpa_c10_operand_without_mask(%q: tensor<5x8xf32>, %k: tensor<6x8xf32>, %v: tensor<6x3xf32>, %n: tensor<i32>) {
  // expected-error@+1 {{expects a mask where there are mask operands}}
  %r = "attn.sdpa"(%q, %k, %v, %n) <{scale = 0.5 : f64, operandSegmentSizes = array<i32: 1, 1, 1, 0, 1, 0, 0, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 0, 0, 0, 0, 0, 0>}> ({})
      : (tensor<5x8xf32>, tensor<6x8xf32>, tensor<6x3xf32>, tensor<i32>) -> tensor<5x3xf32>
  return
}

// -----

func.func @sdpa_c10_boolean_of_other_shape(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x6x8xf32>, %v: tensor<2x2x6x3xf32>, %n: tensor<6x5xi1>) {
  // expected-error@+1 {{expects the boolean mask to broadcast to the scores from the right, but got 'tensor<6x5xi1>'}}
  %r0 = attn.sdpa %q, %k, %v scale 0.5 where %n : tensor<6x5xi1>
      : (tensor<2x4x5x8xf32>, tensor<2x2x6x8xf32>, tensor<2x2x6x3xf32>) -> tensor<2x4x5x3xf32>
  return
}

// -----

func.func @sdpa_c15_sinks_of_rank_2(%q: tensor<4x5x8xf32>, %k: tensor<4x6x8xf32>, %t: tensor<4x1xf32>) {
  // expected-error@+1 {{expects sinks to have type 'tensor<4xf32>', but got 'tensor<4x1xf32>'}}
  %r = attn.sdpa %q, %k, %k scale 0.5 sinks %t : tensor<4x1xf32> : (tensor<4x5x8xf32>, tensor<4x6x8xf32>, tensor<4x6x8xf32>) -> tensor<4x5x8xf32>
  return
}

// -----

func.func @sdpa_c16_score_function_with_side_effect(%q: tensor<4x5x8xf32>, %k: tensor<4x6x8xf32>) {
  // expected-error@+1 {{expects a score function without side effects, but it has 'vector.print'}}
  %r = attn.sdpa %q, %k, %k scale 0.5 score_mod (%x: f32, %b, %h, %i, %j) {
    vector.print %x : f32
    attn.yield %x : f32
  } : (tensor<4x5x8xf32>, tensor<4x6x8xf32>, tensor<4x6x8xf32>) -> tensor<4x5x8xf32>
  return
}

// -----

func.func @sdpa_c16_captured_by_nothing(%q: tensor<4x5x8xf32>, %k: tensor<4x6x8xf32>, %t: tensor<4xf32>) {
  // expected-error@+1 {{expects a score function where values are captured}}
  %r = "attn.sdpa"(%q, %k, %k, %t) <{scale = 0.5 : f64, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 1, 0, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 0, 0, 0, 0, 0, 0>}> ({}) : (tensor<4x5x8xf32>, tensor<4x6x8xf32>, tensor<4x6x8xf32>, tensor<4xf32>) -> tensor<4x5x8xf32>
  return
}
