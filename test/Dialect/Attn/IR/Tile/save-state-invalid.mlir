// RUN: attn-opt %s -split-input-file -verify-diagnostics
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What attn.save_state rejects; the numbers are those of docs/Spec.md.
#d = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0, kind = decode, split_keys = 64>

func.func @save_state_c1_no_room_for_statistics(%s: !attn.state<16 x 4 x 8, f32, decode>, %p: memref<?x8xf32>) {
  // expected-error@+1 {{expects the part to be a matrix of 10 columns, but got 'memref<?x8xf32>'}}
  attn.save_state %s outs(%p : memref<?x8xf32>) {schedule = #d} : !attn.state<16 x 4 x 8, f32, decode>
  return
}

// -----

#d = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0, kind = decode, split_keys = 64>

func.func @save_state_c2_narrow(%s: !attn.state<16 x 4 x 8, f32, decode>, %p: memref<?x10xf16>) {
  // expected-error@+1 {{expects a part of the state's 'f32', but got 'f16'}}
  attn.save_state %s outs(%p : memref<?x10xf16>) {schedule = #d} : !attn.state<16 x 4 x 8, f32, decode>
  return
}

// -----

#d = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0, kind = decode, split_keys = 64>

func.func @save_state_c3_no_result(%s: !attn.state<16 x 4 x 8, f32, decode>, %p: tensor<?x10xf32>) {
  // expected-error@+1 {{expected the number of tensor results (0) to be equal to the number of output tensors (1)}}
  attn.save_state %s outs(%p : tensor<?x10xf32>) {schedule = #d} : !attn.state<16 x 4 x 8, f32, decode>
  return
}

// -----

#d = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0, kind = decode, split_keys = 64>

func.func @save_state_c4_other_kind(%s: !attn.state<16 x 4 x 8, f32>, %p: memref<?x10xf32>) {
  // expected-error@+1 {{expects a schedule of the state's kind prefill, but got decode}}
  attn.save_state %s outs(%p : memref<?x10xf32>) {schedule = #d} : !attn.state<16 x 4 x 8, f32>
  return
}

// -----

#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>

func.func @save_state_c5_by_sigmoid(%s: !attn.state<16 x 4 x 8, f32 by sigmoid>, %p: memref<?x10xf32>) {
  // expected-error@+1 {{expects a state by softmax, which has maximum and sum}}
  attn.save_state %s outs(%p : memref<?x10xf32>) {schedule = #s} : !attn.state<16 x 4 x 8, f32 by sigmoid>
  return
}
