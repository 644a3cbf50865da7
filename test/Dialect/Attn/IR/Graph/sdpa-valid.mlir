// RUN: attn-opt %s -verify-diagnostics
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What attn.sdpa accepts; the numbers are those of docs/Spec.md.

func.func @sdpa_c1_rank_2(%q: tensor<5x8xf32>, %k: tensor<6x8xf32>, %v: tensor<6x3xf32>) {
  %r0 = attn.sdpa %q, %k, %v scale 0.5
      : (tensor<5x8xf32>, tensor<6x8xf32>, tensor<6x3xf32>) -> tensor<5x3xf32>
  return
}

func.func @sdpa_c1_rank_4(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x6x8xf32>, %v: tensor<2x2x6x3xf32>) {
  %r0 = attn.sdpa %q, %k, %v scale 0.5
      : (tensor<2x4x5x8xf32>, tensor<2x2x6x8xf32>, tensor<2x2x6x3xf32>) -> tensor<2x4x5x3xf32>
  return
}

func.func @sdpa_c2_same_rank(%q: tensor<4x5x8xf32>, %k: tensor<2x6x8xf32>, %v: tensor<2x6x3xf32>) {
  %r0 = attn.sdpa %q, %k, %v scale 0.5
      : (tensor<4x5x8xf32>, tensor<2x6x8xf32>, tensor<2x6x3xf32>) -> tensor<4x5x3xf32>
  return
}

func.func @sdpa_c3_out_of_statistics(%q: tensor<5x8xf16>, %k: tensor<6x8xf16>, %v: tensor<6x3xf16>) {
  %r0 = attn.sdpa %q, %k, %v scale 0.5
      : (tensor<5x8xf16>, tensor<6x8xf16>, tensor<6x3xf16>) -> tensor<5x3xf32>
  return
}

func.func @sdpa_c3_query_f32_value_f16(%q: tensor<5x8xf32>, %k: tensor<6x8xf32>, %v: tensor<6x3xf16>) {
  %r0 = attn.sdpa %q, %k, %v scale 0.5
      : (tensor<5x8xf32>, tensor<6x8xf32>, tensor<6x3xf16>) -> tensor<5x3xf16>
  return
}

func.func @sdpa_c4_unknown_batch(%q: tensor<?x4x5x8xf32>, %k: tensor<2x2x6x8xf32>, %v: tensor<?x2x6x3xf32>) {
  %r0 = attn.sdpa %q, %k, %v scale 0.5
      : (tensor<?x4x5x8xf32>, tensor<2x2x6x8xf32>, tensor<?x2x6x3xf32>) -> tensor<2x4x5x3xf32>
  return
}

func.func @sdpa_c5_one_key_head(%q: tensor<2x4x5x8xf32>, %k: tensor<2x1x6x8xf32>, %v: tensor<2x1x6x3xf32>) {
  %r0 = attn.sdpa %q, %k, %v scale 0.5
      : (tensor<2x4x5x8xf32>, tensor<2x1x6x8xf32>, tensor<2x1x6x3xf32>) -> tensor<2x4x5x3xf32>
  return
}

