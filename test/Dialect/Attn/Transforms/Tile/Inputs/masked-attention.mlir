// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One attention with masks of several kinds.
func.func @f(%q: tensor<?x8x?x64xf32>, %k: tensor<?x2x?x64xf32>, %n: tensor<?xi32>, %ids: tensor<?xi32>) -> (tensor<?x8x?x64xf32>, tensor<?x8x?x64xf32>) {
  %a = attn.sdpa %q, %k, %k scale 0.125 where causal(bottom_right) and window(left = 300, bottom_right) and key_length(%n : tensor<?xi32>)
      {schedule = #attn.cpu_schedule<lanes = 8, rows = 6, vectors = 2, query_tile = 128, key_tile = 96, unroll = 2, prefetch = 2>}
      : (tensor<?x8x?x64xf32>, tensor<?x2x?x64xf32>, tensor<?x2x?x64xf32>) -> tensor<?x8x?x64xf32>
  %b = attn.sdpa %q, %k, %k scale 0.125 where document(%ids : tensor<?xi32>) and causal(top_left)
      {schedule = #attn.cpu_schedule<lanes = 8, rows = 6, vectors = 2, query_tile = 128, key_tile = 96, unroll = 2, prefetch = 2>}
      : (tensor<?x8x?x64xf32>, tensor<?x2x?x64xf32>, tensor<?x2x?x64xf32>) -> tensor<?x8x?x64xf32>
  return %a, %b : tensor<?x8x?x64xf32>, tensor<?x8x?x64xf32>
}
