// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An attn.sdpa with every part that can stand beside weights and scores.
// bias: { bias %bias : tensor<8x1x?xf32>} -> {}
// scale: {scale 0.5} -> {scale 0.25}
// captures: {arith.mulf %c, %f} -> {arith.mulf %c, %c}
// captures: {arith.addf %x, %e} -> {arith.addf %x, %x}
// mask: {where causal(offset = %offset : tensor<i32>) and} -> {where}
// mask_operands: {key_length(%length : tensor<?xi32>) or} -> {}
// mask_operands: { and %allowed : tensor<?x1x?x?xi1>} -> {}
// sinks: { sinks %sinks : tensor<8xf32>} -> {}
// query_layout: {query_layout = #attn<layout bshd>, } -> {}
// key_layout: {key_layout = #attn<layout bshd>, } -> {}
// out_layout: {out_layout = #attn<layout bshd>, } -> {}
// scores_stage: {scores_stage biased} -> {scores_stage scaled}
func.func @kernel(%q: tensor<?x?x8x4xf32>, %k: tensor<?x?x2x4xf32>, %v: tensor<?x2x?x6xf32>, %bias: tensor<8x1x?xf32>, %allowed: tensor<?x1x?x?xi1>,
    %length: tensor<?xi32>, %offset: tensor<i32>, %table: tensor<8x?xf32>, %gain: tensor<f32>, %sinks: tensor<8xf32>)
    -> (tensor<?x?x8x6xf32>, tensor<?x8x?xf32>, tensor<?x8x?x?xf32>, tensor<?x8x?x?xf32>) {
  %r:4 = attn.sdpa %q, %k, %v bias %bias : tensor<8x1x?xf32> scale 0.5
      score_mod (%s: f32, %b, %h, %i, %j) with (%t = %table : tensor<8x?xf32>, %g = %gain : tensor<f32>) {
        %c = math.tanh %s : f32
        %d = arith.subi %i, %j : index
        %e = tensor.extract %t[%h, %d] : tensor<8x?xf32>
        %f = tensor.extract %g[] : tensor<f32>
        %x = arith.mulf %c, %f : f32
        %y = arith.addf %x, %e : f32
        attn.yield %y : f32
      } where causal(offset = %offset : tensor<i32>) and (key_length(%length : tensor<?xi32>) or not causal(top_left)) and %allowed : tensor<?x1x?x?xi1>
      sinks %sinks : tensor<8xf32> returning(out, lse, weights, scores)
      {query_layout = #attn<layout bshd>, key_layout = #attn<layout bshd>, out_layout = #attn<layout bshd>, scores_stage = #attn<scores_stage biased>,
       schedule = #attn.cpu_schedule<lanes = 8, rows = 3, vectors = 2, query_tile = 32, key_tile = 9, unroll = 1, prefetch = 1>}
      : (tensor<?x?x8x4xf32>, tensor<?x?x2x4xf32>, tensor<?x2x?x6xf32>)
      -> (tensor<?x?x8x6xf32>, tensor<?x8x?xf32>, tensor<?x8x?x?xf32>, tensor<?x8x?x?xf32>)
  return %r#0, %r#1, %r#2, %r#3 : tensor<?x?x8x6xf32>, tensor<?x8x?xf32>, tensor<?x8x?x?xf32>, tensor<?x8x?x?xf32>
}
