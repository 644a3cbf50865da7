// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Attention by sigmoid, as textbook ops and as one op.
// attn.sigmoid: {attn.sigmoid %m} -> {attn.softmax %m}
// normalization: {{normalization = #attn<normalization sigmoid>}} -> {}
// captures: {arith.mulf %s, %f} -> {arith.mulf %s, %s}
func.func @kernel(%q: tensor<?x8x?x4xf32>, %k: tensor<?x2x?x4xf32>, %v: tensor<?x2x?x6xf32>, %bias: tensor<8x1x?xf32>, %gain: tensor<8xf32>)
    -> (tensor<?x8x?x6xf32>, tensor<?x8x?x6xf32>, tensor<?x8x?x?xf32>) {
  %s = attn.scores %q, %k : (tensor<?x8x?x4xf32>, tensor<?x2x?x4xf32>) -> tensor<?x8x?x?xf32>
  %m = attn.mask %s where causal(top_left) : tensor<?x8x?x?xf32>
  %w = attn.sigmoid %m : tensor<?x8x?x?xf32>
  %o = attn.context %w, %v : (tensor<?x8x?x?xf32>, tensor<?x2x?x6xf32>) -> tensor<?x8x?x6xf32>
  %r:2 = attn.sdpa %q, %k, %v bias %bias : tensor<8x1x?xf32> scale 0.5
      score_mod (%s: f32, %b, %h, %i, %j) with (%g = %gain : tensor<8xf32>) {
        %f = tensor.extract %g[%h] : tensor<8xf32>
        %y = arith.mulf %s, %f : f32
        attn.yield %y : f32
      } where window(left = 9, right = 4) returning(out, weights) {normalization = #attn<normalization sigmoid>}
      : (tensor<?x8x?x4xf32>, tensor<?x2x?x4xf32>, tensor<?x2x?x6xf32>) -> (tensor<?x8x?x6xf32>, tensor<?x8x?x?xf32>)
  return %o, %r#0, %r#1 : tensor<?x8x?x6xf32>, tensor<?x8x?x6xf32>, tensor<?x8x?x?xf32>
}
