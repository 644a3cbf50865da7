// RUN: attn-opt %s -split-input-file -verify-diagnostics
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What attn.merge_rows rejects; the numbers are those of docs/SpecTiles.md.
#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 8, key_tile = 4, unroll = 1, prefetch = 0>

func.func @merge_rows_c1_other_columns(%m: memref<?xf32>, %l: memref<?xf32>, %a: memref<?x9xf32>, %x: memref<?xf32>, %y: memref<?xf32>, %z: memref<?x8xf32>) {
  // expected-error@+1 {{expects acc to be a matrix of 8 columns, but got 'memref<?x9xf32>'}}
  attn.merge_rows %m, %l, %a with %m, %l, %a outs(%x, %y, %z : memref<?xf32>, memref<?xf32>, memref<?x8xf32>) {schedule = #s} : memref<?xf32>, memref<?xf32>, memref<?x9xf32> with memref<?xf32>, memref<?xf32>, memref<?x9xf32>
  return
}

// -----

#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 8, key_tile = 4, unroll = 1, prefetch = 0>

func.func @merge_rows_c1_other_rows(%m: memref<6xf32>, %l: memref<6xf32>, %a: memref<5x8xf32>, %x: memref<?xf32>, %y: memref<?xf32>, %z: memref<?x8xf32>) {
  // expected-error@+1 {{expects maximum and sum to have an element per row of acc, but got 'memref<6xf32>' and 'memref<5x8xf32>'}}
  attn.merge_rows %m, %l, %a with %m, %l, %a outs(%x, %y, %z : memref<?xf32>, memref<?xf32>, memref<?x8xf32>) {schedule = #s} : memref<6xf32>, memref<6xf32>, memref<5x8xf32> with memref<6xf32>, memref<6xf32>, memref<5x8xf32>
  return
}

// -----

#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 8, key_tile = 4, unroll = 1, prefetch = 0>

func.func @merge_rows_c1_row_of_rank_2(%m: memref<?x1xf32>, %l: memref<?x1xf32>, %a: memref<?x8xf32>, %x: memref<?xf32>, %y: memref<?xf32>, %z: memref<?x8xf32>) {
  // expected-error@+1 {{expects maximum and sum to have an element per row of acc, but got 'memref<?x1xf32>'}}
  attn.merge_rows %m, %l, %a with %m, %l, %a outs(%x, %y, %z : memref<?xf32>, memref<?xf32>, memref<?x8xf32>) {schedule = #s} : memref<?x1xf32>, memref<?x1xf32>, memref<?x8xf32> with memref<?x1xf32>, memref<?x1xf32>, memref<?x8xf32>
  return
}

// -----

#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 8, key_tile = 4, unroll = 1, prefetch = 0>

func.func @merge_rows_c2_two_types(%m: memref<?xf64>, %l: memref<?xf64>, %a: memref<?x8xf32>, %x: memref<?xf32>, %y: memref<?xf32>, %z: memref<?x8xf32>) {
  // expected-error@+1 {{expects states of f32 or f64, all of one type, but got 'f64'}}
  attn.merge_rows %m, %l, %a with %m, %l, %a outs(%x, %y, %z : memref<?xf32>, memref<?xf32>, memref<?x8xf32>) {schedule = #s} : memref<?xf64>, memref<?xf64>, memref<?x8xf32> with memref<?xf64>, memref<?xf64>, memref<?x8xf32>
  return
}

// -----

#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 8, key_tile = 4, unroll = 1, prefetch = 0>

func.func @merge_rows_c2_f16(%m: memref<?xf16>, %l: memref<?xf16>, %a: memref<?x8xf16>, %x: memref<?xf16>, %y: memref<?xf16>, %z: memref<?x8xf16>) {
  // expected-error@+1 {{expects states of f32 or f64, all of one type, but got 'f16'}}
  attn.merge_rows %m, %l, %a with %m, %l, %a outs(%x, %y, %z : memref<?xf16>, memref<?xf16>, memref<?x8xf16>) {schedule = #s} : memref<?xf16>, memref<?xf16>, memref<?x8xf16> with memref<?xf16>, memref<?xf16>, memref<?x8xf16>
  return
}

// -----

#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 8, key_tile = 4, unroll = 1, prefetch = 0>

func.func @merge_rows_c3_no_result(%m: tensor<?xf32>, %l: tensor<?xf32>, %a: tensor<?x8xf32>, %x: tensor<?xf32>, %y: tensor<?xf32>, %z: tensor<?x8xf32>) {
  // expected-error@+1 {{expected the number of tensor results (0) to be equal to the number of output tensors (3)}}
  attn.merge_rows %m, %l, %a with %m, %l, %a outs(%x, %y, %z : tensor<?xf32>, tensor<?xf32>, tensor<?x8xf32>) {schedule = #s} : tensor<?xf32>, tensor<?xf32>, tensor<?x8xf32> with tensor<?xf32>, tensor<?xf32>, tensor<?x8xf32>
  return
}
