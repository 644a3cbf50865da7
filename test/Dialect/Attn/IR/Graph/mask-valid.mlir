// RUN: attn-opt %s -verify-diagnostics
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What attn.mask accepts; the numbers are those of docs/Spec.md.

func.func @mask_c1_nested_terms(%s: tensor<2x4x5x6xf32>, %m0: tensor<6xi1>) {
  %r = "attn.mask"(%s, %m0) <{mask = #attn.all_of<#attn.not<#attn.causal<top_left>>, #attn.any_of<#attn.causal<bottom_right>, #attn.allowed<0>>>}> : (tensor<2x4x5x6xf32>, tensor<6xi1>) -> tensor<2x4x5x6xf32>
  return
}

func.func @mask_c2_operand_read_twice(%s: tensor<2x4x5x6xf32>, %m0: tensor<2xi32>) {
  %r = "attn.mask"(%s, %m0) <{mask = #attn.any_of<#attn.key_length<0>, #attn.causal<offset, offset = 0, operand = 0>>}> : (tensor<2x4x5x6xf32>, tensor<2xi32>) -> tensor<2x4x5x6xf32>
  return
}

func.func @mask_c3_one_for_all(%s: tensor<2x4x5x6xf32>, %m0: tensor<i64>) {
  %r = attn.mask %s where key_length(%m0 : tensor<i64>) : tensor<2x4x5x6xf32>
  return
}

func.func @mask_c3_one_per_batch_entry(%s: tensor<2x4x5x6xf32>, %m0: tensor<2xi32>) {
  %r = attn.mask %s where key_length(%m0 : tensor<2xi32>) : tensor<2x4x5x6xf32>
  return
}

func.func @mask_c3_one_that_broadcasts(%s: tensor<2x4x5x6xf32>, %m0: tensor<1xi32>) {
  %r = attn.mask %s where causal(offset = %m0 : tensor<1xi32>) : tensor<2x4x5x6xf32>
  return
}

func.func @mask_c3_one_per_head_in_rank_3(%s: tensor<4x5x6xf32>, %m0: tensor<4xi32>) {
  %r = attn.mask %s where key_length(%m0 : tensor<4xi32>) : tensor<4x5x6xf32>
  return
}

func.func @mask_c3_one_for_all_in_rank_2(%s: tensor<5x6xf32>, %m0: tensor<i32>) {
  %r = attn.mask %s where causal(offset = %m0 : tensor<i32>) : tensor<5x6xf32>
  return
}

func.func @mask_c4_boolean_row(%s: tensor<2x4x5x6xf32>, %m0: tensor<6xi1>) {
  %r = attn.mask %s where %m0 : tensor<6xi1> : tensor<2x4x5x6xf32>
  return
}

func.func @mask_c4_boolean_per_batch_entry(%s: tensor<2x4x5x6xf32>, %m0: tensor<2x1x1x?xi1>) {
  %r = attn.mask %s where %m0 : tensor<2x1x1x?xi1> : tensor<2x4x5x6xf32>
  return
}

func.func @mask_c5_rank_2(%s: tensor<5x6xf32>) {
  %r = attn.mask %s where causal(top_left) : tensor<5x6xf32>
  return
}

func.func @mask_c6_constant_offset(%s: tensor<2x4x5x6xf32>) {
  %r = attn.mask %s where causal(offset = -3) : tensor<2x4x5x6xf32>
  return
}

func.func @mask_c6_operand_offset(%s: tensor<2x4x5x6xf32>, %m0: tensor<2xi64>) {
  %r = attn.mask %s where causal(offset = %m0 : tensor<2xi64>) : tensor<2x4x5x6xf32>
  return
}

func.func @mask_c8_one_key_length(%s: tensor<2x4x5x6xf32>, %m0: tensor<2xi32>) {
  %r = attn.mask %s where causal(bottom_right) and key_length(%m0 : tensor<2xi32>) : tensor<2x4x5x6xf32>
  return
}

func.func @mask_c8_two_key_lengths_without_bottom_right(%s: tensor<2x4x5x6xf32>, %m0: tensor<2xi32>, %m1: tensor<i32>) {
  %r = attn.mask %s where causal(top_left) and key_length(%m0 : tensor<2xi32>) and key_length(%m1 : tensor<i32>) : tensor<2x4x5x6xf32>
  return
}

func.func @mask_c7_same_result_type(%s: tensor<2x4x5x6xf32>) {
  %r = "attn.mask"(%s) <{mask = #attn.causal<top_left>}> : (tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xf32>
  return
}

func.func @mask_c3_window_operands(%s: tensor<2x4x5x6xf32>, %m0: tensor<2xi32>, %m1: tensor<i64>) {
  %r = attn.mask %s where window(left = %m0 : tensor<2xi32>, right = %m1 : tensor<i64>) : tensor<2x4x5x6xf32>
  return
}

func.func @mask_c3_prefix_operand(%s: tensor<2x4x5x6xf32>, %m0: tensor<2xi32>) {
  %r = attn.mask %s where prefix(%m0 : tensor<2xi32>) : tensor<2x4x5x6xf32>
  return
}

func.func @mask_c3_offset_of_a_window(%s: tensor<2x4x5x6xf32>, %m0: tensor<2xi32>) {
  %r = attn.mask %s where window(left = 3, offset = %m0 : tensor<2xi32>) : tensor<2x4x5x6xf32>
  return
}

func.func @mask_c6_chunked_offset(%s: tensor<2x4x5x6xf32>) {
  %r = attn.mask %s where chunked(4, offset = -3) : tensor<2x4x5x6xf32>
  return
}

func.func @mask_c8_tree_and_one_length(%s: tensor<2x4x5x6xf32>, %m0: tensor<2xi32>, %m1: tensor<3xi32>) {
  %r = attn.mask %s where tree(3, %m1 : tensor<3xi32>) and key_length(%m0 : tensor<2xi32>) : tensor<2x4x5x6xf32>
  return
}

func.func @mask_c9_one_side(%s: tensor<2x4x5x6xf32>) {
  %r = attn.mask %s where window(left = 0) and window(right = 7) : tensor<2x4x5x6xf32>
  return
}

func.func @mask_c10_smallest(%s: tensor<2x4x5x6xf32>) {
  %r = attn.mask %s where prefix(1) or sink(1) or chunked(1) or dilated(1) : tensor<2x4x5x6xf32>
  return
}

func.func @mask_c11_bits(%s: tensor<2x4x5x6xf32>) {
  %r = attn.mask %s where block(2, 3, bits = [[1, 0], [0, 1], [1, 1]]) : tensor<2x4x5x6xf32>
  return
}

func.func @mask_c11_matrix(%s: tensor<2x4x5x6xf32>, %m0: tensor<?x?xi1>) {
  %r = attn.mask %s where block(2, 3, %m0 : tensor<?x?xi1>) : tensor<2x4x5x6xf32>
  return
}

func.func @mask_c11_matrix_per_head(%s: tensor<2x4x5x6xf32>, %m0: tensor<1x4x3x2xi1>) {
  %r = attn.mask %s where block(2, 3, %m0 : tensor<1x4x3x2xi1>) : tensor<2x4x5x6xf32>
  return
}

func.func @mask_c12_row(%s: tensor<2x4x5x6xf32>, %m0: tensor<3xi64>) {
  %r = attn.mask %s where tree(3, %m0 : tensor<3xi64>) : tensor<2x4x5x6xf32>
  return
}

func.func @mask_c12_row_per_batch_entry(%s: tensor<2x4x5x6xf32>, %m0: tensor<2x5xi32>) {
  %r = attn.mask %s where tree(5, %m0 : tensor<2x5xi32>) : tensor<2x4x5x6xf32>
  return
}

func.func @mask_c13_queries_and_keys(%s: tensor<2x4x5x6xf32>, %m0: tensor<5xi32>, %m1: tensor<6xi32>) {
  %r = attn.mask %s where document(%m0 : tensor<5xi32>, %m1 : tensor<6xi32>) : tensor<2x4x5x6xf32>
  return
}

func.func @mask_c13_row_per_batch_entry(%s: tensor<2x4x5x5xf32>, %m0: tensor<2x5xi64>) {
  %r = attn.mask %s where document(%m0 : tensor<2x5xi64>) : tensor<2x4x5x5xf32>
  return
}

func.func @mask_c13_cumulative(%s: tensor<2x4x5x6xf32>, %m0: tensor<?xi32>) {
  %r = attn.mask %s where document(cumulative %m0 : tensor<?xi32>) : tensor<2x4x5x6xf32>
  return
}

func.func @mask_c14_table(%s: tensor<2x4x5x6xf32>, %m0: tensor<4xi32>) {
  %r = attn.mask %s where predicate(#attn.program<inputs = [tensor<4xi32>], <"tensor.extract", [4, 1], {}, i32>, <"arith.cmpi", [5, 5], {predicate = 0 : i64}, i1>>, %m0 : tensor<4xi32>) : tensor<2x4x5x6xf32>
  return
}

func.func @mask_c15_in_document(%s: tensor<2x4x5x6xf32>, %m0: tensor<3xi32>, %m1: tensor<3xi32>) {
  %r = attn.mask %s where document(cumulative %m0 : tensor<3xi32>, %m1 : tensor<3xi32>) and causal(bottom_right in document) : tensor<2x4x5x6xf32>
  return
}

func.func @mask_c15_deep_inside(%s: tensor<2x4x5x6xf32>, %m0: tensor<3xi32>) {
  %r = attn.mask %s where (sink(2) or not window(left = 3, top_left in document)) and document(cumulative %m0 : tensor<3xi32>) : tensor<2x4x5x6xf32>
  return
}

func.func @mask_c15_beside_a_length(%s: tensor<2x4x5x6xf32>, %m0: tensor<3xi32>, %m1: tensor<2xi32>) {
  %r = attn.mask %s where document(cumulative %m0 : tensor<3xi32>) and dilated(2, bottom_right in document) and key_length(%m1 : tensor<2xi32>) : tensor<2x4x5x6xf32>
  return
}

func.func @mask_c16_origin(%state: !attn.state<16 x 8 x 8, f32>, %k: memref<?x8xf32>, %i: index, %o: index) -> !attn.state<16 x 8 x 8, f32> {
  %r = attn.online %state, %k, %k rows %i to %i keys from %i lengths %i, %i where chunked(4, from %o : index, offset = 2) mode edge
      {schedule = #attn.cpu_schedule<lanes = 8, rows = 6, vectors = 2, query_tile = 16, key_tile = 96, unroll = 4, prefetch = 0>}
      : !attn.state<16 x 8 x 8, f32>, memref<?x8xf32>, memref<?x8xf32>
  return %r : !attn.state<16 x 8 x 8, f32>
}

func.func @mask_c17_largest(%s: tensor<2x4x5x6xf32>) {
  %r = attn.mask %s where window(left = 1099511627776, offset = -1099511627776) or chunked(1099511627776) : tensor<2x4x5x6xf32>
  return
}
