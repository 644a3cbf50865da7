// A ragged batch: prompts of any lengths packed one behind the other, each with a cache of its own. Sequence i has the
// queries cu_q[i] .. cu_q[i+1] - 1 and the keys cu_k[i] .. cu_k[i+1] - 1, and its last query stands on its last key.
func.func @ragged(%q: tensor<?x8x64xf32>, %k: tensor<?x2x64xf32>, %v: tensor<?x2x64xf32>, %cu_q: tensor<?xi32>, %cu_k: tensor<?xi32>) -> tensor<?x8x64xf32> {
  %out = attn.sdpa %q, %k, %v scale 0.125
      where document(cumulative %cu_q : tensor<?xi32>, %cu_k : tensor<?xi32>) and causal(bottom_right in document)
      {query_layout = #attn<layout bshd>, key_layout = #attn<layout bshd>, value_layout = #attn<layout bshd>, out_layout = #attn<layout bshd>}
      : (tensor<?x8x64xf32>, tensor<?x2x64xf32>, tensor<?x2x64xf32>) -> tensor<?x8x64xf32>
  return %out : tensor<?x8x64xf32>
}
