// A function scaled_dot_product_attention(q, k, v) that returns output and weights, on 4 tokens of 8 numbers.
// The scale is 1 / sqrt(8).
func.func @four_by_eight(%q: tensor<4x8xf32>, %k: tensor<4x8xf32>, %v: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x4xf32>) {
  %raw     = attn.scores %q, %k : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x4xf32>
  %scores  = attn.scale %raw by 0.35355339059327379 : tensor<4x4xf32>
  %weights = attn.softmax %scores : tensor<4x4xf32>
  %out     = attn.context %weights, %v : (tensor<4x4xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return %out, %weights : tensor<4x8xf32>, tensor<4x4xf32>
}
