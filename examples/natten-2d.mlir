// Neighbourhood attention (Hassani et al. 2023) on an image of 32 x 32: the 7 x 7 nearest keys, also at the borders.
// Position i is row i / 32 and column i % 32; the centre is the query's position, moved inside by 3 in both directions.
func.func @natten_2d(%q: tensor<?x4x1024x32xf32>, %k: tensor<?x4x1024x32xf32>, %v: tensor<?x4x1024x32xf32>) -> tensor<?x4x1024x32xf32> {
  %scores = attn.scores %q, %k : (tensor<?x4x1024x32xf32>, tensor<?x4x1024x32xf32>) -> tensor<?x4x1024x1024xf32>
  %scaled = attn.scale %scores by 0.17677669 : tensor<?x4x1024x1024xf32>
  %masked = attn.mask_fn %scaled (%b, %h, %i, %j) {
    %c3 = arith.constant 3 : index
    %c6 = arith.constant 6 : index
    %c28 = arith.constant 28 : index
    %c32 = arith.constant 32 : index
    %row_i = arith.divui %i, %c32 : index
    %row_j = arith.divui %j, %c32 : index
    %column_i = arith.remui %i, %c32 : index
    %column_j = arith.remui %j, %c32 : index
    %row_low = arith.maxsi %row_i, %c3 : index
    %row = arith.minsi %row_low, %c28 : index
    %column_low = arith.maxsi %column_i, %c3 : index
    %column = arith.minsi %column_low, %c28 : index
    %top = arith.subi %row, %c3 : index
    %left = arith.subi %column, %c3 : index
    %down = arith.subi %row_j, %top : index
    %right = arith.subi %column_j, %left : index
    %near_row = arith.cmpi ule, %down, %c6 : index
    %near_column = arith.cmpi ule, %right, %c6 : index
    %near = arith.andi %near_row, %near_column : i1
    attn.yield %near : i1
  } : tensor<?x4x1024x1024xf32>
  %weights = attn.softmax %masked : tensor<?x4x1024x1024xf32>
  %out     = attn.context %weights, %v : (tensor<?x4x1024x1024xf32>, tensor<?x4x1024x32xf32>) -> tensor<?x4x1024x32xf32>
  return %out : tensor<?x4x1024x32xf32>
}
