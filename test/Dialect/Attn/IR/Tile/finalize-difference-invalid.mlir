// RUN: attn-opt %s -split-input-file -verify-diagnostics
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What attn.finalize_difference rejects; the numbers are those of docs/SpecTiles.md.
#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>

func.func @finalize_difference_c1_other_columns(%a: !attn.state<16 x 4 x 8, f32>, %b: !attn.state<16 x 4 x 8, f32>, %l: f32, %o: memref<?x4xf32>) {
  // expected-error@+1 {{expects out to be a matrix of 8 columns, but got 'memref<?x4xf32>'}}
  attn.finalize_difference %a, %b by %l outs(%o : memref<?x4xf32>) {schedule = #s} : !attn.state<16 x 4 x 8, f32>, f32
  return
}

// -----

#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>

func.func @finalize_difference_c2_other_state(%a: !attn.state<16 x 4 x 8, f32>, %b: !attn.state<16 x 4 x 8, f32>, %l: f32, %c: !attn.state<8 x 4 x 8, f32>, %o: memref<?x8xf32>) {
  // expected-error@+1 {{failed to verify that all of {first, second} have same type}}
  "attn.finalize_difference"(%a, %c, %l, %o) <{schedule = #s}> : (!attn.state<16 x 4 x 8, f32>, !attn.state<8 x 4 x 8, f32>, f32, memref<?x8xf32>) -> ()
  return
}

// -----

#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>

func.func @finalize_difference_c3_other_element(%a: !attn.state<16 x 4 x 8, f32>, %b: !attn.state<16 x 4 x 8, f32>, %l: f32, %m: f64, %o: memref<?x8xf32>) {
  // expected-error@+1 {{expects lambda of the state's type 'f32', but got 'f64'}}
  attn.finalize_difference %a, %b by %m outs(%o : memref<?x8xf32>) {schedule = #s} : !attn.state<16 x 4 x 8, f32>, f64
  return
}

// -----

#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>

func.func @finalize_difference_c4_no_result(%a: !attn.state<16 x 4 x 8, f32>, %b: !attn.state<16 x 4 x 8, f32>, %l: f32, %o: tensor<?x8xf32>) {
  // expected-error@+1 {{expected the number of tensor results (0) to be equal to the number of output tensors (1)}}
  attn.finalize_difference %a, %b by %l outs(%o : tensor<?x8xf32>) {schedule = #s} : !attn.state<16 x 4 x 8, f32>, f32
  return
}

// -----

#d = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0, kind = decode, split_keys = 64>

func.func @finalize_difference_c5_other_kind(%a: !attn.state<16 x 4 x 8, f32>, %b: !attn.state<16 x 4 x 8, f32>, %l: f32, %o: memref<?x8xf32>) {
  // expected-error@+1 {{expects a schedule of the state's kind prefill, but got decode}}
  attn.finalize_difference %a, %b by %l outs(%o : memref<?x8xf32>) {schedule = #d} : !attn.state<16 x 4 x 8, f32>, f32
  return
}
