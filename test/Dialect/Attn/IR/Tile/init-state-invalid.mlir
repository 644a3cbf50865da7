// RUN: attn-opt %s -split-input-file -verify-diagnostics
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What attn.init_state rejects; the numbers are those of docs/Spec.md.
#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>

func.func @init_state_c1_other_columns(%q: memref<16x5xf32>) {
  // expected-error@+1 {{expects the query tile to be a matrix of 4 columns, but got 'memref<16x5xf32>'}}
  %r = attn.init_state %q scale 0.5 {schedule = #s} : memref<16x5xf32> -> !attn.state<16 x 4 x 8, f32>
  return
}

// -----

#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>

func.func @init_state_c1_unknown_columns(%q: tensor<16x?xf32>) {
  // expected-error@+1 {{expects the query tile to be a matrix of 4 columns, but got 'tensor<16x?xf32>'}}
  %r = attn.init_state %q scale 0.5 {schedule = #s} : tensor<16x?xf32> -> !attn.state<16 x 4 x 8, f32>
  return
}

// -----

#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>

func.func @init_state_c1_rank_3(%q: memref<1x16x4xf32>) {
  // expected-error@+1 {{expects the query tile to be a matrix of 4 columns, but got 'memref<1x16x4xf32>'}}
  %r = attn.init_state %q scale 0.5 {schedule = #s} : memref<1x16x4xf32> -> !attn.state<16 x 4 x 8, f32>
  return
}

// -----

#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>

func.func @init_state_c2_more_rows(%q: memref<17x4xf32>) {
  // expected-error@+1 {{expects at most 16 queries in the tile, but got 17}}
  %r = attn.init_state %q scale 0.5 {schedule = #s} : memref<17x4xf32> -> !attn.state<16 x 4 x 8, f32>
  return
}

// -----

#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>

func.func @init_state_c3_other_kind(%q: memref<?x4xf32>) {
  // expected-error@+1 {{expects a schedule of the state's kind decode, but got prefill}}
  %r = attn.init_state %q scale 0.5 {schedule = #s} : memref<?x4xf32> -> !attn.state<16 x 4 x 8, f32, decode>
  return
}

// -----

func.func @init_state_c4_pairs_of_f32(%q: memref<?x4xf32>) {
  // expected-error@+1 {{expects elements of bf16 for products = dot, but got 'memref<?x4xf32>'}}
  %r = attn.init_state %q scale 0.5 {schedule = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0, products = dot>} : memref<?x4xf32> -> !attn.state<16 x 4 x 8, f32>
  return
}

// -----

func.func @init_state_c4_part_of_a_vector(%q: memref<?x24xbf16>) {
  // expected-error@+1 {{expects head dimensions to be multiples of 16 for its schedule, but got 24 and 32}}
  %r = attn.init_state %q scale 0.5 {schedule = #attn.cpu_schedule<lanes = 8, rows = 2, vectors = 2, query_tile = 8, key_tile = 8, unroll = 1, prefetch = 0, kind = decode, split_keys = 64, products = dot>} : memref<?x24xbf16> -> !attn.state<8 x 24 x 32, f32, decode>
  return
}

// -----

func.func @init_state_c4_pairs_in_f64(%q: memref<?x4xbf16>) {
  // expected-error@+1 {{expects a state of f32 by softmax for products = dot, but got '!attn.state<16 x 4 x 8, f64>'}}
  %r = attn.init_state %q scale 0.5 {schedule = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0, products = dot>} : memref<?x4xbf16> -> !attn.state<16 x 4 x 8, f64>
  return
}

// -----

func.func @init_state_c4_tiles_of_f16(%q: memref<?x4xf16>) {
  // expected-error@+1 {{expects elements of bf16 for products = amx, but got 'memref<?x4xf16>'}}
  %r = attn.init_state %q scale 0.5 {schedule = #attn.cpu_schedule<lanes = 16, rows = 32, vectors = 2, query_tile = 32, key_tile = 64, unroll = 1, prefetch = 0, products = amx>} : memref<?x4xf16> -> !attn.state<32 x 4 x 8, f32>
  return
}

// -----

func.func @init_state_c5_heads_on_a_cpu(%q: memref<2x?x4xf32>) {
  // expected-error@+1 {{expects the query tile to be a matrix of 4 columns, but got 'memref<2x?x4xf32>'}}
  %r = attn.init_state %q scale 0.5 {schedule = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0, kind = decode, split_keys = 64>} : memref<2x?x4xf32> -> !attn.state<16 x 4 x 8, f32, decode>
  return
}

// -----

func.func @init_state_c5_heads_of_many(%q: memref<2x?x4xf32>) {
  // expected-error@+1 {{expects queries of several heads only in kind decode, with 4 features, but got 'memref<2x?x4xf32>'}}
  %r = attn.init_state %q scale 0.5 {schedule = #attn.gpu_schedule<query_tile = 16, key_tile = 16, warps = 1>} : memref<2x?x4xf32> -> !attn.state<16 x 4 x 8, f32>
  return
}

// -----

func.func @init_state_c5_features(%q: memref<2x?x5xf32>) {
  // expected-error@+1 {{with 4 features, but got 'memref<2x?x5xf32>'}}
  %r = attn.init_state %q scale 0.5 {schedule = #attn.gpu_schedule<query_tile = 16, key_tile = 16, warps = 1, kind = decode, split_keys = 64>} : memref<2x?x5xf32> -> !attn.state<16 x 4 x 8, f32, decode>
  return
}
