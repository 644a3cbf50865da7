// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the kind decode has: both schedules, and the layout that sdpa.mlir leaves out.
// bias: { bias %bias : tensor<?x1x1x?xf32>} -> {}
// value_layout: {value_layout = #attn<layout bshd>, } -> {}
// mask_operands: { and %allowed : tensor<?x?xi1>} -> {}
// sinks: { sinks %sinks : tensor<4xf32>} -> {}
func.func @kernel(%q: tensor<2x4x?x8xf32>, %k: tensor<2x2x?x8xf32>, %v: tensor<2x?x2x6xf32>, %bias: tensor<?x1x1x?xf32>, %allowed: tensor<?x?xi1>,
    %length: tensor<2xi32>, %offset: tensor<2xi32>, %sinks: tensor<4xf32>) -> (tensor<2x4x?x6xf32>, tensor<2x4x?xf32>) {
  %out, %lse = attn.sdpa %q, %k, %v bias %bias : tensor<?x1x1x?xf32> scale 0.5
      where causal(offset = %offset : tensor<2xi32>) and key_length(%length : tensor<2xi32>) and %allowed : tensor<?x?xi1> sinks %sinks : tensor<4xf32> returning(out, lse)
      {value_layout = #attn<layout bshd>, schedule = #attn.cpu_schedule<lanes = 8, rows = 3, vectors = 2, query_tile = 32, key_tile = 9, unroll = 1, prefetch = 1>,
       decode_schedule = #attn.cpu_schedule<lanes = 8, rows = 3, vectors = 2, query_tile = 14, key_tile = 7, unroll = 1, prefetch = 1, kind = decode, split_keys = 21>}
      : (tensor<2x4x?x8xf32>, tensor<2x2x?x8xf32>, tensor<2x?x2x6xf32>) -> (tensor<2x4x?x6xf32>, tensor<2x4x?xf32>)
  return %out, %lse : tensor<2x4x?x6xf32>, tensor<2x4x?xf32>
}
