// Two tokens, "cat" and "sat", attend to each other: head dimension 4, values of 2 numbers.
// The scale is 1 / sqrt(4). The source's printed numbers agree with this formula.
func.func @cat_sat(%q: tensor<2x4xf32>, %k: tensor<2x4xf32>, %v: tensor<2x2xf32>) -> (tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>) {
  %raw     = attn.scores %q, %k : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x2xf32>
  %scores  = attn.scale %raw by 0.5 : tensor<2x2xf32>
  %weights = attn.softmax %scores : tensor<2x2xf32>
  %out     = attn.context %weights, %v : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return %out, %weights, %scores : tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>
}
