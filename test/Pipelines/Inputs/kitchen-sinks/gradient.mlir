// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The gradient of an attention, with what gradients have kernels for.
// attn.sdpa_grad: {cotangents %do lse %dl : tensor<2x4x?xf32> wrt} -> {cotangents %do wrt}
// attn.sdpa_grad: {bias %bias : tensor<4x1x?xf32> scale 0.4 where} -> {scale 0.4 where}
// attn.sdpa_grad: {scale 0.4 where} -> {scale 0.5 where}
// attn.sdpa_grad: {scale 0.4 where causal(bottom_right) and key_length(%length : tensor<2xi32>)} -> {scale 0.4 where key_length(%length : tensor<2xi32>)}
func.func @kernel(%q: tensor<2x4x?x8xf32>, %k: tensor<2x2x?x8xf32>, %v: tensor<2x2x?x6xf32>, %bias: tensor<4x1x?xf32>, %length: tensor<2xi32>,
    %do: tensor<2x4x?x6xf32>, %dl: tensor<2x4x?xf32>) -> (tensor<2x4x?x8xf32>, tensor<2x2x?x8xf32>, tensor<2x2x?x6xf32>) {
  %out, %lse = attn.sdpa %q, %k, %v bias %bias : tensor<4x1x?xf32> scale 0.4e0 where causal(bottom_right) and key_length(%length : tensor<2xi32>) returning(out, lse)
      : (tensor<2x4x?x8xf32>, tensor<2x2x?x8xf32>, tensor<2x2x?x6xf32>) -> (tensor<2x4x?x6xf32>, tensor<2x4x?xf32>)
  %dq, %dk, %dv = attn.sdpa_grad %q, %k, %v bias %bias : tensor<4x1x?xf32> scale 0.4 where causal(bottom_right) and key_length(%length : tensor<2xi32>)
      out %out : tensor<2x4x?x6xf32> lse %lse : tensor<2x4x?xf32> cotangents %do lse %dl : tensor<2x4x?xf32> wrt ["query", "key", "value"]
      : (tensor<2x4x?x8xf32>, tensor<2x2x?x8xf32>, tensor<2x2x?x6xf32>, tensor<2x4x?x6xf32>) -> (tensor<2x4x?x8xf32>, tensor<2x2x?x8xf32>, tensor<2x2x?x6xf32>)
  return %dq, %dk, %dv : tensor<2x4x?x8xf32>, tensor<2x2x?x8xf32>, tensor<2x2x?x6xf32>
}
