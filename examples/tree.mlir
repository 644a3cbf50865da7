// Speculative decoding: 16 draft tokens that form a tree, behind a cache of keys of which `len` are live.
// Bit j of `tree[b, i]` says that draft token j is draft token i or an ancestor of it.
func.func @tree(%q: tensor<?x8x16x64xf32>, %k: tensor<?x8x?x64xf32>, %v: tensor<?x8x?x64xf32>, %tree: tensor<?x16xi32>, %len: tensor<?xi32>) -> tensor<?x8x16x64xf32> {
  %scores  = attn.scores %q, %k : (tensor<?x8x16x64xf32>, tensor<?x8x?x64xf32>) -> tensor<?x8x16x?xf32>
  %scaled  = attn.scale %scores by 0.125 : tensor<?x8x16x?xf32>
  %masked  = attn.mask %scaled where tree(16, %tree : tensor<?x16xi32>) and key_length(%len : tensor<?xi32>) : tensor<?x8x16x?xf32>
  %weights = attn.softmax %masked : tensor<?x8x16x?xf32>
  %out     = attn.context %weights, %v : (tensor<?x8x16x?xf32>, tensor<?x8x?x64xf32>) -> tensor<?x8x16x64xf32>
  return %out : tensor<?x8x16x64xf32>
}
