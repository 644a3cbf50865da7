// A window of its own per head: head h sees the widths[h] keys up to the query.
// As a score function it excludes pairs by -inf; the causal mask is what skips tiles.
func.func @head_windows(%q: tensor<?x8x?x64xf32>, %k: tensor<?x8x?x64xf32>, %v: tensor<?x8x?x64xf32>, %widths: tensor<8xi32>) -> tensor<?x8x?x64xf32> {
  %scores  = attn.scores %q, %k : (tensor<?x8x?x64xf32>, tensor<?x8x?x64xf32>) -> tensor<?x8x?x?xf32>
  %scaled  = attn.scale %scores by 0.125 : tensor<?x8x?x?xf32>
  %near    = attn.score_mod %scaled (%score: f32, %batch, %head, %row, %key) with (%w = %widths : tensor<8xi32>) {
    %width    = tensor.extract %w[%head] : tensor<8xi32>
    %distance = arith.subi %row, %key : index
    %number   = arith.index_cast %distance : index to i32
    %inside   = arith.cmpi slt, %number, %width : i32
    %none     = arith.constant 0xFF800000 : f32
    %result   = arith.select %inside, %score, %none : f32
    attn.yield %result : f32
  } : tensor<?x8x?x?xf32>
  %masked  = attn.mask %near where causal(top_left) : tensor<?x8x?x?xf32>
  %weights = attn.softmax %masked : tensor<?x8x?x?xf32>
  %out     = attn.context %weights, %v : (tensor<?x8x?x?xf32>, tensor<?x8x?x64xf32>) -> tensor<?x8x?x64xf32>
  return %out : tensor<?x8x?x64xf32>
}
