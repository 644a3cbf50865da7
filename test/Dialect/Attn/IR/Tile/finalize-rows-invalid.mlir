// RUN: attn-opt %s -split-input-file -verify-diagnostics
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What attn.finalize_rows rejects; the numbers are those of docs/SpecTiles.md.
#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 8, key_tile = 4, unroll = 1, prefetch = 0>

func.func @finalize_rows_c1_other_rows(%m: memref<6xf32>, %l: memref<6xf32>, %a: memref<5x8xf32>, %o: memref<?x8xf32>) {
  // expected-error@+1 {{expects maximum and sum to have an element per row of acc}}
  attn.finalize_rows %m, %l, %a outs(%o : memref<?x8xf32>) {schedule = #s} : memref<6xf32>, memref<6xf32>, memref<5x8xf32>
  return
}

// -----

#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 8, key_tile = 4, unroll = 1, prefetch = 0>

func.func @finalize_rows_c2_two_types(%m: memref<?xf64>, %l: memref<?xf64>, %a: memref<?x8xf32>, %o: memref<?x8xf32>) {
  // expected-error@+1 {{expects states of f32 or f64, all of one type, but got 'f64'}}
  attn.finalize_rows %m, %l, %a outs(%o : memref<?x8xf32>) {schedule = #s} : memref<?xf64>, memref<?xf64>, memref<?x8xf32>
  return
}

// -----

#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 8, key_tile = 4, unroll = 1, prefetch = 0>

func.func @finalize_rows_c3_other_columns(%m: memref<?xf32>, %l: memref<?xf32>, %a: memref<?x8xf32>, %o: memref<?x9xf32>) {
  // expected-error@+1 {{expects out to be a matrix of 8 columns, but got 'memref<?x9xf32>'}}
  attn.finalize_rows %m, %l, %a outs(%o : memref<?x9xf32>) {schedule = #s} : memref<?xf32>, memref<?xf32>, memref<?x8xf32>
  return
}

// -----

#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 8, key_tile = 4, unroll = 1, prefetch = 0>

func.func @finalize_rows_c4_lse_matrix(%m: memref<?xf32>, %l: memref<?xf32>, %a: memref<?x8xf32>, %o: memref<?x8xf32>, %e: memref<?x1xf32>) {
  // expected-error@+1 {{expects lse to have rank 1, but got 'memref<?x1xf32>'}}
  attn.finalize_rows %m, %l, %a outs(%o, %e : memref<?x8xf32>, memref<?x1xf32>) {schedule = #s} : memref<?xf32>, memref<?xf32>, memref<?x8xf32>
  return
}

// -----

#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 8, key_tile = 4, unroll = 1, prefetch = 0>

func.func @finalize_rows_c5_no_result(%m: tensor<?xf32>, %l: tensor<?xf32>, %a: tensor<?x8xf32>, %o: tensor<?x8xf32>) {
  // expected-error@+1 {{expected the number of tensor results (0) to be equal to the number of output tensors (1)}}
  attn.finalize_rows %m, %l, %a outs(%o : tensor<?x8xf32>) {schedule = #s} : tensor<?xf32>, tensor<?xf32>, tensor<?x8xf32>
  return
}
