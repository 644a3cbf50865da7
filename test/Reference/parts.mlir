// RUN: attn-reference %s | FileCheck %s
// RUN: attn-opt %s --attn-tile-queries --attn-tile-keys | attn-reference - | FileCheck %s
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Keys in parts of 4, of which tiles of 2 queries see some. The scores are 0, so that out is the mean of the values that are
// seen: two keys each, and at the edge one or none.

#s = #attn.cpu_schedule<lanes = 2, rows = 2, vectors = 1, query_tile = 2, key_tile = 2, unroll = 1, prefetch = 0, split_keys = 4, split_queries = 8>

// CHECK{LITERAL}: [[1.5], [2.5], [3.5], [4.5], [5.5], [6.5], [7.5], [8.5]]
// CHECK{LITERAL}: [[0], [0], [1], [1.5], [2.5], [3.5], [4.5], [5.5]]
func.func @window() -> (tensor<8x1xf32>, tensor<8x1xf32>) {
  %q = arith.constant dense<0.0> : tensor<8x1xf32>
  %k = arith.constant dense<1.0> : tensor<9x1xf32>
  %v = arith.constant dense<[[1.0], [2.0], [3.0], [4.0], [5.0], [6.0], [7.0], [8.0], [9.0]]> : tensor<9x1xf32>
  %o = attn.sdpa %q, %k, %v scale 0.5 where window(left = 0, right = 1) {schedule = #s} : (tensor<8x1xf32>, tensor<9x1xf32>, tensor<9x1xf32>) -> tensor<8x1xf32>
  %p = attn.sdpa %q, %k, %v scale 0.5 where window(left = 1, right = 0, offset = -2) {schedule = #s} : (tensor<8x1xf32>, tensor<9x1xf32>, tensor<9x1xf32>) -> tensor<8x1xf32>
  return %o, %p : tensor<8x1xf32>, tensor<8x1xf32>
}
