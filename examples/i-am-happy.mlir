// "I am happy": any number of words, 3 numbers each, attend to one another; the scale is 1 / sqrt(3).
// The source prints weights .26 .37 .37 and .25 .36 .39 in rows 2 and 3; its formula gives .251 .326 .423 and .208 .315 .477.
func.func @i_am_happy(%q: tensor<?x3xf32>, %k: tensor<?x3xf32>, %v: tensor<?x3xf32>) -> (tensor<?x3xf32>, tensor<?x?xf32>) {
  %raw     = attn.scores %q, %k : (tensor<?x3xf32>, tensor<?x3xf32>) -> tensor<?x?xf32>
  %scores  = attn.scale %raw by 0.57735026918962573 : tensor<?x?xf32>
  %weights = attn.softmax %scores : tensor<?x?xf32>
  %out     = attn.context %weights, %v : (tensor<?x?xf32>, tensor<?x3xf32>) -> tensor<?x3xf32>
  return %out, %weights : tensor<?x3xf32>, tensor<?x?xf32>
}
