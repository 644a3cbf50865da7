// RUN: attn-opt %s -split-input-file -verify-diagnostics
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What attn.combine rejects; the numbers are those of docs/Spec.md.
#d = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0, kind = decode, split_keys = 64>

func.func @combine_c1_one_state(%p: memref<?x10xf32>, %o: memref<?x8xf32>) {
  // expected-error@+1 {{expects parts of rank 3 with value_dim + 2 columns, but got 'memref<?x10xf32>'}}
  attn.combine %p outs(%o : memref<?x8xf32>) {schedule = #d} : memref<?x10xf32>
  return
}

// -----

#d = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0, kind = decode, split_keys = 64>

func.func @combine_c1_unknown_columns(%p: memref<?x?x?xf32>, %o: memref<?x8xf32>) {
  // expected-error@+1 {{expects parts of rank 3 with value_dim + 2 columns, but got 'memref<?x?x?xf32>'}}
  attn.combine %p outs(%o : memref<?x8xf32>) {schedule = #d} : memref<?x?x?xf32>
  return
}

// -----

#d = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0, kind = decode, split_keys = 64>

func.func @combine_c2_other_columns(%p: memref<?x?x10xf32>, %o: memref<?x10xf32>) {
  // expected-error@+1 {{expects out to be a matrix of 8 columns, but got 'memref<?x10xf32>'}}
  attn.combine %p outs(%o : memref<?x10xf32>) {schedule = #d} : memref<?x?x10xf32>
  return
}

// -----

#d = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0, kind = decode, split_keys = 64>

func.func @combine_c2_other_rows(%p: memref<?x5x10xf32>, %o: memref<6x8xf32>) {
  // expected-error@+1 {{expects a row of out per row of the parts, but got 6 and 5}}
  attn.combine %p outs(%o : memref<6x8xf32>) {schedule = #d} : memref<?x5x10xf32>
  return
}

// -----

#d = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0, kind = decode, split_keys = 64>

func.func @combine_c3_lse_matrix(%p: memref<?x?x10xf32>, %o: memref<?x8xf32>, %l: memref<?x1xf32>) {
  // expected-error@+1 {{expects lse to have rank 1, but got 'memref<?x1xf32>'}}
  attn.combine %p outs(%o, %l : memref<?x8xf32>, memref<?x1xf32>) {schedule = #d} : memref<?x?x10xf32>
  return
}

// -----

#d = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0, kind = decode, split_keys = 64>

func.func @combine_c4_no_result(%p: tensor<?x?x10xf32>, %o: tensor<?x8xf32>) {
  // expected-error@+1 {{expected the number of tensor results (0) to be equal to the number of output tensors (1)}}
  attn.combine %p outs(%o : tensor<?x8xf32>) {schedule = #d} : tensor<?x?x10xf32>
  return
}

// -----

#d = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0, kind = decode, split_keys = 64>

func.func @combine_c5_other_type(%p: memref<?x?x10xf32>, %o: memref<?x8xf16>, %s: f16) {
  // expected-error@+1 {{expects a sink of the parts' type 'f32', but got 'f16'}}
  attn.combine %p sink %s : f16 outs(%o : memref<?x8xf16>) {schedule = #d} : memref<?x?x10xf32>
  return
}
