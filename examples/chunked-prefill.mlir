// Chunked prefill: the queries of a chunk see all keys of the chunks before, which lie in a cache, and their own causally.
// Two attentions give partial states, which are merged: the result is that of one attention over all keys.
func.func @chunked_prefill(%q: tensor<?x8x?x64xf32>, %past_k: tensor<?x2x?x64xf32>, %past_v: tensor<?x2x?x64xf32>,
                           %k: tensor<?x2x?x64xf32>, %v: tensor<?x2x?x64xf32>) -> (tensor<?x8x?x64xf32>, tensor<?x8x?xf32>) {
  %o1, %m1, %l1, %a1 = attn.sdpa %q, %past_k, %past_v scale 0.125 returning(out, state)
      : (tensor<?x8x?x64xf32>, tensor<?x2x?x64xf32>, tensor<?x2x?x64xf32>)
      -> (tensor<?x8x?x64xf32>, tensor<?x8x?xf32>, tensor<?x8x?xf32>, tensor<?x8x?x64xf32>)
  %o2, %m2, %l2, %a2 = attn.sdpa %q, %k, %v scale 0.125 where causal(top_left) returning(out, state)
      : (tensor<?x8x?x64xf32>, tensor<?x2x?x64xf32>, tensor<?x2x?x64xf32>)
      -> (tensor<?x8x?x64xf32>, tensor<?x8x?xf32>, tensor<?x8x?xf32>, tensor<?x8x?x64xf32>)
  %m, %l, %a = attn.merge_states %m1, %l1, %a1 with %m2, %l2, %a2 : tensor<?x8x?xf32>, tensor<?x8x?x64xf32>
  %out, %lse = attn.finalize_state %m, %l, %a
      : (tensor<?x8x?xf32>, tensor<?x8x?xf32>, tensor<?x8x?x64xf32>) -> (tensor<?x8x?x64xf32>, tensor<?x8x?xf32>)
  return %out, %lse : tensor<?x8x?x64xf32>, tensor<?x8x?xf32>
}
