// Every fourth key within 256 positions on both sides, as in the upper layers of Longformer (Beltagy et al. 2020).
// A query sees itself, the keys 4, 8, .. 256 in front of it and as many behind it.
func.func @dilated_window(%q: tensor<?x8x?x64xf32>, %k: tensor<?x8x?x64xf32>, %v: tensor<?x8x?x64xf32>) -> tensor<?x8x?x64xf32> {
  %scores  = attn.scores %q, %k : (tensor<?x8x?x64xf32>, tensor<?x8x?x64xf32>) -> tensor<?x8x?x?xf32>
  %scaled  = attn.scale %scores by 0.125 : tensor<?x8x?x?xf32>
  %masked  = attn.mask %scaled where window(left = 256, right = 256) and dilated(4) : tensor<?x8x?x?xf32>
  %weights = attn.softmax %masked : tensor<?x8x?x?xf32>
  %out     = attn.context %weights, %v : (tensor<?x8x?x?xf32>, tensor<?x8x?x64xf32>) -> tensor<?x8x?x64xf32>
  return %out : tensor<?x8x?x64xf32>
}
