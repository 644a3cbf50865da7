// A learned bias per head and distance, read from a table in the score function; no Sq x Skv matrix exists.
// Distances are cut off at 64 to both sides: an index outside of the table reads its nearest element.
func.func @relative_bias(%q: tensor<?x8x?x64xf32>, %k: tensor<?x8x?x64xf32>, %v: tensor<?x8x?x64xf32>, %table: tensor<8x129xf32>) -> tensor<?x8x?x64xf32> {
  %scores  = attn.scores %q, %k : (tensor<?x8x?x64xf32>, tensor<?x8x?x64xf32>) -> tensor<?x8x?x?xf32>
  %scaled  = attn.scale %scores by 0.125 : tensor<?x8x?x?xf32>
  %biased  = attn.score_mod %scaled (%score: f32, %batch, %head, %row, %key) with (%t = %table : tensor<8x129xf32>) {
    %middle   = arith.constant 64 : index
    %distance = arith.subi %row, %key : index
    %at       = arith.addi %distance, %middle : index
    %bias     = tensor.extract %t[%head, %at] : tensor<8x129xf32>
    %sum      = arith.addf %score, %bias : f32
    attn.yield %sum : f32
  } : tensor<?x8x?x?xf32>
  %weights = attn.softmax %biased : tensor<?x8x?x?xf32>
  %out     = attn.context %weights, %v : (tensor<?x8x?x?xf32>, tensor<?x8x?x64xf32>) -> tensor<?x8x?x64xf32>
  return %out : tensor<?x8x?x64xf32>
}
