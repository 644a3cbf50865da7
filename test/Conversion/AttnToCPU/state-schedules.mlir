// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Two schedules for states of one type are refused by name: the layout of a state
// follows from its type and one schedule.
// RUN: attn-opt %s --convert-attn-to-cpu --verify-diagnostics
#s = #attn.schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 8, key_tile = 4, unroll = 1, prefetch = 0>
#t = #attn.schedule<lanes = 4, rows = 1, vectors = 1, query_tile = 8, key_tile = 4, unroll = 1, prefetch = 0>

func.func private @f.kernel(%q: memref<?x4xf32>) {
  %s0 = attn.init_state %q scale 0.5 {schedule = #s} : memref<?x4xf32> -> <8 x 4 x 6, f32>
  // expected-error @+1 {{'attn.init_state' op has a schedule with another layout than a state of the same type, which the CPU kernels do not handle}}
  %s1 = attn.init_state %q scale 0.5 {schedule = #t} : memref<?x4xf32> -> <8 x 4 x 6, f32>
  return
}
