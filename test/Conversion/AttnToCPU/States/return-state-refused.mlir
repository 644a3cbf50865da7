// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A state of kind decode is returned by attn.combine_state.
// RUN: attn-opt %s -verify-diagnostics --convert-attn-to-cpu
#d = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 2, query_tile = 8, key_tile = 16, unroll = 1, prefetch = 0, kind = decode, split_keys = 64>

func.func private @f.kernel(%q: memref<?x4xf32>, %m: memref<?xf32>, %l: memref<?xf32>, %a: memref<?x8xf32>) {
  %s = attn.init_state %q scale 0.5 {schedule = #d} : memref<?x4xf32> -> !attn.state<8 x 4 x 8, f32, decode>
  // expected-error@+2 {{expects a state of kind prefill on this target}}
  // expected-error@+1 {{failed to legalize operation 'attn.return_state'}}
  attn.return_state %s outs(%m, %l, %a : memref<?xf32>, memref<?xf32>, memref<?x8xf32>) {schedule = #d} : !attn.state<8 x 4 x 8, f32, decode>
  return
}
