// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What cannot stand beside sinks, and what has rows of its own: a returned state, merged and made a result.
func.func @states(%q: tensor<?x?x8x4xf16>, %k: tensor<?x2x?x4xf16>, %v: tensor<?x2x?x6xf16>, %bias: tensor<8x1x?xf32>, %length: tensor<?xi32>,
                  %m: tensor<?x8x?xf32>, %l: tensor<?x8x?xf32>, %a: tensor<?x8x?x6xf32>) -> (tensor<?x8x?x6xf16>, tensor<?x8x?xf32>, tensor<?x8x?xf32>, tensor<?x8x?xf32>) {
  %r:5 = attn.sdpa %q, %k, %v bias %bias : tensor<8x1x?xf32> scale 0.5 where key_length(%length : tensor<?xi32>) returning(out, lse, state)
      {query_layout = #attn<layout bshd>} : (tensor<?x?x8x4xf16>, tensor<?x2x?x4xf16>, tensor<?x2x?x6xf16>)
      -> (tensor<?x8x?x6xf16>, tensor<?x8x?xf32>, tensor<?x8x?xf32>, tensor<?x8x?xf32>, tensor<?x8x?x6xf32>)
  %s:3 = attn.merge_states %r#2, %r#3, %r#4 with %m, %l, %a {schedule = #attn.cpu_schedule<lanes = 2, rows = 1, vectors = 1, query_tile = 6, key_tile = 2, unroll = 1, prefetch = 0>}
      : tensor<?x8x?xf32>, tensor<?x8x?x6xf32>
  %o, %e = attn.finalize_state %s#0, %s#1, %s#2 : (tensor<?x8x?xf32>, tensor<?x8x?xf32>, tensor<?x8x?x6xf32>) -> (tensor<?x8x?x6xf16>, tensor<?x8x?xf32>)
  return %o, %e, %r#1, %s#0 : tensor<?x8x?x6xf16>, tensor<?x8x?xf32>, tensor<?x8x?xf32>, tensor<?x8x?xf32>
}
func.func @sigmoid(%q: tensor<?x8x?x4xf32>, %k: tensor<?x2x?x4xf32>, %v: tensor<?x2x?x6xf32>) -> (tensor<?x8x?x6xf32>, tensor<?x8x?x?xf32>) {
  %r:2 = attn.sdpa %q, %k, %v scale 0.5 returning(out, weights) {normalization = #attn<normalization sigmoid>}
      : (tensor<?x8x?x4xf32>, tensor<?x2x?x4xf32>, tensor<?x2x?x6xf32>) -> (tensor<?x8x?x6xf32>, tensor<?x8x?x?xf32>)
  return %r#0, %r#1 : tensor<?x8x?x6xf32>, tensor<?x8x?x?xf32>
}
