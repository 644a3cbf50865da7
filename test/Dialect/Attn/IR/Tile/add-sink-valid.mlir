// RUN: attn-opt %s -verify-diagnostics
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What attn.add_sink accepts; the numbers are those of docs/Spec.md.

#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>

func.func @add_sink_c1_same_states(%a: !attn.state<16 x 4 x 8, f32>, %x: f32) {
  %r = attn.add_sink %a, %x {schedule = #s} : !attn.state<16 x 4 x 8, f32>, f32
  return
}

func.func @add_sink_c2_f64(%a: !attn.state<16 x 4 x 8, f64>, %x: f64) {
  %r = attn.add_sink %a, %x {schedule = #s} : !attn.state<16 x 4 x 8, f64>, f64
  return
}

func.func @add_sink_c3_softmax(%a: !attn.state<16 x 4 x 8, f32 by softmax>, %x: f32) {
  %r = attn.add_sink %a, %x {schedule = #s} : !attn.state<16 x 4 x 8, f32>, f32
  return
}
