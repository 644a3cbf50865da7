func.func @large(%q: tensor<?x6x?x8xf16>, %k: tensor<?x2x?x8xf16>, %v: tensor<?x2x?x8xf16>) -> tensor<?x6x?x8xf16> {
  %scores  = attn.scores %q, %k : (tensor<?x6x?x8xf16>, tensor<?x2x?x8xf16>) -> tensor<?x6x?x?xf32>
  %scaled  = attn.scale %scores by 0.25 : tensor<?x6x?x?xf32>
  %falling = attn.alibi %scaled aligned top_left : tensor<?x6x?x?xf32>
  %masked  = attn.mask %falling where window(left = 40, right = 3) : tensor<?x6x?x?xf32>
  %weights = attn.softmax %masked : tensor<?x6x?x?xf32>
  %out     = attn.context %weights, %v : (tensor<?x6x?x?xf32>, tensor<?x2x?x8xf16>) -> tensor<?x6x?x8xf16>
  return %out : tensor<?x6x?x8xf16>
}
