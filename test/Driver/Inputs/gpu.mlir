func.func @layer(%q: tensor<?x4x?x64xf16>, %k: tensor<?x4x?x64xf16>, %v: tensor<?x4x?x64xf16>) -> tensor<?x4x?x64xf16> {
  %scores  = attn.scores %q, %k : (tensor<?x4x?x64xf16>, tensor<?x4x?x64xf16>) -> tensor<?x4x?x?xf32>
  %scaled  = attn.scale %scores by 0.125 : tensor<?x4x?x?xf32>
  %masked  = attn.mask %scaled where causal(top_left) : tensor<?x4x?x?xf32>
  %weights = attn.softmax %masked : tensor<?x4x?x?xf32>
  %out     = attn.context %weights, %v : (tensor<?x4x?x?xf32>, tensor<?x4x?x64xf16>) -> tensor<?x4x?x64xf16>
  %sum     = arith.addf %out, %q : tensor<?x4x?x64xf16>
  return %sum : tensor<?x4x?x64xf16>
}
