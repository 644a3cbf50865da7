// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A returned state, merged and made a result.
// bias: { bias %bias : tensor<8x1x?xf32>} -> {}
// mask: { where key_length(%length : tensor<?xi32>)} -> {}
// attn.merge_states: {%r#2, %r#3, %r#4 with %m, %l, %a} -> {%r#2, %r#3, %r#4 with %r#2, %r#3, %r#4}
// attn.merge_states: {%r#2, %r#3, %r#4 with %m, %l, %a} -> {%m, %l, %a with %m, %l, %a}
// attn.finalize_state: {attn.finalize_state %s#0, %s#1, %s#2} -> {attn.finalize_state %s#0, %s#0, %s#2}
func.func @kernel(%q: tensor<?x?x8x4xf32>, %k: tensor<?x2x?x4xf32>, %v: tensor<?x2x?x6xf32>, %bias: tensor<8x1x?xf32>, %length: tensor<?xi32>,
    %m: tensor<?x8x?xf32>, %l: tensor<?x8x?xf32>, %a: tensor<?x8x?x6xf32>)
    -> (tensor<?x8x?x6xf32>, tensor<?x8x?xf32>, tensor<?x8x?xf32>, tensor<?x8x?xf32>, tensor<?x8x?x6xf32>) {
  %r:5 = attn.sdpa %q, %k, %v bias %bias : tensor<8x1x?xf32> scale 0.5 where key_length(%length : tensor<?xi32>) returning(out, lse, state)
      {query_layout = #attn<layout bshd>, schedule = #attn.cpu_schedule<lanes = 8, rows = 3, vectors = 2, query_tile = 32, key_tile = 9, unroll = 1, prefetch = 1>}
      : (tensor<?x?x8x4xf32>, tensor<?x2x?x4xf32>, tensor<?x2x?x6xf32>)
      -> (tensor<?x8x?x6xf32>, tensor<?x8x?xf32>, tensor<?x8x?xf32>, tensor<?x8x?xf32>, tensor<?x8x?x6xf32>)
  %s:3 = attn.merge_states %r#2, %r#3, %r#4 with %m, %l, %a : tensor<?x8x?xf32>, tensor<?x8x?x6xf32>
  %o, %e = attn.finalize_state %s#0, %s#1, %s#2 : (tensor<?x8x?xf32>, tensor<?x8x?xf32>, tensor<?x8x?x6xf32>) -> (tensor<?x8x?x6xf32>, tensor<?x8x?xf32>)
  return %o, %e, %r#2, %r#3, %s#2 : tensor<?x8x?x6xf32>, tensor<?x8x?xf32>, tensor<?x8x?xf32>, tensor<?x8x?xf32>, tensor<?x8x?x6xf32>
}
