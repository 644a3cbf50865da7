// RUN: attn-reference %s | FileCheck %s
// RUN: attn-opt %s --attn-tile-queries --attn-tile-keys | attn-reference - | FileCheck %s
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A score function of the head, and sinks, as one attention and as states of parts. Scores are log 2 times the head, and
// the sinks are 0: head 0 sees five keys and the sink alike; in head 1 keys count twice. The second batch entry has no key.

#d = #attn.cpu_schedule<lanes = 4, rows = 3, vectors = 3, query_tile = 4, key_tile = 2, unroll = 1, prefetch = 0, kind = decode, split_keys = 4>

// CHECK: {{\[\[\[\[}}2.5]], {{\[\[}}2.72727{{[0-9]*}}]]], {{\[\[\[}}0]], {{\[\[}}0]]]]
// CHECK-NEXT: {{^}}[{{\[\[}}1.791759{{[0-9]*}}], [2.397895{{[0-9]*}}]], {{\[\[}}0], [0]]]
func.func @few() -> (tensor<2x2x1x1xf32>, tensor<2x2x1xf32>) {
  %q = arith.constant dense<0.0> : tensor<2x2x1x1xf32>
  %k = arith.constant dense<1.0> : tensor<2x1x5x1xf32>
  %v = arith.constant dense<[[[[1.0], [2.0], [3.0], [4.0], [5.0]]], [[[1.0], [2.0], [3.0], [4.0], [5.0]]]]> : tensor<2x1x5x1xf32>
  %n = arith.constant dense<[5, 0]> : tensor<2xi32>
  %sinks = arith.constant dense<0.0> : tensor<2xf32>
  %o, %l = attn.sdpa %q, %k, %v scale 0.5 score_mod (%x: f32, %b, %h, %i, %j) {
    %c = arith.constant 0.6931471805599453 : f32
    %h32 = arith.index_cast %h : index to i32
    %f = arith.sitofp %h32 : i32 to f32
    %g = arith.mulf %f, %c : f32
    %y = arith.addf %x, %g : f32
    attn.yield %y : f32
  } where key_length(%n : tensor<2xi32>) sinks %sinks : tensor<2xf32> returning(out, lse)
      {decode_schedule = #d} : (tensor<2x2x1x1xf32>, tensor<2x1x5x1xf32>, tensor<2x1x5x1xf32>) -> (tensor<2x2x1x1xf32>, tensor<2x2x1xf32>)
  return %o, %l : tensor<2x2x1x1xf32>, tensor<2x2x1xf32>
}
