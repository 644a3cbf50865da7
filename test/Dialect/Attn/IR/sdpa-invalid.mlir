// RUN: attn-opt %s -split-input-file -verify-diagnostics
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What attn.sdpa rejects; the numbers are those of docs/Spec.md.

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
  // expected-error@+1 {{expects value and out to have the same element type, but got 'f16' and 'f32'}}
  %r0 = attn.sdpa %q, %k, %v scale 0.5
      : (tensor<5x8xf16>, tensor<6x8xf16>, tensor<6x3xf16>) -> tensor<5x3xf32>
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
  %r = "attn.sdpa"(%q, %k, %v, %n) <{scale = 0.5 : f64, operandSegmentSizes = array<i32: 1, 1, 1, 0, 1, 0, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 0, 0, 0, 0, 0, 0>}> ({})
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

func.func @sdpa_c11_scores_without_stage(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x6x8xf32>, %v: tensor<2x2x6x3xf32>) {
  // expected-error@+1 {{expects scores_stage exactly where scores are returned}}
  %r0, %r1 = attn.sdpa %q, %k, %v scale 0.5 returning(out, scores)
      : (tensor<2x4x5x8xf32>, tensor<2x2x6x8xf32>, tensor<2x2x6x3xf32>) -> (tensor<2x4x5x3xf32>, tensor<2x4x5x6xf32>)
  return
}

// -----