func.func @sdpa_c5_heads_of_bshd(%q: tensor<2x5x4x8xf32>, %k: tensor<2x2x6x8xf32>, %v: tensor<2x2x6x3xf32>) {
  %r0 = attn.sdpa %q, %k, %v scale 0.5 {query_layout = #attn<layout bshd>}
      : (tensor<2x5x4x8xf32>, tensor<2x2x6x8xf32>, tensor<2x2x6x3xf32>) -> tensor<2x4x5x3xf32>
  return
}

func.func @sdpa_c6_value_wider_than_key(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x6x8xf32>, %v: tensor<2x2x6x16xf32>) {
  %r0 = attn.sdpa %q, %k, %v scale 0.5
      : (tensor<2x4x5x8xf32>, tensor<2x2x6x8xf32>, tensor<2x2x6x16xf32>) -> tensor<2x4x5x16xf32>
  return
}

func.func @sdpa_c7_unknown_lengths(%q: tensor<2x4x?x8xf32>, %k: tensor<2x2x?x8xf32>, %v: tensor<2x2x6x3xf32>) {
  %r0 = attn.sdpa %q, %k, %v scale 0.5
      : (tensor<2x4x?x8xf32>, tensor<2x2x?x8xf32>, tensor<2x2x6x3xf32>) -> tensor<2x4x5x3xf32>
  return
}

func.func @sdpa_c8_negative_scale(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x6x8xf32>, %v: tensor<2x2x6x3xf32>) {
  %r0 = attn.sdpa %q, %k, %v scale -1.0
      : (tensor<2x4x5x8xf32>, tensor<2x2x6x8xf32>, tensor<2x2x6x3xf32>) -> tensor<2x4x5x3xf32>
  return
}

func.func @sdpa_c9_bias_per_head(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x6x8xf32>, %v: tensor<2x2x6x3xf32>, %b: tensor<4x1x6xf32>) {
  %r0 = attn.sdpa %q, %k, %v bias %b : tensor<4x1x6xf32> scale 0.5
      : (tensor<2x4x5x8xf32>, tensor<2x2x6x8xf32>, tensor<2x2x6x3xf32>) -> tensor<2x4x5x3xf32>
  return
}

func.func @sdpa_c9_bias_f32_of_f16(%q: tensor<5x8xf16>, %k: tensor<6x8xf16>, %v: tensor<6x3xf16>, %b: tensor<5x6xf32>) {
  %r0 = attn.sdpa %q, %k, %v bias %b : tensor<5x6xf32> scale 0.5
      : (tensor<5x8xf16>, tensor<6x8xf16>, tensor<6x3xf16>) -> tensor<5x3xf16>
  return
}

func.func @sdpa_c10_mask_with_operand(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x6x8xf32>, %v: tensor<2x2x6x3xf32>, %n: tensor<2xi32>) {
  %r0 = attn.sdpa %q, %k, %v scale 0.5 where key_length(%n : tensor<2xi32>)
      : (tensor<2x4x5x8xf32>, tensor<2x2x6x8xf32>, tensor<2x2x6x3xf32>) -> tensor<2x4x5x3xf32>
  return
}

func.func @sdpa_c11_scores_with_stage(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x6x8xf32>, %v: tensor<2x2x6x3xf32>) {
  %r0, %r1 = attn.sdpa %q, %k, %v scale 0.5 returning(out, scores) {scores_stage = #attn<scores_stage raw>}
      : (tensor<2x4x5x8xf32>, tensor<2x2x6x8xf32>, tensor<2x2x6x3xf32>) -> (tensor<2x4x5x3xf32>, tensor<2x4x5x6xf32>)
  return
}

func.func @sdpa_c12_lse_of_bshd(%q: tensor<2x5x4x8xf16>, %k: tensor<2x2x6x8xf16>, %v: tensor<2x2x6x3xf16>) {
  %r0, %r1 = attn.sdpa %q, %k, %v scale 0.5 returning(out, lse) {query_layout = #attn<layout bshd>}
      : (tensor<2x5x4x8xf16>, tensor<2x2x6x8xf16>, tensor<2x2x6x3xf16>) -> (tensor<2x4x5x3xf16>, tensor<2x4x5xf32>)
  return
}

func.func @sdpa_c12_weights(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x6x8xf32>, %v: tensor<2x2x6x3xf32>) {
  %r0, %r1 = attn.sdpa %q, %k, %v scale 0.5 returning(out, weights)
      : (tensor<2x4x5x8xf32>, tensor<2x2x6x8xf32>, tensor<2x2x6x3xf32>) -> (tensor<2x4x5x3xf32>, tensor<2x4x?x6xf32>)
  return
}

func.func @sdpa_c15_sink_per_head(%q: tensor<4x5x8xf32>, %k: tensor<4x6x8xf32>, %t: tensor<4xf32>) {
  %r = attn.sdpa %q, %k, %k scale 0.5 sinks %t : tensor<4xf32> : (tensor<4x5x8xf32>, tensor<4x6x8xf32>, tensor<4x6x8xf32>) -> tensor<4x5x8xf32>
  return
}

func.func @sdpa_c16_score_function(%q: tensor<4x5x8xf32>, %k: tensor<4x6x8xf32>, %t: tensor<4xf32>) {
  %r = attn.sdpa %q, %k, %k scale 0.5 score_mod (%x: f32, %b, %h, %i, %j) with (%u = %t : tensor<4xf32>) {
    %g = tensor.extract %u[%h] : tensor<4xf32>
    %y = arith.mulf %x, %g : f32
    attn.yield %y : f32
  } : (tensor<4x5x8xf32>, tensor<4x6x8xf32>, tensor<4x6x8xf32>) -> tensor<4x5x8xf32>
  return
}

func.func @sdpa_c13_both_kinds(%q: tensor<2x4x1x8xf32>, %k: tensor<2x2x6x8xf32>, %v: tensor<2x2x6x3xf32>) {
  %r = attn.sdpa %q, %k, %v scale 0.5 {decode_schedule = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 2, key_tile = 8, unroll = 1, prefetch = 0, kind = decode, split_keys = 64>, schedule = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>}
      : (tensor<2x4x1x8xf32>, tensor<2x2x6x8xf32>, tensor<2x2x6x3xf32>) -> tensor<2x4x1x3xf32>
  return
}

func.func @sdpa_c14_lse(%q: tensor<2x4x1x8xf32>, %k: tensor<2x2x6x8xf32>, %v: tensor<2x2x6x3xf32>) {
  %r0, %r1 = attn.sdpa %q, %k, %v scale 0.5 returning(out, lse) {decode_schedule = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 2, key_tile = 8, unroll = 1, prefetch = 0, kind = decode, split_keys = 64>}
      : (tensor<2x4x1x8xf32>, tensor<2x2x6x8xf32>, tensor<2x2x6x3xf32>) -> (tensor<2x4x1x3xf32>, tensor<2x4x1xf32>)
  return
}

func.func @sdpa_c17_state(%q: tensor<4x5x8xf32>, %k: tensor<2x6x8xf32>, %v: tensor<2x6x3xf32>) {
  %r:4 = attn.sdpa %q, %k, %v scale 0.5 returning(out, state)
      : (tensor<4x5x8xf32>, tensor<2x6x8xf32>, tensor<2x6x3xf32>) -> (tensor<4x5x3xf32>, tensor<4x5xf32>, tensor<4x5xf32>, tensor<4x5x3xf32>)
  return
}

func.func @sdpa_c17_state_of_layout(%q: tensor<4x5x8xf32>, %k: tensor<2x6x8xf32>, %v: tensor<2x6x3xf32>) {
  %r:4 = attn.sdpa %q, %k, %v scale 0.5 returning(out, state) {out_layout = #attn<layout bshd>}
      : (tensor<4x5x8xf32>, tensor<2x6x8xf32>, tensor<2x6x3xf32>) -> (tensor<5x4x3xf32>, tensor<4x5xf32>, tensor<4x5xf32>, tensor<5x4x3xf32>)
  return
}

func.func @sdpa_c18_sinks_without_state(%q: tensor<4x5x8xf32>, %k: tensor<2x6x8xf32>, %v: tensor<2x6x3xf32>, %s: tensor<4xf32>) {
  %r:2 = attn.sdpa %q, %k, %v scale 0.5 sinks %s : tensor<4xf32> returning(out, lse)
      : (tensor<4x5x8xf32>, tensor<2x6x8xf32>, tensor<2x6x3xf32>) -> (tensor<4x5x3xf32>, tensor<4x5xf32>)
  return
}

func.func @sdpa_c19_sigmoid(%q: tensor<4x5x8xf32>, %k: tensor<2x6x8xf32>, %v: tensor<2x6x3xf32>) {
  %r:2 = attn.sdpa %q, %k, %v scale 0.5 returning(out, weights) {normalization = #attn<normalization sigmoid>}
      : (tensor<4x5x8xf32>, tensor<2x6x8xf32>, tensor<2x6x3xf32>) -> (tensor<4x5x3xf32>, tensor<4x5x6xf32>)
  return
}

func.func @sdpa_c20_pairs(%q: tensor<?x8xbf16>, %v: tensor<?x3xbf16>) {
  %r = attn.sdpa %q, %q, %v scale 0.5 {schedule = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0, products = dot>}
      : (tensor<?x8xbf16>, tensor<?x8xbf16>, tensor<?x3xbf16>) -> tensor<?x3xbf16>
  return
}

func.func @sdpa_c21_second_map(%q: tensor<4x5x8xf32>, %k: tensor<2x6x8xf32>, %v: tensor<2x6x3xf32>, %p: tensor<4x5x8xf32>, %j: tensor<2x6x8xf32>, %l: tensor<f32>, %m: tensor<1xf32>, %n: tensor<4xf32>) {
  %r = attn.sdpa %q, %k, %v minus %p, %j by %l : tensor<f32> scale 0.5
      : (tensor<4x5x8xf32>, tensor<2x6x8xf32>, tensor<2x6x3xf32>) -> tensor<4x5x3xf32>
  %s = attn.sdpa %q, %k, %v minus %p, %j by %m : tensor<1xf32> scale 0.5
      : (tensor<4x5x8xf32>, tensor<2x6x8xf32>, tensor<2x6x3xf32>) -> tensor<4x5x3xf32>
  %t = attn.sdpa %q, %k, %v minus %p, %j by %n : tensor<4xf32> scale 0.5
      : (tensor<4x5x8xf32>, tensor<2x6x8xf32>, tensor<2x6x3xf32>) -> tensor<4x5x3xf32>
  return
}

func.func @sdpa_c21_double(%q: tensor<5x8xf64>, %v: tensor<5x3xf64>, %l: tensor<1xf64>) {
  %r = attn.sdpa %q, %q, %v minus %q, %q by %l : tensor<1xf64> scale 0.5 : (tensor<5x8xf64>, tensor<5x8xf64>, tensor<5x3xf64>) -> tensor<5x3xf64>
  return
}

func.func @sdpa_c22_out_alone(%q: tensor<4x5x8xf32>, %k: tensor<2x6x8xf32>, %v: tensor<2x6x3xf32>, %l: tensor<f32>, %s: tensor<4xf32>) {
  %r = attn.sdpa %q, %k, %v minus %q, %k by %l : tensor<f32> scale 0.5 sinks %s : tensor<4xf32> {schedule = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>}
      : (tensor<4x5x8xf32>, tensor<2x6x8xf32>, tensor<2x6x3xf32>) -> tensor<4x5x3xf32>
  %t = attn.sdpa %q, %k, %v minus %q, %k by %l : tensor<f32> scale 0.5 {normalization = #attn<normalization sigmoid>}
      : (tensor<4x5x8xf32>, tensor<2x6x8xf32>, tensor<2x6x3xf32>) -> tensor<4x5x3xf32>
  return
}

func.func @sdpa_c20_tiles(%q: tensor<?x8xbf16>, %v: tensor<?x3xbf16>) {
  %r = attn.sdpa %q, %q, %v scale 0.5 {schedule = #attn.cpu_schedule<lanes = 16, rows = 32, vectors = 2, query_tile = 32, key_tile = 64, unroll = 1, prefetch = 0, products = amx>}
      : (tensor<?x8xbf16>, tensor<?x8xbf16>, tensor<?x3xbf16>) -> tensor<?x3xbf16>
  return
}

func.func @sdpa_c23_split(%q: tensor<4x8xf32>, %k: tensor<6x8xf32>, %v: tensor<6x3xf32>) {
  %o, %l = attn.sdpa %q, %k, %v scale 0.5 where causal(top_left) returning(out, lse) {schedule = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0, split_keys = 16, split_queries = 8>}
      : (tensor<4x8xf32>, tensor<6x8xf32>, tensor<6x3xf32>) -> (tensor<4x3xf32>, tensor<4xf32>)
  return
}

func.func @sdpa_c24_dropout(%q: tensor<4x8xf32>, %x: tensor<i64>) {
  %o, %l, %w, %s = attn.sdpa %q, %q, %q scale 0.5 dropout 0.0 seed %x : tensor<i64> returning(out, lse, weights, scores)
      {scores_stage = #attn<scores_stage masked>, schedule = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>}
      : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4xf32>, tensor<4x4xf32>, tensor<4x4xf32>)
  return
}
