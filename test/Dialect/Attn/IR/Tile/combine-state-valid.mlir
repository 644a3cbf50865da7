// RUN: attn-opt %s -verify-diagnostics
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What attn.combine_state accepts; the numbers are those of docs/SpecTiles.md.
#d = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0, kind = decode, split_keys = 64>

func.func @combine_state_c1_rank_3(%p: memref<?x?x10xf32>, %m: memref<?xf32>, %l: memref<?xf32>, %a: memref<?x8xf32>) {
  attn.combine_state %p outs(%m, %l, %a : memref<?xf32>, memref<?xf32>, memref<?x8xf32>) {schedule = #d} : memref<?x?x10xf32>
  return
}

func.func @combine_state_c2_rows(%p: memref<3x5x10xf32>, %m: memref<5xf32>, %l: memref<5xf32>, %a: memref<?x8xf32>) {
  attn.combine_state %p outs(%m, %l, %a : memref<5xf32>, memref<5xf32>, memref<?x8xf32>) {schedule = #d} : memref<3x5x10xf32>
  return
}

func.func @combine_state_c3_f64(%p: memref<?x?x10xf64>, %m: memref<?xf64>, %l: memref<?xf64>, %a: memref<?x8xf64>) {
  attn.combine_state %p outs(%m, %l, %a : memref<?xf64>, memref<?xf64>, memref<?x8xf64>) {schedule = #d} : memref<?x?x10xf64>
  return
}

func.func @combine_state_c4_results(%p: tensor<?x?x10xf32>, %m: tensor<?xf32>, %l: tensor<?xf32>, %a: tensor<?x8xf32>) {
  %r:3 = attn.combine_state %p outs(%m, %l, %a : tensor<?xf32>, tensor<?xf32>, tensor<?x8xf32>) {schedule = #d} : tensor<?x?x10xf32> -> tensor<?xf32>, tensor<?xf32>, tensor<?x8xf32>
  return
}
