// What is between the embedding of letters and the loss, for train.py: one layer of causal attention and the logits of the
// next letter. Every argument is learned, so that attn-opt makes @model_forward and @model_gradient of it.
func.func @model(%x: tensor<?x?x32xf32> {attn.gradient}, %wq: tensor<32x32xf32> {attn.gradient}, %wk: tensor<32x32xf32> {attn.gradient},
                 %wv: tensor<32x32xf32> {attn.gradient}, %wo: tensor<32x32xf32> {attn.gradient}, %out: tensor<32x16xf32> {attn.gradient})
    -> (tensor<?x?x16xf32> {attn.name = "logits"}) {
  %xq      = attn.project %x, %wq : (tensor<?x?x32xf32>, tensor<32x32xf32>) -> tensor<?x?x32xf32>
  %xk      = attn.project %x, %wk : (tensor<?x?x32xf32>, tensor<32x32xf32>) -> tensor<?x?x32xf32>
  %xv      = attn.project %x, %wv : (tensor<?x?x32xf32>, tensor<32x32xf32>) -> tensor<?x?x32xf32>
  %q       = attn.split_heads %xq into 4 : tensor<?x?x32xf32> -> tensor<?x4x?x8xf32>
  %k       = attn.split_heads %xk into 4 : tensor<?x?x32xf32> -> tensor<?x4x?x8xf32>
  %v       = attn.split_heads %xv into 4 : tensor<?x?x32xf32> -> tensor<?x4x?x8xf32>
  %scores  = attn.scores %q, %k : (tensor<?x4x?x8xf32>, tensor<?x4x?x8xf32>) -> tensor<?x4x?x?xf32>
  %scaled  = attn.scale %scores by 0.35355339059327379 : tensor<?x4x?x?xf32>
  %masked  = attn.mask %scaled where causal(top_left) : tensor<?x4x?x?xf32>
  %weights = attn.softmax %masked : tensor<?x4x?x?xf32>
  %heads   = attn.context %weights, %v : (tensor<?x4x?x?xf32>, tensor<?x4x?x8xf32>) -> tensor<?x4x?x8xf32>
  %joined  = attn.merge_heads %heads : tensor<?x4x?x8xf32> -> tensor<?x?x32xf32>
  %y       = attn.project %joined, %wo : (tensor<?x?x32xf32>, tensor<32x32xf32>) -> tensor<?x?x32xf32>
  %sum     = arith.addf %x, %y : tensor<?x?x32xf32>
  %logits  = attn.project %sum, %out : (tensor<?x?x32xf32>, tensor<32x16xf32>) -> tensor<?x?x16xf32>
  return %logits : tensor<?x?x16xf32>
}
