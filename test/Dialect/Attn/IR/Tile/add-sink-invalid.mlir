// RUN: attn-opt %s -split-input-file -verify-diagnostics
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What attn.add_sink rejects; the numbers are those of docs/Spec.md.

#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>

func.func @add_sink_c1_other_rows(%a: !attn.state<16 x 4 x 8, f32>, %x: f32) {
  // expected-error@+1 {{failed to verify that all of {state, next} have same type}}
  %r = "attn.add_sink"(%a, %x) <{schedule = #s}> : (!attn.state<16 x 4 x 8, f32>, f32) -> !attn.state<8 x 4 x 8, f32>
  return
}

// -----

#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>

func.func @add_sink_c2_other_element(%a: !attn.state<16 x 4 x 8, f32>, %x: f64) {
  // expected-error@+1 {{expects a sink of the state's type 'f32', but got 'f64'}}
  %r = attn.add_sink %a, %x {schedule = #s} : !attn.state<16 x 4 x 8, f32>, f64
  return
}

// -----

#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>

func.func @add_sink_c3_sigmoid(%a: !attn.state<16 x 4 x 8, f32 by sigmoid>, %x: f32) {
  // expected-error@+1 {{expects a state by softmax, which has a sum}}
  %r = attn.add_sink %a, %x {schedule = #s} : !attn.state<16 x 4 x 8, f32 by sigmoid>, f32
  return
}
