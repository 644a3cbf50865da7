// Several documents packed into one sequence; query q sees the keys of its own document up to itself.
// `ids` numbers the document of every position: 0 0 0 1 1 2 2 2 2 ..
func.func @document_causal(%q: tensor<?x8x?x64xf32>, %k: tensor<?x8x?x64xf32>, %v: tensor<?x8x?x64xf32>, %ids: tensor<?xi32>) -> tensor<?x8x?x64xf32> {
  %scores  = attn.scores %q, %k : (tensor<?x8x?x64xf32>, tensor<?x8x?x64xf32>) -> tensor<?x8x?x?xf32>
  %scaled  = attn.scale %scores by 0.125 : tensor<?x8x?x?xf32>
  %masked  = attn.mask %scaled where document(%ids : tensor<?xi32>) and causal(top_left) : tensor<?x8x?x?xf32>
  %weights = attn.softmax %masked : tensor<?x8x?x?xf32>
  %out     = attn.context %weights, %v : (tensor<?x8x?x?xf32>, tensor<?x8x?x64xf32>) -> tensor<?x8x?x64xf32>
  return %out : tensor<?x8x?x64xf32>
}
