// Differential attention as in the paper: heads of queries and keys come in neighbouring pairs, the maps of a pair are subtracted with a
// factor per pair, and a value has twice as many features. The slices are views: each map reads every other head where it lies.
func.func @differential(%q: tensor<?x16x?x64xf32>, %k: tensor<?x8x?x64xf32>, %v: tensor<?x4x?x128xf32>, %lambda: tensor<8xf32>) -> tensor<?x8x?x128xf32> {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %b  = tensor.dim %q, %c0 : tensor<?x16x?x64xf32>
  %n  = tensor.dim %q, %c2 : tensor<?x16x?x64xf32>
  %m  = tensor.dim %k, %c2 : tensor<?x8x?x64xf32>
  %q1 = tensor.extract_slice %q[0, 0, 0, 0] [%b, 8, %n, 64] [1, 2, 1, 1] : tensor<?x16x?x64xf32> to tensor<?x8x?x64xf32>
  %q2 = tensor.extract_slice %q[0, 1, 0, 0] [%b, 8, %n, 64] [1, 2, 1, 1] : tensor<?x16x?x64xf32> to tensor<?x8x?x64xf32>
  %k1 = tensor.extract_slice %k[0, 0, 0, 0] [%b, 4, %m, 64] [1, 2, 1, 1] : tensor<?x8x?x64xf32> to tensor<?x4x?x64xf32>
  %k2 = tensor.extract_slice %k[0, 1, 0, 0] [%b, 4, %m, 64] [1, 2, 1, 1] : tensor<?x8x?x64xf32> to tensor<?x4x?x64xf32>
  %scores1  = attn.scores %q1, %k1 : (tensor<?x8x?x64xf32>, tensor<?x4x?x64xf32>) -> tensor<?x8x?x?xf32>
  %scaled1  = attn.scale %scores1 by 0.125 : tensor<?x8x?x?xf32>
  %masked1  = attn.mask %scaled1 where causal(bottom_right) : tensor<?x8x?x?xf32>
  %weights1 = attn.softmax %masked1 : tensor<?x8x?x?xf32>
  %scores2  = attn.scores %q2, %k2 : (tensor<?x8x?x64xf32>, tensor<?x4x?x64xf32>) -> tensor<?x8x?x?xf32>
  %scaled2  = attn.scale %scores2 by 0.125 : tensor<?x8x?x?xf32>
  %masked2  = attn.mask %scaled2 where causal(bottom_right) : tensor<?x8x?x?xf32>
  %weights2 = attn.softmax %masked2 : tensor<?x8x?x?xf32>
  %weights  = attn.subtract_weights %weights1, %weights2 by %lambda : tensor<?x8x?x?xf32>, tensor<8xf32>
  %out      = attn.context %weights, %v : (tensor<?x8x?x?xf32>, tensor<?x4x?x128xf32>) -> tensor<?x8x?x128xf32>
  return %out : tensor<?x8x?x128xf32>
}
