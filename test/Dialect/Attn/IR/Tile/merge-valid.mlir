// RUN: attn-opt %s -verify-diagnostics
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What attn.merge accepts; the numbers are those of docs/Spec.md.
#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>

func.func @merge_c1_same_states(%a: !attn.state<16 x 4 x 8, f32>, %b: !attn.state<16 x 4 x 8, f32>) {
  %r = attn.merge %a, %b {schedule = #s} : !attn.state<16 x 4 x 8, f32>
  return
}
