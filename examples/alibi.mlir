// Causal self attention with ALiBi (Press, Smith and Lewis 2022): scores fall with the distance, at a slope per head.
// Without slopes as an operand they are those of the paper, here 1/2, 1/4, .. 1/256.
func.func @alibi(%q: tensor<?x8x?x64xf32>, %k: tensor<?x8x?x64xf32>, %v: tensor<?x8x?x64xf32>) -> tensor<?x8x?x64xf32> {
  %scores  = attn.scores %q, %k : (tensor<?x8x?x64xf32>, tensor<?x8x?x64xf32>) -> tensor<?x8x?x?xf32>
  %scaled  = attn.scale %scores by 0.125 : tensor<?x8x?x?xf32>
  %falling = attn.alibi %scaled aligned top_left : tensor<?x8x?x?xf32>
  %masked  = attn.mask %falling where causal(top_left) : tensor<?x8x?x?xf32>
  %weights = attn.softmax %masked : tensor<?x8x?x?xf32>
  %out     = attn.context %weights, %v : (tensor<?x8x?x?xf32>, tensor<?x8x?x64xf32>) -> tensor<?x8x?x64xf32>
  return %out : tensor<?x8x?x64xf32>
}
