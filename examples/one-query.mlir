// One query over two keys, head dimension 2. The source prints weights .27 .73 and out 1.73 .27, which leaves the
// scale 1 / sqrt(2) of its own formula out; with it they are .330 .670 and 1.670 .330.
func.func @one_query(%q: tensor<1x2xf32>, %k: tensor<2x2xf32>, %v: tensor<2x2xf32>) -> (tensor<1x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>) {
  %raw     = attn.scores %q, %k : (tensor<1x2xf32>, tensor<2x2xf32>) -> tensor<1x2xf32>
  %scores  = attn.scale %raw by 0.70710678118654757 : tensor<1x2xf32>
  %weights = attn.softmax %scores : tensor<1x2xf32>
  %out     = attn.context %weights, %v : (tensor<1x2xf32>, tensor<2x2xf32>) -> tensor<1x2xf32>
  return %out, %weights, %scores : tensor<1x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>
}
