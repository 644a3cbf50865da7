// RUN: attn-reference %s | FileCheck %s
// RUN: attn-opt %s --attn-tile-queries --attn-tile-keys | attn-reference - | FileCheck %s
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Few queries as one attention, and as states of parts of 4 keys that are combined: the
// queries of both heads are rows of one state. The scores are 0, so that out is the
// mean of the values that are seen; the second batch entry has no key.

#d = #attn.cpu_schedule<lanes = 4, rows = 3, vectors = 3, query_tile = 4, key_tile = 2, unroll = 1, prefetch = 0, kind = decode, split_keys = 4>

// CHECK{LITERAL}: [[[[3.5], [4]], [[3.5], [4]]], [[[0], [0]], [[0], [0]]]]
// CHECK-NEXT: {{^}}[{{\[\[}}1.791759{{[0-9]*}}, 1.945910{{[0-9]*}}], [1.791759{{[0-9]*}}, 1.945910{{[0-9]*}}{{\]\]}}, {{\[\[}}-inf, -inf], [-inf, -inf]]]
func.func @few() -> (tensor<2x2x2x1xf32>, tensor<2x2x2xf32>) {
  %q = arith.constant dense<0.0> : tensor<2x2x2x1xf32>
  %k = arith.constant dense<1.0> : tensor<2x1x7x1xf32>
  %v = arith.constant dense<[[[[1.0], [2.0], [3.0], [4.0], [5.0], [6.0], [7.0]]], [[[1.0], [2.0], [3.0], [4.0], [5.0], [6.0], [7.0]]]]> : tensor<2x1x7x1xf32>
  %n = arith.constant dense<[7, 0]> : tensor<2xi32>
  %o, %l = attn.sdpa %q, %k, %v scale 0.5 where causal(bottom_right) and key_length(%n : tensor<2xi32>) returning(out, lse)
      {decode_schedule = #d} : (tensor<2x2x2x1xf32>, tensor<2x1x7x1xf32>, tensor<2x1x7x1xf32>) -> (tensor<2x2x2x1xf32>, tensor<2x2x2xf32>)
  return %o, %l : tensor<2x2x2x1xf32>, tensor<2x2x2xf32>
}