func.func @sdpa_c11_stage_without_scores(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x6x8xf32>, %v: tensor<2x2x6x3xf32>) {
  // expected-error@+1 {{expects scores_stage exactly where scores are returned}}
  %r0 = attn.sdpa %q, %k, %v scale 0.5 {scores_stage = #attn<scores_stage raw>}
      : (tensor<2x4x5x8xf32>, tensor<2x2x6x8xf32>, tensor<2x2x6x3xf32>) -> tensor<2x4x5x3xf32>
  return
}

// -----

func.func @sdpa_c12_lse_of_f16(%q: tensor<5x8xf16>, %k: tensor<6x8xf16>, %v: tensor<6x3xf16>) {
  // expected-error@+1 {{expects lse to have type 'tensor<5xf32>', but got 'tensor<5xf16>'}}
  %r0, %r1 = attn.sdpa %q, %k, %v scale 0.5 returning(out, lse)
      : (tensor<5x8xf16>, tensor<6x8xf16>, tensor<6x3xf16>) -> (tensor<5x3xf16>, tensor<5xf16>)
  return
}

// -----

func.func @sdpa_c12_lse_in_layout_of_query(%q: tensor<2x5x4x8xf32>, %k: tensor<2x2x6x8xf32>, %v: tensor<2x2x6x3xf32>) {
  // expected-error@+1 {{expects lse to have type 'tensor<2x4x5xf32>', but got 'tensor<2x5x4xf32>'}}
  %r0, %r1 = attn.sdpa %q, %k, %v scale 0.5 returning(out, lse) {query_layout = #attn<layout bshd>}
      : (tensor<2x5x4x8xf32>, tensor<2x2x6x8xf32>, tensor<2x2x6x3xf32>) -> (tensor<2x4x5x3xf32>, tensor<2x5x4xf32>)
  return
}

// -----

func.func @sdpa_c12_weights_of_other_shape(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x6x8xf32>, %v: tensor<2x2x6x3xf32>) {
  // expected-error@+1 {{expects weights to have type 'tensor<2x4x5x6xf32>', but got 'tensor<2x4x6x5xf32>'}}
  %r0, %r1 = attn.sdpa %q, %k, %v scale 0.5 returning(out, weights)
      : (tensor<2x4x5x8xf32>, tensor<2x2x6x8xf32>, tensor<2x2x6x3xf32>) -> (tensor<2x4x5x3xf32>, tensor<2x4x6x5xf32>)
  return
}

// -----

func.func @sdpa_c12_scores_of_other_rank(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x6x8xf32>, %v: tensor<2x2x6x3xf32>) {
  // expected-error@+1 {{expects scores to have type 'tensor<2x4x5x6xf32>', but got 'tensor<5x6xf32>'}}
  %r0, %r1 = attn.sdpa %q, %k, %v scale 0.5 returning(out, scores) {scores_stage = #attn<scores_stage raw>}
      : (tensor<2x4x5x8xf32>, tensor<2x2x6x8xf32>, tensor<2x2x6x3xf32>) -> (tensor<2x4x5x3xf32>, tensor<5x6xf32>)
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
  %r = "attn.sdpa"(%q, %k, %k, %t) <{scale = 0.5 : f64, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 1, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 0, 0, 0, 0, 0, 0>}> ({}) : (tensor<4x5x8xf32>, tensor<4x6x8xf32>, tensor<4x6x8xf32>, tensor<4xf32>) -> tensor<4x5x8xf32>
  return
}

// -----

func.func @sdpa_c13_schedule_of_decode(%q: tensor<2x4x1x8xf32>, %k: tensor<2x2x6x8xf32>, %v: tensor<2x2x6x3xf32>) {
  // expected-error@+1 {{expects schedule to have kind prefill, but got decode}}
  %r = attn.sdpa %q, %k, %v scale 0.5 {schedule = #attn.schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 2, key_tile = 8, unroll = 1, prefetch = 0, kind = decode, split_keys = 64>}
      : (tensor<2x4x1x8xf32>, tensor<2x2x6x8xf32>, tensor<2x2x6x3xf32>) -> tensor<2x4x1x3xf32>
  return
}

// -----

func.func @sdpa_c13_decode_schedule_of_prefill(%q: tensor<2x4x1x8xf32>, %k: tensor<2x2x6x8xf32>, %v: tensor<2x2x6x3xf32>) {
  // expected-error@+1 {{expects decode_schedule to have kind decode, but got prefill}}
  %r = attn.sdpa %q, %k, %v scale 0.5 {decode_schedule = #attn.schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>}
      : (tensor<2x4x1x8xf32>, tensor<2x2x6x8xf32>, tensor<2x2x6x3xf32>) -> tensor<2x4x1x3xf32>
  return
}

// -----

func.func @sdpa_c14_weights(%q: tensor<2x4x1x8xf32>, %k: tensor<2x2x6x8xf32>, %v: tensor<2x2x6x3xf32>) {
  // expected-error@+1 {{expects no decode_schedule where weights or scores are returned}}
  %r0, %r1 = attn.sdpa %q, %k, %v scale 0.5 returning(out, weights) {decode_schedule = #attn.schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 2, key_tile = 8, unroll = 1, prefetch = 0, kind = decode, split_keys = 64>}
      : (tensor<2x4x1x8xf32>, tensor<2x2x6x8xf32>, tensor<2x2x6x3xf32>) -> (tensor<2x4x1x3xf32>, tensor<2x4x1x6xf32>)
  return
}

// -----

func.func @sdpa_c17_maximum_of_other_shape(%q: tensor<4x5x8xf32>, %k: tensor<2x6x8xf32>, %v: tensor<2x6x3xf32>) {
  // expected-error@+1 {{expects maximum to have type 'tensor<4x5xf32>', but got 'tensor<5x4xf32>'}}
  %r:4 = attn.sdpa %q, %k, %v scale 0.5 returning(out, state)
      : (tensor<4x5x8xf32>, tensor<2x6x8xf32>, tensor<2x6x3xf32>) -> (tensor<4x5x3xf32>, tensor<5x4xf32>, tensor<4x5xf32>, tensor<4x5x3xf32>)
  return
}

// -----

func.func @sdpa_c20_query_of_f32(%q: tensor<?x8xf32>, %v: tensor<?x3xbf16>) {
  // expected-error@+1 {{expects elements of bf16 for products of pairs, but got 'tensor<?x8xf32>'}}
  %r = attn.sdpa %q, %q, %v scale 0.5 {schedule = #attn.schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0, products = pairs>}
      : (tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x3xbf16>) -> tensor<?x3xbf16>
  return
}

// -----

func.func @sdpa_c20_value_of_f16(%q: tensor<?x8xbf16>, %v: tensor<?x3xf16>) {
  // expected-error@+1 {{expects elements of bf16 for products of pairs, but got 'tensor<?x3xf16>'}}
  %r = attn.sdpa %q, %q, %v scale 0.5 {schedule = #attn.schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0, products = pairs>}
      : (tensor<?x8xbf16>, tensor<?x8xbf16>, tensor<?x3xf16>) -> tensor<?x3xf16>
  return
}

// -----

func.func @sdpa_c17_sum_of_other_type(%q: tensor<4x5x8xf32>, %k: tensor<2x6x8xf32>, %v: tensor<2x6x3xf32>) {
  // expected-error@+1 {{expects sum to have type 'tensor<4x5xf32>', but got 'tensor<4x5xf64>'}}
  %r:4 = attn.sdpa %q, %k, %v scale 0.5 returning(out, state)
      : (tensor<4x5x8xf32>, tensor<2x6x8xf32>, tensor<2x6x3xf32>) -> (tensor<4x5x3xf32>, tensor<4x5xf32>, tensor<4x5xf64>, tensor<4x5x3xf32>)
  return
}

// -----

func.func @sdpa_c17_acc_of_other_layout(%q: tensor<4x5x8xf32>, %k: tensor<2x6x8xf32>, %v: tensor<2x6x3xf32>) {
  // expected-error@+1 {{expects acc to have type 'tensor<5x4x3xf32>', but got 'tensor<4x5x3xf32>'}}
  %r:4 = attn.sdpa %q, %k, %v scale 0.5 returning(out, state) {out_layout = #attn<layout bshd>}
      : (tensor<4x5x8xf32>, tensor<2x6x8xf32>, tensor<2x6x3xf32>) -> (tensor<5x4x3xf32>, tensor<4x5xf32>, tensor<4x5xf32>, tensor<4x5x3xf32>)
  return
}

// -----

func.func @sdpa_c17_maximum_alone(%q: tensor<4x5x8xf32>, %k: tensor<2x6x8xf32>, %v: tensor<2x6x3xf32>) {
  // expected-error@+1 {{expects all of maximum, sum and acc where one is returned}}
  %r:2 = "attn.sdpa"(%q, %k, %v) <{scale = 0.5 : f64, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 0, 0, 0, 1, 0, 0>}> ({})
      : (tensor<4x5x8xf32>, tensor<2x6x8xf32>, tensor<2x6x3xf32>) -> (tensor<4x5x3xf32>, tensor<4x5xf32>)
  return
}

// -----

func.func @sdpa_c18_sinks(%q: tensor<4x5x8xf32>, %k: tensor<2x6x8xf32>, %v: tensor<2x6x3xf32>, %s: tensor<4xf32>) {
  // expected-error@+1 {{expects no sinks where the state is returned, because a sink would count once per part of the keys; merge a state of maximum sink, sum 1 and acc 0 instead}}
  %r:4 = attn.sdpa %q, %k, %v scale 0.5 sinks %s : tensor<4xf32> returning(out, state)
      : (tensor<4x5x8xf32>, tensor<2x6x8xf32>, tensor<2x6x3xf32>) -> (tensor<4x5x3xf32>, tensor<4x5xf32>, tensor<4x5xf32>, tensor<4x5x3xf32>)
  return
}

// -----

func.func @sdpa_c19_sigmoid_lse(%q: tensor<4x5x8xf32>, %k: tensor<2x6x8xf32>, %v: tensor<2x6x3xf32>) {
  // expected-error@+1 {{expects no lse with normalization sigmoid}}
  %r:2 = attn.sdpa %q, %k, %v scale 0.5 returning(out, lse) {normalization = #attn<normalization sigmoid>}
      : (tensor<4x5x8xf32>, tensor<2x6x8xf32>, tensor<2x6x3xf32>) -> (tensor<4x5x3xf32>, tensor<4x5xf32>)
  return
}

// -----

func.func @sdpa_c19_sigmoid_state(%q: tensor<4x5x8xf32>, %k: tensor<2x6x8xf32>, %v: tensor<2x6x3xf32>) {
  // expected-error@+1 {{expects no state with normalization sigmoid}}
  %r:4 = attn.sdpa %q, %k, %v scale 0.5 returning(out, state) {normalization = #attn<normalization sigmoid>}
      : (tensor<4x5x8xf32>, tensor<2x6x8xf32>, tensor<2x6x3xf32>) -> (tensor<4x5x3xf32>, tensor<4x5xf32>, tensor<4x5xf32>, tensor<4x5x3xf32>)
  return
}

// -----

func.func @sdpa_c19_sigmoid_sinks(%q: tensor<4x5x8xf32>, %k: tensor<2x6x8xf32>, %v: tensor<2x6x3xf32>, %s: tensor<4xf32>) {
  // expected-error@+1 {{expects no sinks with normalization sigmoid}}
  %r:1 = attn.sdpa %q, %k, %v scale 0.5 sinks %s : tensor<4xf32> {normalization = #attn<normalization sigmoid>}
      : (tensor<4x5x8xf32>, tensor<2x6x8xf32>, tensor<2x6x3xf32>) -> tensor<4x5x3xf32>
  return
}

// -----

func.func @sdpa_c19_sigmoid_decode(%q: tensor<4x5x8xf32>, %k: tensor<2x6x8xf32>, %v: tensor<2x6x3xf32>) {
  // expected-error@+1 {{expects no decode_schedule with normalization sigmoid}}
  %r:1 = attn.sdpa %q, %k, %v scale 0.5 {normalization = #attn<normalization sigmoid>, decode_schedule = #attn.schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0, kind = decode, split_keys = 64>}
      : (tensor<4x5x8xf32>, tensor<2x6x8xf32>, tensor<2x6x3xf32>) -> tensor<4x5x3xf32>
  return
}

// -----

func.func @sdpa_c20_sigmoid(%q: tensor<?x8xbf16>, %v: tensor<?x3xbf16>) {
  // expected-error@+1 {{expects no products of pairs with normalization sigmoid}}
  %r = attn.sdpa %q, %q, %v scale 0.5 {normalization = #attn<normalization sigmoid>, schedule = #attn.schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0, products = pairs>}
      : (tensor<?x8xbf16>, tensor<?x8xbf16>, tensor<?x3xbf16>) -> tensor<?x3xbf16>
  return
}

// -----

func.func @sdpa_c21_query_alone(%q: tensor<4x5x8xf32>, %k: tensor<2x6x8xf32>, %v: tensor<2x6x3xf32>) {
  // expected-error@+1 {{expects all of second query, second key and lambda where one is given}}
  %r = "attn.sdpa"(%q, %k, %v, %q) <{scale = 0.5 : f64, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 1, 0, 0>, resultSegmentSizes = array<i32: 1, 0, 0, 0, 0, 0, 0>}> ({})
      : (tensor<4x5x8xf32>, tensor<2x6x8xf32>, tensor<2x6x3xf32>, tensor<4x5x8xf32>) -> tensor<4x5x3xf32>
  return
}

// -----

func.func @sdpa_c21_lambda_left_out(%q: tensor<4x5x8xf32>, %k: tensor<2x6x8xf32>, %v: tensor<2x6x3xf32>) {
  // expected-error@+1 {{expects all of second query, second key and lambda where one is given}}
  %r = "attn.sdpa"(%q, %k, %v, %q, %k) <{scale = 0.5 : f64, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 1, 1, 0>, resultSegmentSizes = array<i32: 1, 0, 0, 0, 0, 0, 0>}> ({})
      : (tensor<4x5x8xf32>, tensor<2x6x8xf32>, tensor<2x6x3xf32>, tensor<4x5x8xf32>, tensor<2x6x8xf32>) -> tensor<4x5x3xf32>
  return
}

// -----

func.func @sdpa_c21_other_query(%q: tensor<4x5x8xf32>, %k: tensor<2x6x8xf32>, %v: tensor<2x6x3xf32>, %p: tensor<?x5x8xf32>, %l: tensor<f32>) {
  // expected-error@+1 {{expects the second query to have the type of the first 'tensor<4x5x8xf32>', but got 'tensor<?x5x8xf32>'}}
  %r = "attn.sdpa"(%q, %k, %v, %p, %k, %l) <{scale = 0.5 : f64, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 1, 1, 1>, resultSegmentSizes = array<i32: 1, 0, 0, 0, 0, 0, 0>}> ({})
      : (tensor<4x5x8xf32>, tensor<2x6x8xf32>, tensor<2x6x3xf32>, tensor<?x5x8xf32>, tensor<2x6x8xf32>, tensor<f32>) -> tensor<4x5x3xf32>
  return
}

// -----

func.func @sdpa_c21_other_key(%q: tensor<4x5x8xf32>, %k: tensor<2x6x8xf32>, %v: tensor<2x6x3xf32>, %p: tensor<1x6x8xf32>, %l: tensor<f32>) {
  // expected-error@+1 {{expects the second key to have the type of the first 'tensor<2x6x8xf32>', but got 'tensor<1x6x8xf32>'}}
  %r = "attn.sdpa"(%q, %k, %v, %q, %p, %l) <{scale = 0.5 : f64, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 1, 1, 1>, resultSegmentSizes = array<i32: 1, 0, 0, 0, 0, 0, 0>}> ({})
      : (tensor<4x5x8xf32>, tensor<2x6x8xf32>, tensor<2x6x3xf32>, tensor<4x5x8xf32>, tensor<1x6x8xf32>, tensor<f32>) -> tensor<4x5x3xf32>
  return
}

// -----

func.func @sdpa_c21_lambda_of_other_heads(%q: tensor<4x5x8xf32>, %k: tensor<2x6x8xf32>, %v: tensor<2x6x3xf32>, %l: tensor<2xf32>) {
  // expected-error@+1 {{expects lambda to be one number of 'f32', or one per head (4), but got 'tensor<2xf32>'}}
  %r = attn.sdpa %q, %k, %v minus %q, %k by %l : tensor<2xf32> scale 0.5
      : (tensor<4x5x8xf32>, tensor<2x6x8xf32>, tensor<2x6x3xf32>) -> tensor<4x5x3xf32>
  return
}

// -----

func.func @sdpa_c22_lse(%q: tensor<4x5x8xf32>, %k: tensor<2x6x8xf32>, %v: tensor<2x6x3xf32>, %l: tensor<f32>) {
  // expected-error@+1 {{expects no lse with a second query and key}}
  %r:2 = attn.sdpa %q, %k, %v minus %q, %k by %l : tensor<f32> scale 0.5 returning(out, lse)
      : (tensor<4x5x8xf32>, tensor<2x6x8xf32>, tensor<2x6x3xf32>) -> (tensor<4x5x3xf32>, tensor<4x5xf32>)
  return
}

// -----

func.func @sdpa_c22_weights(%q: tensor<4x5x8xf32>, %k: tensor<2x6x8xf32>, %v: tensor<2x6x3xf32>, %l: tensor<f32>) {
  // expected-error@+1 {{expects no weights with a second query and key}}
  %r:2 = attn.sdpa %q, %k, %v minus %q, %k by %l : tensor<f32> scale 0.5 returning(out, weights)
      : (tensor<4x5x8xf32>, tensor<2x6x8xf32>, tensor<2x6x3xf32>) -> (tensor<4x5x3xf32>, tensor<4x5x6xf32>)
  return
}

// -----

func.func @sdpa_c22_scores(%q: tensor<4x5x8xf32>, %k: tensor<2x6x8xf32>, %v: tensor<2x6x3xf32>, %l: tensor<f32>) {
  // expected-error@+1 {{expects no scores with a second query and key}}
  %r:2 = attn.sdpa %q, %k, %v minus %q, %k by %l : tensor<f32> scale 0.5 returning(out, scores) {scores_stage = #attn<scores_stage raw>}
      : (tensor<4x5x8xf32>, tensor<2x6x8xf32>, tensor<2x6x3xf32>) -> (tensor<4x5x3xf32>, tensor<4x5x6xf32>)
  return
}

// -----

func.func @sdpa_c22_state(%q: tensor<4x5x8xf32>, %k: tensor<2x6x8xf32>, %v: tensor<2x6x3xf32>, %l: tensor<f32>) {
  // expected-error@+1 {{expects no state with a second query and key}}
  %r:4 = attn.sdpa %q, %k, %v minus %q, %k by %l : tensor<f32> scale 0.5 returning(out, state)
      : (tensor<4x5x8xf32>, tensor<2x6x8xf32>, tensor<2x6x3xf32>) -> (tensor<4x5x3xf32>, tensor<4x5xf32>, tensor<4x5xf32>, tensor<4x5x3xf32>)
  return
}

// -----

func.func @sdpa_c22_decode(%q: tensor<4x5x8xf32>, %k: tensor<2x6x8xf32>, %v: tensor<2x6x3xf32>, %l: tensor<f32>) {
  // expected-error@+1 {{expects no decode_schedule with a second query and key}}
  %r = attn.sdpa %q, %k, %v minus %q, %k by %l : tensor<f32> scale 0.5 {decode_schedule = #attn.schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0, kind = decode, split_keys = 64>}
      : (tensor<4x5x8xf32>, tensor<2x6x8xf32>, tensor<2x6x3xf32>) -> tensor<4x5x3xf32>
  return
}

// -----

func.func @sdpa_c20_tiles_of_f32(%q: tensor<?x8xf32>, %v: tensor<?x3xbf16>) {
  // expected-error@+1 {{expects elements of bf16 for products of tiles, but got 'tensor<?x8xf32>'}}
  %r = attn.sdpa %q, %q, %v scale 0.5 {schedule = #attn.schedule<lanes = 16, rows = 32, vectors = 2, query_tile = 32, key_tile = 64, unroll = 1, prefetch = 0, products = tiles>}
      : (tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x3xbf16>) -> tensor<?x3xbf16>
  return
}

// -----

func.func @sdpa_c20_tiles_by_sigmoid(%q: tensor<?x8xbf16>, %v: tensor<?x3xbf16>) {
  // expected-error@+1 {{expects no products of tiles with normalization sigmoid}}
  %r = attn.sdpa %q, %q, %v scale 0.5 {normalization = #attn<normalization sigmoid>, schedule = #attn.schedule<lanes = 16, rows = 32, vectors = 2, query_tile = 32, key_tile = 64, unroll = 1, prefetch = 0, products = tiles>}
      : (tensor<?x8xbf16>, tensor<?x8xbf16>, tensor<?x3xbf16>) -> tensor<?x3xbf16>
  return
}

// -----

func.func @sdpa_c23_split_weights(%q: tensor<4x8xf32>, %k: tensor<6x8xf32>, %v: tensor<6x3xf32>) {
  // expected-error@+1 {{expects a schedule without split_keys: weights and scores need the sum over all keys}}
  %o, %w = attn.sdpa %q, %k, %v scale 0.5 returning(out, weights) {schedule = #attn.schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0, split_keys = 16, split_queries = 8>}
      : (tensor<4x8xf32>, tensor<6x8xf32>, tensor<6x3xf32>) -> (tensor<4x3xf32>, tensor<4x6xf32>)
  return
}

// -----

func.func @sdpa_c23_split_maps(%q: tensor<4x8xf32>, %k: tensor<6x8xf32>, %v: tensor<6x3xf32>, %l: tensor<f32>) {
  // expected-error@+1 {{expects a schedule without split_keys: the difference of two maps needs their sums over all keys}}
  %o = attn.sdpa %q, %k, %v minus %q, %k by %l : tensor<f32> scale 0.5 {schedule = #attn.schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0, split_keys = 16, split_queries = 64>}
      : (tensor<4x8xf32>, tensor<6x8xf32>, tensor<6x3xf32>) -> tensor<4x3xf32>
  return
}

// -----

func.func @sdpa_c23_split_sigmoid(%q: tensor<4x8xf32>, %k: tensor<6x8xf32>, %v: tensor<6x3xf32>) {
  // expected-error@+1 {{expects a schedule without split_keys: weights by sigmoid have no sums to merge}}
  %o = attn.sdpa %q, %k, %v scale 0.5 {normalization = #attn<normalization sigmoid>, schedule = #attn.schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0, split_keys = 16, split_queries = 8>}
      : (tensor<4x8xf32>, tensor<6x8xf32>, tensor<6x3xf32>) -> tensor<4x3xf32>
  return
}

// -----

func.func @sdpa_c23_split_documents(%q: tensor<4x8xf32>, %k: tensor<6x8xf32>, %v: tensor<6x3xf32>, %i: tensor<4xi32>, %j: tensor<6xi32>) {
  // expected-error@+1 {{expects a schedule without split_keys: rows see few of all keys, those of their documents}}
  %o = attn.sdpa %q, %k, %v scale 0.5 where document(%i : tensor<4xi32>, %j : tensor<6xi32>) {schedule = #attn.schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0, split_keys = 16, split_queries = 8>}
      : (tensor<4x8xf32>, tensor<6x8xf32>, tensor<6x3xf32>) -> tensor<4x3xf32>
  return
}
