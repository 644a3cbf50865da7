// Sigmoid attention: every score becomes a weight by itself, without a sum over the row. The bias, one number per head, is
// -log of about the number of keys, so that weights do not grow with it.
func.func @sigmoid(%q: tensor<?x8x?x64xf32>, %k: tensor<?x8x?x64xf32>, %v: tensor<?x8x?x64xf32>, %b: tensor<8x1x1xf32>) -> tensor<?x8x?x64xf32> {
  %scores  = attn.scores %q, %k : (tensor<?x8x?x64xf32>, tensor<?x8x?x64xf32>) -> tensor<?x8x?x?xf32>
  %scaled  = attn.scale %scores by 0.125 : tensor<?x8x?x?xf32>
  %biased  = attn.bias %scaled, %b : tensor<?x8x?x?xf32>, tensor<8x1x1xf32>
  %masked  = attn.mask %biased where causal(top_left) : tensor<?x8x?x?xf32>
  %weights = attn.sigmoid %masked : tensor<?x8x?x?xf32>
  %out     = attn.context %weights, %v : (tensor<?x8x?x?xf32>, tensor<?x8x?x64xf32>) -> tensor<?x8x?x64xf32>
  return %out : tensor<?x8x?x64xf32>
}
