// RUN: attn-opt %s -verify-diagnostics
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What attn.alibi accepts; the numbers are those of docs/Spec.md.

func.func @alibi_c1_rank_2(%s: tensor<?x?xf32>, %t: tensor<1xf32>) {
  %r = attn.alibi %s, %t aligned top_left : tensor<?x?xf32>, tensor<1xf32>
  return
}

func.func @alibi_c2_same_type(%s: tensor<4x5x6xf32>, %t: tensor<4xf32>) {
  %r = attn.alibi %s, %t aligned bottom_right : tensor<4x5x6xf32>, tensor<4xf32>
  return
}

func.func @alibi_c3_unknown_heads(%s: tensor<2x?x5x6xf64>, %t: tensor<?xf64>) {
  %r = attn.alibi %s, %t aligned top_left : tensor<2x?x5x6xf64>, tensor<?xf64>
  return
}

func.func @alibi_c4_computed_slopes(%s: tensor<4x5x6xf32>) {
  %r = attn.alibi %s aligned top_left : tensor<4x5x6xf32>
  return
}

func.func @alibi_c4_computed_slopes_of_many_heads(%s: tensor<65536x5x6xf32>) {
  %r = attn.alibi %s aligned top_left : tensor<65536x5x6xf32>
  return
}

func.func @alibi_c5_offset(%s: tensor<4x5x6xf32>, %t: tensor<4xf32>, %o: tensor<i64>) {
  %r = attn.alibi %s, %t aligned offset by %o : tensor<i64> : tensor<4x5x6xf32>, tensor<4xf32>
  return
}

func.func @alibi_c6_offset_per_batch_entry(%s: tensor<?x4x5x6xf32>, %t: tensor<4xf32>, %o: tensor<?xi32>) {
  %r = attn.alibi %s, %t aligned offset by %o : tensor<?xi32> : tensor<?x4x5x6xf32>, tensor<4xf32>
  return
}
