// Blocks of 128 queries and 128 keys see each other like the white squares of a chess board.
// Black blocks are not visited, white ones need no test per pair.
func.func @checkerboard(%q: tensor<?x8x?x64xf32>, %k: tensor<?x8x?x64xf32>, %v: tensor<?x8x?x64xf32>) -> tensor<?x8x?x64xf32> {
  %scores = attn.scores %q, %k : (tensor<?x8x?x64xf32>, tensor<?x8x?x64xf32>) -> tensor<?x8x?x?xf32>
  %scaled = attn.scale %scores by 0.125 : tensor<?x8x?x?xf32>
  %masked = attn.mask_fn %scaled (%b, %h, %i, %j) {
    %c0 = arith.constant 0 : index
    %c2 = arith.constant 2 : index
    %c128 = arith.constant 128 : index
    %row = arith.divui %i, %c128 : index
    %column = arith.divui %j, %c128 : index
    %sum = arith.addi %row, %column : index
    %odd = arith.remui %sum, %c2 : index
    %white = arith.cmpi eq, %odd, %c0 : index
    attn.yield %white : i1
  } : tensor<?x8x?x?xf32>
  %weights = attn.softmax %masked : tensor<?x8x?x?xf32>
  %out     = attn.context %weights, %v : (tensor<?x8x?x?xf32>, tensor<?x8x?x64xf32>) -> tensor<?x8x?x64xf32>
  return %out : tensor<?x8x?x64xf32>
}
