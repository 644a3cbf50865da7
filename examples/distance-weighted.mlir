// Weights that also fall with the logarithm of the distance: scores minus log(1 + |q - k|).
// Every op of arith and math may stand in a score function; it runs on vectors of queries.
func.func @distance_weighted(%q: tensor<?x8x?x64xf32>, %k: tensor<?x8x?x64xf32>, %v: tensor<?x8x?x64xf32>) -> tensor<?x8x?x64xf32> {
  %scores  = attn.scores %q, %k : (tensor<?x8x?x64xf32>, tensor<?x8x?x64xf32>) -> tensor<?x8x?x?xf32>
  %scaled  = attn.scale %scores by 0.125 : tensor<?x8x?x?xf32>
  %nearer  = attn.score_mod %scaled (%score: f32, %batch, %head, %row, %key) {
    %difference = arith.subi %row, %key : index
    %signed     = arith.index_cast %difference : index to i32
    %distance   = math.absi %signed : i32
    %real       = arith.sitofp %distance : i32 to f32
    %fall       = math.log1p %real : f32
    %result     = arith.subf %score, %fall : f32
    attn.yield %result : f32
  } : tensor<?x8x?x?xf32>
  %weights = attn.softmax %nearer : tensor<?x8x?x?xf32>
  %out     = attn.context %weights, %v : (tensor<?x8x?x?xf32>, tensor<?x8x?x64xf32>) -> tensor<?x8x?x64xf32>
  return %out : tensor<?x8x?x64xf32>
}
