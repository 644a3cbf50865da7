// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Two maps with everything that may stand beside them.
func.func @differential(%q1: tensor<?x?x8x4xbf16>, %k1: tensor<?x2x?x4xbf16>, %q2: tensor<?x?x8x4xbf16>, %k2: tensor<?x2x?x4xbf16>, %v: tensor<?x?x2x6xf16>, %lambda: tensor<8xf32>,
                        %bias: tensor<8x1x?xf32>, %length: tensor<?xi32>, %gain: tensor<8xf32>, %sinks: tensor<8xf32>) -> tensor<?x?x8x6xf16> {
  %o = attn.sdpa %q1, %k1, %v minus %q2, %k2 by %lambda : tensor<8xf32> bias %bias : tensor<8x1x?xf32> scale 0.5
      score_mod (%s: f32, %b, %h, %i, %j) with (%g = %gain : tensor<8xf32>) {
        %f = tensor.extract %g[%h] : tensor<8xf32>
        %x = arith.mulf %s, %f : f32
        attn.yield %x : f32
      } where key_length(%length : tensor<?xi32>) sinks %sinks : tensor<8xf32>
      {query_layout = #attn<layout bshd>, value_layout = #attn<layout bshd>, out_layout = #attn<layout bshd>,
       schedule = #attn.cpu_schedule<lanes = 8, rows = 3, vectors = 2, query_tile = 32, key_tile = 9, unroll = 1, prefetch = 1>}
      : (tensor<?x?x8x4xbf16>, tensor<?x2x?x4xbf16>, tensor<?x?x2x6xf16>) -> tensor<?x?x8x6xf16>
  return %o : tensor<?x?x8x6xf16>
}
