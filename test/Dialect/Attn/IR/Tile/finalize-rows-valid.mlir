// RUN: attn-opt %s -verify-diagnostics
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What attn.finalize_rows accepts; the numbers are those of docs/SpecTiles.md.
#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 8, key_tile = 4, unroll = 1, prefetch = 0>

func.func @finalize_rows_c1_rows(%m: memref<?xf32>, %l: memref<?xf32>, %a: memref<5x?xf32>, %o: memref<?x8xf32>) {
  attn.finalize_rows %m, %l, %a outs(%o : memref<?x8xf32>) {schedule = #s} : memref<?xf32>, memref<?xf32>, memref<5x?xf32>
  return
}

func.func @finalize_rows_c2_f64(%m: memref<?xf64>, %l: memref<?xf64>, %a: memref<?x8xf64>, %o: memref<?x8xf64>) {
  attn.finalize_rows %m, %l, %a outs(%o : memref<?x8xf64>) {schedule = #s} : memref<?xf64>, memref<?xf64>, memref<?x8xf64>
  return
}

func.func @finalize_rows_c3_f16(%m: memref<?xf32>, %l: memref<?xf32>, %a: memref<?x8xf32>, %o: memref<?x8xf16>) {
  attn.finalize_rows %m, %l, %a outs(%o : memref<?x8xf16>) {schedule = #s} : memref<?xf32>, memref<?xf32>, memref<?x8xf32>
  return
}

func.func @finalize_rows_c4_lse(%m: memref<?xf32>, %l: memref<?xf32>, %a: memref<?x8xf32>, %o: memref<?x8xf32>, %e: memref<?xf32>) {
  attn.finalize_rows %m, %l, %a outs(%o, %e : memref<?x8xf32>, memref<?xf32>) {schedule = #s} : memref<?xf32>, memref<?xf32>, memref<?x8xf32>
  return
}

func.func @finalize_rows_c5_result(%m: tensor<?xf32>, %l: tensor<?xf32>, %a: tensor<?x8xf32>, %o: tensor<?x8xf32>) {
  %r = attn.finalize_rows %m, %l, %a outs(%o : tensor<?x8xf32>) {schedule = #s} : tensor<?xf32>, tensor<?xf32>, tensor<?x8xf32> -> tensor<?x8xf32>
  return
}
