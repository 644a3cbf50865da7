// RUN: attn-opt %s -split-input-file -verify-diagnostics
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What attn.combine_state rejects; the numbers are those of docs/SpecTiles.md.
#d = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0, kind = decode, split_keys = 64>

func.func @combine_state_c1_one_state(%p: memref<?x10xf32>, %m: memref<?xf32>, %l: memref<?xf32>, %a: memref<?x8xf32>) {
  // expected-error@+1 {{expects parts of rank 3 with value_dim + 2 columns, but got 'memref<?x10xf32>'}}
  attn.combine_state %p outs(%m, %l, %a : memref<?xf32>, memref<?xf32>, memref<?x8xf32>) {schedule = #d} : memref<?x10xf32>
  return
}

// -----

#d = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0, kind = decode, split_keys = 64>

func.func @combine_state_c1_unknown_columns(%p: memref<?x?x?xf32>, %m: memref<?xf32>, %l: memref<?xf32>, %a: memref<?x8xf32>) {
  // expected-error@+1 {{expects parts of rank 3 with value_dim + 2 columns}}
  attn.combine_state %p outs(%m, %l, %a : memref<?xf32>, memref<?xf32>, memref<?x8xf32>) {schedule = #d} : memref<?x?x?xf32>
  return
}

// -----

#d = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0, kind = decode, split_keys = 64>

func.func @combine_state_c2_other_columns(%p: memref<?x?x10xf32>, %m: memref<?xf32>, %l: memref<?xf32>, %a: memref<?x9xf32>) {
  // expected-error@+1 {{expects acc to be a matrix of 8 columns, but got 'memref<?x9xf32>'}}
  attn.combine_state %p outs(%m, %l, %a : memref<?xf32>, memref<?xf32>, memref<?x9xf32>) {schedule = #d} : memref<?x?x10xf32>
  return
}

// -----

#d = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0, kind = decode, split_keys = 64>

func.func @combine_state_c3_narrow(%p: memref<?x?x10xf32>, %m: memref<?xf16>, %l: memref<?xf16>, %a: memref<?x8xf16>) {
  // expected-error@+1 {{expects states of f32 or f64, all of one type, but got 'f16'}}
  attn.combine_state %p outs(%m, %l, %a : memref<?xf16>, memref<?xf16>, memref<?x8xf16>) {schedule = #d} : memref<?x?x10xf32>
  return
}

// -----

#d = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0, kind = decode, split_keys = 64>

func.func @combine_state_c4_no_result(%p: tensor<?x?x10xf32>, %m: tensor<?xf32>, %l: tensor<?xf32>, %a: tensor<?x8xf32>) {
  // expected-error@+1 {{expected the number of tensor results (0) to be equal to the number of output tensors (3)}}
  attn.combine_state %p outs(%m, %l, %a : tensor<?xf32>, tensor<?xf32>, tensor<?x8xf32>) {schedule = #d} : tensor<?x?x10xf32>
  return
}
