func.func @large(%q: tensor<?x16x?x8xf16>, %k: tensor<?x4x?x8xf16>, %v: tensor<?x4x?x8xf16>) -> tensor<?x16x?x8xf16> {
  %scores  = attn.scores %q, %k : (tensor<?x16x?x8xf16>, tensor<?x4x?x8xf16>) -> tensor<?x16x?x?xf32>
  %scaled  = attn.scale %scores by 0.25 : tensor<?x16x?x?xf32>
  %falling = attn.alibi %scaled aligned top_left : tensor<?x16x?x?xf32>
  %masked  = attn.mask %falling where window(left = 40, right = 3) : tensor<?x16x?x?xf32>
  %weights = attn.softmax %masked : tensor<?x16x?x?xf32>
  %out     = attn.context %weights, %v : (tensor<?x16x?x?xf32>, tensor<?x4x?x8xf16>) -> tensor<?x16x?x8xf16>
  return %out : tensor<?x16x?x8xf16>
}
