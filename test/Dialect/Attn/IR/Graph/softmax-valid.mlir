// RUN: attn-opt %s -verify-diagnostics
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What attn.softmax accepts; the numbers are those of docs/Spec.md.

func.func @softmax_c1_rank_2(%s: tensor<5x6xf32>) {
  %r = attn.softmax %s : tensor<5x6xf32>
  return
}

func.func @softmax_c1_rank_3(%s: tensor<?x5x6xf64>) {
  %r = attn.softmax %s : tensor<?x5x6xf64>
  return
}

func.func @softmax_c1_rank_4(%s: tensor<1x2x5x6xf32>) {
  %r = attn.softmax %s : tensor<1x2x5x6xf32>
  return
}

func.func @softmax_c2_same_result_type(%s: tensor<5x6xf32>) {
  %r = "attn.softmax"(%s) : (tensor<5x6xf32>) -> tensor<5x6xf32>
  return
}

func.func @softmax_c3_sink_per_head(%s: tensor<4x5x6xf32>, %t: tensor<4xf32>) {
  %r = attn.softmax %s sinks %t : tensor<4xf32> : tensor<4x5x6xf32>
  return
}
