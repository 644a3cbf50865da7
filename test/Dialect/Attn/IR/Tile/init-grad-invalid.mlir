// RUN: attn-opt %s -split-input-file -verify-diagnostics
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What attn.init_grad rejects; the numbers are those of docs/SpecTiles.md.
#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>
#d = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0, kind = decode, split_keys = 64>

func.func @init_grad_c1_query(%q: memref<?x6xf32>, %o: memref<?x8xf32>, %d: memref<?x8xf32>, %l: memref<?xf32>) {
  // expected-error@+1 {{expects the query tile to be a matrix of 4 columns, but got 'memref<?x6xf32>'}}
  %s = attn.init_grad %q out %o cotangents %d lse %l scale 0.5 {schedule = #s} : memref<?x6xf32>, memref<?x8xf32>, memref<?x8xf32>, memref<?xf32> -> !attn.grad_state<16 x 4 x 8, f32>
  return
}

// -----

#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>
#d = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0, kind = decode, split_keys = 64>

func.func @init_grad_c1_out(%q: memref<?x4xf32>, %o: memref<?x6xf32>, %d: memref<?x8xf32>, %l: memref<?xf32>) {
  // expected-error@+1 {{expects out to be a matrix of 8 columns}}
  %s = attn.init_grad %q out %o cotangents %d lse %l scale 0.5 {schedule = #s} : memref<?x4xf32>, memref<?x6xf32>, memref<?x8xf32>, memref<?xf32> -> !attn.grad_state<16 x 4 x 8, f32>
  return
}

// -----

#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>
#d = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0, kind = decode, split_keys = 64>

func.func @init_grad_c2_lse(%q: memref<?x4xf32>, %o: memref<?x8xf32>, %d: memref<?x8xf32>, %l: memref<?x1xf32>) {
  // expected-error@+1 {{expects lse to have rank 1 and elements of 'f32', but got 'memref<?x1xf32>'}}
  %s = attn.init_grad %q out %o cotangents %d lse %l scale 0.5 {schedule = #s} : memref<?x4xf32>, memref<?x8xf32>, memref<?x8xf32>, memref<?x1xf32> -> !attn.grad_state<16 x 4 x 8, f32>
  return
}

// -----

#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>
#d = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0, kind = decode, split_keys = 64>

func.func @init_grad_c2_d_lse(%q: memref<?x4xf32>, %o: memref<?x8xf32>, %d: memref<?x8xf32>, %l: memref<?xf32>, %dl: memref<?xf64>) {
  // expected-error@+1 {{expects the cotangent of lse to have rank 1}}
  %s = attn.init_grad %q out %o cotangents %d lse %l, %dl : memref<?xf64> scale 0.5 {schedule = #s} : memref<?x4xf32>, memref<?x8xf32>, memref<?x8xf32>, memref<?xf32> -> !attn.grad_state<16 x 4 x 8, f32>
  return
}

// -----

#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>
#d = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0, kind = decode, split_keys = 64>

func.func @init_grad_c3_decode(%q: memref<?x4xf32>, %o: memref<?x8xf32>, %d: memref<?x8xf32>, %l: memref<?xf32>) {
  // expected-error@+1 {{expects a schedule of kind prefill with products = fma}}
  %s = attn.init_grad %q out %o cotangents %d lse %l scale 0.5 {schedule = #d} : memref<?x4xf32>, memref<?x8xf32>, memref<?x8xf32>, memref<?xf32> -> !attn.grad_state<16 x 4 x 8, f32>
  return
}
