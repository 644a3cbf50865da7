// RUN: attn-opt %s -split-input-file -verify-diagnostics
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What attn.merge rejects; the numbers are those of docs/Spec.md.
#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>

func.func @merge_c1_other_rows(%a: !attn.state<16 x 4 x 8, f32>, %b: !attn.state<8 x 4 x 8, f32>) {
  // expected-error@+1 {{requires the same type for all operands and results}}
  %r = "attn.merge"(%a, %b) <{schedule = #s}> : (!attn.state<16 x 4 x 8, f32>, !attn.state<8 x 4 x 8, f32>) -> !attn.state<16 x 4 x 8, f32>
  return
}

// -----

#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>

func.func @merge_c1_other_element(%a: !attn.state<16 x 4 x 8, f32>, %b: !attn.state<16 x 4 x 8, f32>) {
  // expected-error@+1 {{requires the same type for all operands and results}}
  %r = "attn.merge"(%a, %b) <{schedule = #s}> : (!attn.state<16 x 4 x 8, f32>, !attn.state<16 x 4 x 8, f32>) -> !attn.state<16 x 4 x 8, f64>
  return
}
