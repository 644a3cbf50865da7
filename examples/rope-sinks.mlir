// Rotary positions, normalised queries and keys, and a learned sink per head in the denominator, as in recent decoders.
// Rotation and normalisation are passes of their own over queries and keys; the sink is added once, at the end.
func.func @rope_sinks(%q: tensor<?x8x?x64xf32>, %k: tensor<?x2x?x64xf32>, %v: tensor<?x2x?x64xf32>, %cos: tensor<?x32xf32>, %sin: tensor<?x32xf32>, %sinks: tensor<8xf32>) -> tensor<?x8x?x64xf32> {
  %qn = attn.rms_norm %q eps 1.0e-6 : tensor<?x8x?x64xf32>
  %kn = attn.rms_norm %k eps 1.0e-6 : tensor<?x2x?x64xf32>
  %qr = attn.rope %qn, %cos, %sin : tensor<?x8x?x64xf32>, tensor<?x32xf32>
  %kr = attn.rope %kn, %cos, %sin : tensor<?x2x?x64xf32>, tensor<?x32xf32>
  %scores  = attn.scores %qr, %kr : (tensor<?x8x?x64xf32>, tensor<?x2x?x64xf32>) -> tensor<?x8x?x?xf32>
  %scaled  = attn.scale %scores by 0.125 : tensor<?x8x?x?xf32>
  %masked  = attn.mask %scaled where causal(top_left) : tensor<?x8x?x?xf32>
  %weights = attn.softmax %masked sinks %sinks : tensor<8xf32> : tensor<?x8x?x?xf32>
  %out     = attn.context %weights, %v : (tensor<?x8x?x?xf32>, tensor<?x2x?x64xf32>) -> tensor<?x8x?x64xf32>
  return %out : tensor<?x8x?x64xf32>
}
