// Multi-head cross attention: queries come from x, keys and values from y, whose length may differ.
// Of each sequence y[b], only the first kv_len[b] words are real; the rest is padding that nobody attends to.
func.func @mha_cross(%x: tensor<?x?x64xf32>, %y: tensor<?x?x64xf32>, %wq: tensor<64x64xf32>, %wk: tensor<64x64xf32>, %wv: tensor<64x64xf32>,
    %wo: tensor<64x64xf32>, %bq: tensor<64xf32>, %bk: tensor<64xf32>, %bv: tensor<64xf32>, %bo: tensor<64xf32>, %kv_len: tensor<?xi32>)
    -> (tensor<?x?x64xf32>, tensor<?x4x?x?xf32>) {
  %xq      = attn.project %x, %wq, %bq : (tensor<?x?x64xf32>, tensor<64x64xf32>, tensor<64xf32>) -> tensor<?x?x64xf32>
  %yk      = attn.project %y, %wk, %bk : (tensor<?x?x64xf32>, tensor<64x64xf32>, tensor<64xf32>) -> tensor<?x?x64xf32>
  %yv      = attn.project %y, %wv, %bv : (tensor<?x?x64xf32>, tensor<64x64xf32>, tensor<64xf32>) -> tensor<?x?x64xf32>
  %q       = attn.split_heads %xq into 4 : tensor<?x?x64xf32> -> tensor<?x4x?x16xf32>
  %k       = attn.split_heads %yk into 4 : tensor<?x?x64xf32> -> tensor<?x4x?x16xf32>
  %v       = attn.split_heads %yv into 4 : tensor<?x?x64xf32> -> tensor<?x4x?x16xf32>
  %scores  = attn.scores %q, %k : (tensor<?x4x?x16xf32>, tensor<?x4x?x16xf32>) -> tensor<?x4x?x?xf32>
  %scaled  = attn.scale %scores by 0.25 : tensor<?x4x?x?xf32>
  %masked  = attn.mask %scaled where key_length(%kv_len : tensor<?xi32>) : tensor<?x4x?x?xf32>
  %weights = attn.softmax %masked : tensor<?x4x?x?xf32>
  %heads   = attn.context %weights, %v : (tensor<?x4x?x?xf32>, tensor<?x4x?x16xf32>) -> tensor<?x4x?x16xf32>
  %context = attn.merge_heads %heads : tensor<?x4x?x16xf32> -> tensor<?x?x64xf32>
  %out     = attn.project %context, %wo, %bo : (tensor<?x?x64xf32>, tensor<64x64xf32>, tensor<64xf32>) -> tensor<?x?x64xf32>
  return %out, %weights : tensor<?x?x64xf32>, tensor<?x4x?x?xf32>
}
