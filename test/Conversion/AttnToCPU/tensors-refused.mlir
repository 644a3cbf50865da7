// RUN: attn-opt %s --convert-attn-to-cpu --split-input-file --verify-diagnostics
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Ops on tensors are named.

func.func @graph(%s: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // expected-error@+1 {{'attn.softmax' op is on tensors; tile and bufferize it before convert-attn-to-cpu}}
  %w = attn.softmax %s : tensor<2x3xf32>
  return %w : tensor<2x3xf32>
}

// -----

func.func @tile(%q: tensor<?x4xf32>) -> !attn.state<8 x 4 x 6, f32> {
  // expected-error@+1 {{'attn.init_state' op is on tensors}}
  %s = attn.init_state %q scale 0.5 {schedule = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 8, key_tile = 4, unroll = 1, prefetch = 0>}
      : tensor<?x4xf32> -> <8 x 4 x 6, f32>
  return %s : !attn.state<8 x 4 x 6, f32>
}
