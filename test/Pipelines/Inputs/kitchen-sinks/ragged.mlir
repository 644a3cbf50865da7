// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Positions in documents, and products of bf16 pairs.
// causal: { and causal(bottom_right in document)} -> {}
// document: {causal(bottom_right in document)} -> {causal(bottom_right)}
// window: {(window(left = 3) or} -> {(window(left = 1) or}
// dilated: {dilated(2, top_left in document)} -> {dilated(2)}
// key_length: {key_length(%n : tensor<i32>) and} -> {}
func.func @kernel(%q: tensor<4x?x8xbf16>, %k: tensor<2x?x8xbf16>, %v: tensor<2x?x6xbf16>, %cu_q: tensor<?xi32>, %cu_k: tensor<?xi32>, %n: tensor<i32>)
    -> tensor<4x?x6xbf16> {
  %out = attn.sdpa %q, %k, %v scale 0.5
      where key_length(%n : tensor<i32>) and document(cumulative %cu_q : tensor<?xi32>, %cu_k : tensor<?xi32>) and causal(bottom_right in document)
        and (window(left = 3) or not dilated(2, top_left in document))
      {schedule = #attn.cpu_schedule<lanes = 8, rows = 4, vectors = 1, query_tile = 32, key_tile = 8, unroll = 1, prefetch = 0, products = dot>}
      : (tensor<4x?x8xbf16>, tensor<2x?x8xbf16>, tensor<2x?x6xbf16>) -> tensor<4x?x6xbf16>
  return %out : tensor<4x?x6xbf16>
}
