// The smallest textbook attention with unknown lengths.
func.func @small(%q: tensor<?x4xf32>, %k: tensor<?x4xf32>, %v: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %scores = attn.scores %q, %k : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x?xf32>
  %scaled = attn.scale %scores by 0.5 : tensor<?x?xf32>
  %masked = attn.mask %scaled where causal(top_left) : tensor<?x?xf32>
  %weights = attn.softmax %masked : tensor<?x?xf32>
  %out = attn.context %weights, %v : (tensor<?x?xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  return %out : tensor<?x4xf32>
}
