// Multi-head self attention as a layer has it: projections with biases, 4 heads of 16, output projection.
// Of each sequence x[b], only the first kv_len[b] words are real; the rest is padding that nobody attends to.
func.func @mha_self(%x: tensor<?x?x64xf32>, %wq: tensor<64x64xf32>, %wk: tensor<64x64xf32>, %wv: tensor<64x64xf32>,
    %wo: tensor<64x64xf32>, %bq: tensor<64xf32>, %bk: tensor<64xf32>, %bv: tensor<64xf32>, %bo: tensor<64xf32>, %kv_len: tensor<?xi32>)
    -> (tensor<?x?x64xf32>, tensor<?x4x?x?xf32>) {
  %xq      = attn.project %x, %wq, %bq : (tensor<?x?x64xf32>, tensor<64x64xf32>, tensor<64xf32>) -> tensor<?x?x64xf32>
  %xk      = attn.project %x, %wk, %bk : (tensor<?x?x64xf32>, tensor<64x64xf32>, tensor<64xf32>) -> tensor<?x?x64xf32>
  %xv      = attn.project %x, %wv, %bv : (tensor<?x?x64xf32>, tensor<64x64xf32>, tensor<64xf32>) -> tensor<?x?x64xf32>
  %q       = attn.split_heads %xq into 4 : tensor<?x?x64xf32> -> tensor<?x4x?x16xf32>
  %k       = attn.split_heads %xk into 4 : tensor<?x?x64xf32> -> tensor<?x4x?x16xf32>
  %v       = attn.split_heads %xv into 4 : tensor<?x?x64xf32> -> tensor<?x4x?x16xf32>
  %scores  = attn.scores %q, %k : (tensor<?x4x?x16xf32>, tensor<?x4x?x16xf32>) -> tensor<?x4x?x?xf32>
  %scaled  = attn.scale %scores by 0.25 : tensor<?x4x?x?xf32>
  %masked  = attn.mask %scaled where key_length(%kv_len : tensor<?xi32>) : tensor<?x4x?x?xf32>
  %weights = attn.softmax %masked : tensor<?x4x?x?xf32>
  %heads   = attn.context %weights, %v : (tensor<?x4x?x?xf32>, tensor<?x4x?x16xf32>) -> tensor<?x4x?x16xf32>
  %context = attn.merge_heads %heads : tensor<?x4x?x16xf32> -> tensor<?x?x64xf32>
  %out     = attn.project %context, %wo, %bo : (tensor<?x?x64xf32>, tensor<64x64xf32>, tensor<64xf32>) -> tensor<?x?x64xf32>
  return %out, %weights : tensor<?x?x64xf32>, tensor<?x4x?x?xf32>
}
