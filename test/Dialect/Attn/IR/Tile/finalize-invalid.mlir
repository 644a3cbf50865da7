// RUN: attn-opt %s -split-input-file -verify-diagnostics
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What attn.finalize rejects; the numbers are those of docs/Spec.md.
#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>

func.func @finalize_c1_other_columns(%s: !attn.state<16 x 4 x 8, f32>, %o: memref<?x4xf32>) {
  // expected-error@+1 {{expects out to be a matrix of 8 columns, but got 'memref<?x4xf32>'}}
  attn.finalize %s outs(%o : memref<?x4xf32>) {schedule = #s} : !attn.state<16 x 4 x 8, f32>
  return
}

// -----

#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>

func.func @finalize_c2_lse_matrix(%s: !attn.state<16 x 4 x 8, f32>, %o: memref<?x8xf32>, %l: memref<?x1xf32>) {
  // expected-error@+1 {{expects lse to have rank 1, but got 'memref<?x1xf32>'}}
  attn.finalize %s outs(%o, %l : memref<?x8xf32>, memref<?x1xf32>) {schedule = #s} : !attn.state<16 x 4 x 8, f32>
  return
}

// -----

#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>

func.func @finalize_c3_no_result(%s: !attn.state<16 x 4 x 8, f32>, %o: tensor<?x8xf32>) {
  // expected-error@+1 {{expected the number of tensor results (0) to be equal to the number of output tensors (1)}}
  attn.finalize %s outs(%o : tensor<?x8xf32>) {schedule = #s} : !attn.state<16 x 4 x 8, f32>
  return
}

// -----

#d = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0, kind = decode, split_keys = 64>

func.func @finalize_c4_other_kind(%s: !attn.state<16 x 4 x 8, f32>, %o: memref<?x8xf32>) {
  // expected-error@+1 {{expects a schedule of the state's kind prefill, but got decode}}
  attn.finalize %s outs(%o : memref<?x8xf32>) {schedule = #d} : !attn.state<16 x 4 x 8, f32>
  return
}

// -----

#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>

func.func @finalize_c5_lse_of_sigmoid(%s: !attn.state<16 x 4 x 8, f32 by sigmoid>, %o: memref<?x8xf32>, %l: memref<?xf32>) {
  // expected-error@+1 {{expects no lse of a state by sigmoid, which has no sum}}
  attn.finalize %s outs(%o, %l : memref<?x8xf32>, memref<?xf32>) {schedule = #s} : !attn.state<16 x 4 x 8, f32 by sigmoid>
  return
}
