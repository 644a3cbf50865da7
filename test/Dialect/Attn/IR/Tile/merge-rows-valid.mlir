// RUN: attn-opt %s -verify-diagnostics
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What attn.merge_rows accepts; the numbers are those of docs/SpecTiles.md.
#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 8, key_tile = 4, unroll = 1, prefetch = 0>

func.func @merge_rows_c1_rows(%m: memref<5xf32>, %l: memref<5xf32>, %a: memref<?x8xf32>, %x: memref<?xf32>, %y: memref<?xf32>, %z: memref<5x8xf32>) {
  attn.merge_rows %m, %l, %a with %m, %l, %a outs(%x, %y, %z : memref<?xf32>, memref<?xf32>, memref<5x8xf32>) {schedule = #s} : memref<5xf32>, memref<5xf32>, memref<?x8xf32> with memref<5xf32>, memref<5xf32>, memref<?x8xf32>
  return
}

func.func @merge_rows_c2_f64(%m: memref<?xf64>, %l: memref<?xf64>, %a: memref<?x?xf64>, %x: memref<?xf64>, %y: memref<?xf64>, %z: memref<?x?xf64>) {
  attn.merge_rows %m, %l, %a with %m, %l, %a outs(%x, %y, %z : memref<?xf64>, memref<?xf64>, memref<?x?xf64>) {schedule = #s} : memref<?xf64>, memref<?xf64>, memref<?x?xf64> with memref<?xf64>, memref<?xf64>, memref<?x?xf64>
  return
}

func.func @merge_rows_c3_results(%m: tensor<?xf32>, %l: tensor<?xf32>, %a: tensor<?x8xf32>, %x: tensor<?xf32>, %y: tensor<?xf32>, %z: tensor<?x8xf32>) {
  %r:3 = attn.merge_rows %m, %l, %a with %m, %l, %a outs(%x, %y, %z : tensor<?xf32>, tensor<?xf32>, tensor<?x8xf32>) {schedule = #s} : tensor<?xf32>, tensor<?xf32>, tensor<?x8xf32> with tensor<?xf32>, tensor<?xf32>, tensor<?x8xf32> -> tensor<?xf32>, tensor<?xf32>, tensor<?x8xf32>
  return
}
