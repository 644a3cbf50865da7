// Scores bent into (-50, 50), in a sliding window of 128 keys, as in Gemma 2.
// The window decides which tiles of keys are visited, the softcap what happens in them.
func.func @softcap_window(%q: tensor<?x8x?x64xf32>, %k: tensor<?x2x?x64xf32>, %v: tensor<?x2x?x64xf32>) -> tensor<?x8x?x64xf32> {
  %scores  = attn.scores %q, %k : (tensor<?x8x?x64xf32>, tensor<?x2x?x64xf32>) -> tensor<?x8x?x?xf32>
  %scaled  = attn.scale %scores by 0.125 : tensor<?x8x?x?xf32>
  %capped  = attn.softcap %scaled at 50.0 : tensor<?x8x?x?xf32>
  %masked  = attn.mask %capped where causal(top_left) and window(left = 127) : tensor<?x8x?x?xf32>
  %weights = attn.softmax %masked : tensor<?x8x?x?xf32>
  %out     = attn.context %weights, %v : (tensor<?x8x?x?xf32>, tensor<?x2x?x64xf32>) -> tensor<?x8x?x64xf32>
  return %out : tensor<?x8x?x64xf32>
}
