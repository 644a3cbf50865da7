// Four words of 6 numbers, projected to queries, keys and values of 4; a word sees itself and those before it.
// The source sets hidden scores to -1e9, this one to -infinity: the weights are the same, since exp(-1e9) is 0.
func.func @policy_wages(%x: tensor<4x6xf32>, %wq: tensor<6x4xf32>, %wk: tensor<6x4xf32>, %wv: tensor<6x4xf32>)
    -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) {
  %q       = attn.project %x, %wq : (tensor<4x6xf32>, tensor<6x4xf32>) -> tensor<4x4xf32>
  %k       = attn.project %x, %wk : (tensor<4x6xf32>, tensor<6x4xf32>) -> tensor<4x4xf32>
  %v       = attn.project %x, %wv : (tensor<4x6xf32>, tensor<6x4xf32>) -> tensor<4x4xf32>
  %raw     = attn.scores %q, %k : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %scores  = attn.scale %raw by 0.5 : tensor<4x4xf32>
  %masked  = attn.mask %scores where causal(top_left) : tensor<4x4xf32>
  %weights = attn.softmax %masked : tensor<4x4xf32>
  %out     = attn.context %weights, %v : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %out, %weights, %scores : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>
}
