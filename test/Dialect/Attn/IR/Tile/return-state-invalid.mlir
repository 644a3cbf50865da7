// RUN: attn-opt %s -split-input-file -verify-diagnostics
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What attn.return_state rejects; the numbers are those of docs/SpecTiles.md.
#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 8, key_tile = 4, unroll = 1, prefetch = 0>

func.func @return_state_c1_other_columns(%s: !attn.state<8 x 4 x 8, f32>, %m: memref<?xf32>, %l: memref<?xf32>, %a: memref<?x9xf32>) {
  // expected-error@+1 {{expects acc to be a matrix of 8 columns, but got 'memref<?x9xf32>'}}
  attn.return_state %s outs(%m, %l, %a : memref<?xf32>, memref<?xf32>, memref<?x9xf32>) {schedule = #s} : !attn.state<8 x 4 x 8, f32>
  return
}

// -----

#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 8, key_tile = 4, unroll = 1, prefetch = 0>

func.func @return_state_c1_row_of_rank_2(%s: !attn.state<8 x 4 x 8, f32>, %m: memref<?x1xf32>, %l: memref<?x1xf32>, %a: memref<?x8xf32>) {
  // expected-error@+1 {{expects maximum and sum to have an element per row of acc}}
  attn.return_state %s outs(%m, %l, %a : memref<?x1xf32>, memref<?x1xf32>, memref<?x8xf32>) {schedule = #s} : !attn.state<8 x 4 x 8, f32>
  return
}

// -----

#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 8, key_tile = 4, unroll = 1, prefetch = 0>

func.func @return_state_c2_narrow(%s: !attn.state<8 x 4 x 8, f32>, %m: memref<?xf16>, %l: memref<?xf16>, %a: memref<?x8xf16>) {
  // expected-error@+1 {{expects states of f32 or f64, all of one type, but got 'f16'}}
  attn.return_state %s outs(%m, %l, %a : memref<?xf16>, memref<?xf16>, memref<?x8xf16>) {schedule = #s} : !attn.state<8 x 4 x 8, f32>
  return
}

// -----

#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 8, key_tile = 4, unroll = 1, prefetch = 0>

func.func @return_state_c3_sigmoid(%s: !attn.state<8 x 4 x 8, f32 by sigmoid>, %m: memref<?xf32>, %l: memref<?xf32>, %a: memref<?x8xf32>) {
  // expected-error@+1 {{expects a state by softmax, which has maximum and sum}}
  attn.return_state %s outs(%m, %l, %a : memref<?xf32>, memref<?xf32>, memref<?x8xf32>) {schedule = #s} : !attn.state<8 x 4 x 8, f32 by sigmoid>
  return
}

// -----

#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 8, key_tile = 4, unroll = 1, prefetch = 0>

func.func @return_state_c4_other_kind(%s: !attn.state<8 x 4 x 8, f32, decode>, %m: memref<?xf32>, %l: memref<?xf32>, %a: memref<?x8xf32>) {
  // expected-error@+1 {{expects a schedule of the state's kind decode, but got prefill}}
  attn.return_state %s outs(%m, %l, %a : memref<?xf32>, memref<?xf32>, memref<?x8xf32>) {schedule = #s} : !attn.state<8 x 4 x 8, f32, decode>
  return
}

// -----

#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 8, key_tile = 4, unroll = 1, prefetch = 0>

func.func @return_state_c5_no_result(%s: !attn.state<8 x 4 x 8, f32>, %m: tensor<?xf32>, %l: tensor<?xf32>, %a: tensor<?x8xf32>) {
  // expected-error@+1 {{expected the number of tensor results (0) to be equal to the number of output tensors (3)}}
  attn.return_state %s outs(%m, %l, %a : tensor<?xf32>, tensor<?xf32>, tensor<?x8xf32>) {schedule = #s} : !attn.state<8 x 4 x 8, f32>
  return
}
