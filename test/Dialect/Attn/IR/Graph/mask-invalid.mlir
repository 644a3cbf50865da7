// RUN: attn-opt %s -split-input-file -verify-diagnostics
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What attn.mask rejects about operands and combinations; the numbers are those of docs/Spec.md.

func.func @mask_c1_integer(%s: tensor<2x4x5x6xf32>) {
  // expected-error@+1 {{expects a mask term, but got 1 : i32}}
  %r = "attn.mask"(%s) <{mask = 1 : i32}> : (tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xf32>
  return
}

// -----

func.func @mask_c1_integer_among_terms(%s: tensor<2x4x5x6xf32>) {
  // expected-error@+1 {{expects a mask term, but got 2 : i32}}
  %r = "attn.mask"(%s) <{mask = #attn.all_of<#attn.causal<top_left>, #attn.not<2 : i32>>}> : (tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xf32>
  return
}

// -----

func.func @mask_c1_schedule_as_term(%s: tensor<2x4x5x6xf32>) {
  // expected-error@+1 {{expects a mask term, but got #attn.cpu_schedule}}
  %r = "attn.mask"(%s) <{mask = #attn.any_of<#attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>>}> : (tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xf32>
  return
}

// -----

func.func @mask_c2_no_such_operand(%s: tensor<2x4x5x6xf32>, %m0: tensor<2xi32>) {
  // expected-error@+1 {{expects mask operand 1, but got 1 mask operands}}
  %r = "attn.mask"(%s, %m0) <{mask = #attn.key_length<1>}> : (tensor<2x4x5x6xf32>, tensor<2xi32>) -> tensor<2x4x5x6xf32>
  return
}

// -----

func.func @mask_c2_unread_operand(%s: tensor<2x4x5x6xf32>, %m0: tensor<2xi32>, %m1: tensor<6xi1>) {
  // expected-error@+1 {{expects every mask operand to be read by a term}}
  %r = "attn.mask"(%s, %m0, %m1) <{mask = #attn.key_length<0>}> : (tensor<2x4x5x6xf32>, tensor<2xi32>, tensor<6xi1>) -> tensor<2x4x5x6xf32>
  return
}

// -----

func.func @mask_c2_unread_operand_of_causal(%s: tensor<2x4x5x6xf32>, %m0: tensor<2xi32>) {
  // expected-error@+1 {{expects every mask operand to be read by a term}}
  %r = "attn.mask"(%s, %m0) <{mask = #attn.causal<top_left>}> : (tensor<2x4x5x6xf32>, tensor<2xi32>) -> tensor<2x4x5x6xf32>
  return
}

// -----

func.func @mask_c3_float_length(%s: tensor<2x4x5x6xf32>, %m0: tensor<2xf32>) {
  // expected-error@+1 {{expects the operand of key_length to be a tensor of i32 or i64, of rank 0 or with one element per batch entry, but got 'tensor<2xf32>'}}
  %r = attn.mask %s where key_length(%m0 : tensor<2xf32>) : tensor<2x4x5x6xf32>
  return
}

// -----

func.func @mask_c3_narrow_length(%s: tensor<2x4x5x6xf32>, %m0: tensor<2xi8>) {
  // expected-error@+1 {{expects the operand of key_length to be a tensor of i32 or i64}}
  %r = attn.mask %s where key_length(%m0 : tensor<2xi8>) : tensor<2x4x5x6xf32>
  return
}

// -----

func.func @mask_c3_length_per_row(%s: tensor<2x4x5x6xf32>, %m0: tensor<2x5xi32>) {
  // expected-error@+1 {{expects the operand of key_length to be a tensor of i32 or i64, of rank 0}}
  %r = attn.mask %s where key_length(%m0 : tensor<2x5xi32>) : tensor<2x4x5x6xf32>
  return
}

// -----

func.func @mask_c3_length_of_other_batch(%s: tensor<2x4x5x6xf32>, %m0: tensor<3xi32>) {
  // expected-error@+1 {{expects the operand of key_length to have one element per batch entry (2), but got 'tensor<3xi32>'}}
  %r = attn.mask %s where key_length(%m0 : tensor<3xi32>) : tensor<2x4x5x6xf32>
  return
}

// -----

func.func @mask_c3_offset_without_batch(%s: tensor<5x6xf32>, %m0: tensor<5xi32>) {
  // expected-error@+1 {{expects the operand of causal(offset) to have rank 0 where the scores have no batch dimension, but got 'tensor<5xi32>'}}
  %r = attn.mask %s where causal(offset = %m0 : tensor<5xi32>) : tensor<5x6xf32>
  return
}

// -----

func.func @mask_c3_window_of_floats(%s: tensor<2x4x5x6xf32>, %m0: tensor<2xf32>) {
  // expected-error@+1 {{expects the operand of window(left) to be a tensor of i32 or i64, of rank 0 or with one element per batch entry, but got 'tensor<2xf32>'}}
  %r = attn.mask %s where window(left = %m0 : tensor<2xf32>) : tensor<2x4x5x6xf32>
  return
}

// -----

func.func @mask_c3_prefix_of_other_batch(%s: tensor<2x4x5x6xf32>, %m0: tensor<3xi32>) {
  // expected-error@+1 {{expects the operand of prefix to have one element per batch entry (2), but got 'tensor<3xi32>'}}
  %r = attn.mask %s where prefix(%m0 : tensor<3xi32>) : tensor<2x4x5x6xf32>
  return
}

// -----

func.func @mask_c3_offset_of_a_chunk(%s: tensor<2x4x5x6xf32>, %m0: tensor<2x2xi32>) {
  // expected-error@+1 {{expects the operand of chunked(offset) to be a tensor of i32 or i64}}
  %r = attn.mask %s where chunked(4, offset = %m0 : tensor<2x2xi32>) : tensor<2x4x5x6xf32>
  return
}

// -----

func.func @mask_c4_bytes(%s: tensor<2x4x5x6xf32>, %m0: tensor<5x6xi8>) {
  // expected-error@+1 {{expects a boolean mask to be a tensor of i1, but got 'tensor<5x6xi8>'}}
  %r = attn.mask %s where %m0 : tensor<5x6xi8> : tensor<2x4x5x6xf32>
  return
}

// -----

func.func @mask_c4_boolean_of_other_shape(%s: tensor<2x4x5x6xf32>, %m0: tensor<6x5xi1>) {
  // expected-error@+1 {{expects the boolean mask to broadcast to the scores from the right, but got 'tensor<6x5xi1>'}}
  %r = attn.mask %s where %m0 : tensor<6x5xi1> : tensor<2x4x5x6xf32>
  return
}

// -----

func.func @mask_c5_rank_1(%s: tensor<6xf32>) {
  // expected-error@+1 {{expects the scores to have rank 2, 3 or 4, but got 'tensor<6xf32>'}}
  %r = attn.mask %s where causal(top_left) : tensor<6xf32>
  return
}

// -----

func.func @mask_c5_rank_5(%s: tensor<1x1x1x5x6xf32>) {
  // expected-error@+1 {{expects the scores to have rank 2, 3 or 4}}
  %r = attn.mask %s where causal(top_left) : tensor<1x1x1x5x6xf32>
  return
}

// -----

func.func @mask_c6_offset_of_top_left(%s: tensor<2x4x5x6xf32>) {
  // expected-error@+1 {{expects a constant or an operand with causal(offset) and neither with another alignment}}
  %r = "attn.mask"(%s) <{mask = #attn.causal<top_left, offset = 3, operand = -1>}> : (tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xf32>
  return
}

// -----

func.func @mask_c6_operand_of_bottom_right(%s: tensor<2x4x5x6xf32>, %m0: tensor<2xi32>) {
  // expected-error@+1 {{expects a constant or an operand with causal(offset) and neither with another alignment}}
  %r = "attn.mask"(%s, %m0) <{mask = #attn.causal<bottom_right, offset = 0, operand = 0>}> : (tensor<2x4x5x6xf32>, tensor<2xi32>) -> tensor<2x4x5x6xf32>
  return
}

// -----

func.func @mask_c6_constant_and_operand(%s: tensor<2x4x5x6xf32>, %m0: tensor<2xi32>) {
  // expected-error@+1 {{expects a constant or an operand with causal(offset) and neither with another alignment}}
  %r = "attn.mask"(%s, %m0) <{mask = #attn.causal<offset, offset = 3, operand = 0>}> : (tensor<2x4x5x6xf32>, tensor<2xi32>) -> tensor<2x4x5x6xf32>
  return
}

// -----

func.func @mask_c6_window_offset_missing(%s: tensor<2x4x5x6xf32>) {
  // expected-error@+1 {{expects window to have an offset exactly with the alignment offset}}
  %r = "attn.mask"(%s) <{mask = #attn.window<left = 3 : i64, position = <offset>>}> : (tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xf32>
  return
}

// -----

func.func @mask_c6_dilated_offset_too_many(%s: tensor<2x4x5x6xf32>) {
  // expected-error@+1 {{expects dilated to have an offset exactly with the alignment offset}}
  %r = "attn.mask"(%s) <{mask = #attn.dilated<2, <bottom_right, 3 : i64>>}> : (tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xf32>
  return
}

// -----

func.func @mask_c7_other_result_type(%s: tensor<5x6xf32>) {
  // expected-error@+1 {{failed to verify that all of {scores, result} have same type}}
  %r = "attn.mask"(%s) <{mask = #attn.causal<top_left>}> : (tensor<5x6xf32>) -> tensor<6x5xf32>
  return
}

// -----

func.func @mask_c8_two_key_lengths(%s: tensor<2x4x5x6xf32>, %m0: tensor<2xi32>, %m1: tensor<i32>) {
  // expected-error@+1 {{expects at most one key_length beside a term that counts from the last live key}}
  %r = attn.mask %s where causal(bottom_right) and key_length(%m0 : tensor<2xi32>) and key_length(%m1 : tensor<i32>) : tensor<2x4x5x6xf32>
  return
}

// -----

func.func @mask_c8_window_and_two_lengths(%s: tensor<2x4x5x6xf32>, %m0: tensor<2xi32>, %m1: tensor<i32>) {
  // expected-error@+1 {{expects at most one key_length beside a term that counts from the last live key}}
  %r = attn.mask %s where window(left = 2, bottom_right) and key_length(%m0 : tensor<2xi32>) and key_length(%m1 : tensor<i32>) : tensor<2x4x5x6xf32>
  return
}

// -----

func.func @mask_c8_tree_and_two_lengths(%s: tensor<2x4x5x6xf32>, %m0: tensor<2xi32>, %m1: tensor<3xi32>) {
  // expected-error@+1 {{expects at most one key_length beside a term that counts from the last live key}}
  %r = attn.mask %s where tree(3, %m1 : tensor<3xi32>) and key_length(%m0 : tensor<2xi32>) and key_length(%m0 : tensor<2xi32>) : tensor<2x4x5x6xf32>
  return
}
