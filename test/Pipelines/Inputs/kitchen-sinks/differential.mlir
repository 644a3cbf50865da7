// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Differential attention, as textbook ops and as one op.
// attn.subtract_weights: {attn.context %w,} -> {attn.context %w1,}
// second_query: {minus %q2, %k2} -> {minus %q, %k2}
// second_key: {minus %q2, %k2} -> {minus %q2, %k}
// lambda: {%k2 by %lambda} -> {%k2 by %half}
func.func @kernel(%q: tensor<?x8x?x4xf32>, %k: tensor<?x2x?x4xf32>, %q2: tensor<?x8x?x4xf32>, %k2: tensor<?x2x?x4xf32>, %v: tensor<?x2x?x6xf32>,
                  %lambda: tensor<8xf32>, %half: tensor<8xf32>) -> (tensor<?x8x?x6xf32>, tensor<?x8x?x6xf32>) {
  %s1 = attn.scores %q, %k : (tensor<?x8x?x4xf32>, tensor<?x2x?x4xf32>) -> tensor<?x8x?x?xf32>
  %w1 = attn.softmax %s1 : tensor<?x8x?x?xf32>
  %s2 = attn.scores %q2, %k2 : (tensor<?x8x?x4xf32>, tensor<?x2x?x4xf32>) -> tensor<?x8x?x?xf32>
  %w2 = attn.softmax %s2 : tensor<?x8x?x?xf32>
  %w = attn.subtract_weights %w1, %w2 by %half : tensor<?x8x?x?xf32>, tensor<8xf32>
  %o = attn.context %w, %v : (tensor<?x8x?x?xf32>, tensor<?x2x?x6xf32>) -> tensor<?x8x?x6xf32>
  %r = attn.sdpa %q, %k, %v minus %q2, %k2 by %lambda : tensor<8xf32> scale 0.5 where causal(top_left)
      : (tensor<?x8x?x4xf32>, tensor<?x2x?x4xf32>, tensor<?x2x?x6xf32>) -> tensor<?x8x?x6xf32>
  return %o, %r : tensor<?x8x?x6xf32>, tensor<?x8x?x6xf32>
}
