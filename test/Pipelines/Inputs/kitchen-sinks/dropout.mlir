// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Dropout of weights: as an op, as a clause of an attention, and of its gradient.
// attn.dropout: {by 0.3 seed %seed} -> {by 0.4 seed %seed}
// attn.dropout: {by 0.3 seed %seed} -> {by 0.3 seed %other}
// dropout: {dropout 0.2 seed %other : tensor<i64> returning} -> {dropout 0.1 seed %other : tensor<i64> returning}
// seed: {dropout 0.2 seed %other : tensor<i64> returning} -> {returning}
// attn.sdpa_grad: {dropout 0.2 seed %other : tensor<i64> out} -> {out}
func.func @kernel(%q: tensor<2x4x?x8xf32>, %k: tensor<2x2x?x8xf32>, %v: tensor<2x2x?x6xf32>, %do: tensor<2x4x?x6xf32>, %seed: tensor<i64>, %other: tensor<i64>)
    -> (tensor<2x4x?x6xf32>, tensor<2x4x?x8xf32>, tensor<2x2x?x6xf32>) attributes {attn.dropout} {
  %s = attn.scores %q, %k : (tensor<2x4x?x8xf32>, tensor<2x2x?x8xf32>) -> tensor<2x4x?x?xf32>
  %w = attn.softmax %s : tensor<2x4x?x?xf32>
  %d = attn.dropout %w by 0.3 seed %seed : tensor<2x4x?x?xf32>, tensor<i64>
  %o = attn.context %d, %v : (tensor<2x4x?x?xf32>, tensor<2x2x?x6xf32>) -> tensor<2x4x?x6xf32>
  %out, %lse = attn.sdpa %q, %k, %v scale 0.4 where causal(bottom_right) dropout 0.2 seed %other : tensor<i64> returning(out, lse)
      : (tensor<2x4x?x8xf32>, tensor<2x2x?x8xf32>, tensor<2x2x?x6xf32>) -> (tensor<2x4x?x6xf32>, tensor<2x4x?xf32>)
  %dq, %dv = attn.sdpa_grad %q, %k, %v scale 0.4 where causal(bottom_right) dropout 0.2 seed %other : tensor<i64> out %out : tensor<2x4x?x6xf32> lse %lse : tensor<2x4x?xf32>
      cotangents %do wrt ["query", "value"]
      : (tensor<2x4x?x8xf32>, tensor<2x2x?x8xf32>, tensor<2x2x?x6xf32>, tensor<2x4x?x6xf32>) -> (tensor<2x4x?x8xf32>, tensor<2x2x?x6xf32>)
  return %o, %dq, %dv : tensor<2x4x?x6xf32>, tensor<2x4x?x8xf32>, tensor<2x2x?x6xf32>
}
