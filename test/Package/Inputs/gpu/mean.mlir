func.func @mean(%q: tensor<2x?x16xf16>, %k: tensor<2x?x16xf16>, %v: tensor<2x?x16xf16>) -> tensor<2x?x16xf32> {
  %out = attn.sdpa %q, %k, %v scale 0.25 where causal(top_left) : (tensor<2x?x16xf16>, tensor<2x?x16xf16>, tensor<2x?x16xf16>) -> tensor<2x?x16xf32>
  return %out : tensor<2x?x16xf32>
}
