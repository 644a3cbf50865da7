// Multi-head latent attention in its absorbed form: a token's cache is one row, the latent vector of 512 features and 64
// rotated ones behind it. It is the key of all heads, and its first 512 features are the value: one tensor, read once.
func.func @mla(%q: tensor<?x16x?x576xf32>, %cache: tensor<?x1x?x576xf32>, %lengths: tensor<?xi32>) -> tensor<?x16x?x512xf32> {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %batch   = tensor.dim %cache, %c0 : tensor<?x1x?x576xf32>
  %tokens  = tensor.dim %cache, %c2 : tensor<?x1x?x576xf32>
  %latent  = tensor.extract_slice %cache[0, 0, 0, 0] [%batch, 1, %tokens, 512] [1, 1, 1, 1] : tensor<?x1x?x576xf32> to tensor<?x1x?x512xf32>
  %scores  = attn.scores %q, %cache : (tensor<?x16x?x576xf32>, tensor<?x1x?x576xf32>) -> tensor<?x16x?x?xf32>
  %scaled  = attn.scale %scores by 0.07216878364870322 : tensor<?x16x?x?xf32>
  %masked  = attn.mask %scaled where causal(bottom_right) and key_length(%lengths : tensor<?xi32>) : tensor<?x16x?x?xf32>
  %weights = attn.softmax %masked : tensor<?x16x?x?xf32>
  %out     = attn.context %weights, %latent : (tensor<?x16x?x?xf32>, tensor<?x1x?x512xf32>) -> tensor<?x16x?x512xf32>
  return %out : tensor<?x16x?x512xf32>
}
