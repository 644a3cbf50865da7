// Neighbourhood attention (Hassani et al. 2023) on 1000 positions: the 13 nearest keys, also for queries at the borders.
// The centre of the neighbourhood is the query's position, moved inside by 6.
func.func @natten_1d(%q: tensor<?x8x1000x64xf32>, %k: tensor<?x8x1000x64xf32>, %v: tensor<?x8x1000x64xf32>) -> tensor<?x8x1000x64xf32> {
  %scores = attn.scores %q, %k : (tensor<?x8x1000x64xf32>, tensor<?x8x1000x64xf32>) -> tensor<?x8x1000x1000xf32>
  %scaled = attn.scale %scores by 0.125 : tensor<?x8x1000x1000xf32>
  %masked = attn.mask_fn %scaled (%b, %h, %i, %j) {
    %c6 = arith.constant 6 : index
    %c12 = arith.constant 12 : index
    %c993 = arith.constant 993 : index
    %low = arith.maxsi %i, %c6 : index
    %centre = arith.minsi %low, %c993 : index
    %first = arith.subi %centre, %c6 : index
    %offset = arith.subi %j, %first : index
    %near = arith.cmpi ule, %offset, %c12 : index
    attn.yield %near : i1
  } : tensor<?x8x1000x1000xf32>
  %weights = attn.softmax %masked : tensor<?x8x1000x1000xf32>
  %out     = attn.context %weights, %v : (tensor<?x8x1000x1000xf32>, tensor<?x8x1000x64xf32>) -> tensor<?x8x1000x64xf32>
  return %out : tensor<?x8x1000x64xf32>
}
