// RUN: attn-opt %s -verify-diagnostics
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What attn.combine accepts; the numbers are those of docs/Spec.md.
#d = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0, kind = decode, split_keys = 64>

func.func @combine_c1_rank_3(%p: memref<?x?x10xf32>, %o: memref<?x8xf16>) {
  attn.combine %p outs(%o : memref<?x8xf16>) {schedule = #d} : memref<?x?x10xf32>
  return
}

func.func @combine_c2_unknown_rows(%p: memref<3x4x10xf32>, %o: memref<?x8xf32>) {
  attn.combine %p outs(%o : memref<?x8xf32>) {schedule = #d} : memref<3x4x10xf32>
  return
}

func.func @combine_c3_lse(%p: memref<?x?x10xf32>, %o: memref<?x8xf32>, %l: memref<?xf32>) {
  attn.combine %p outs(%o, %l : memref<?x8xf32>, memref<?xf32>) {schedule = #d} : memref<?x?x10xf32>
  return
}

func.func @combine_c4_result(%p: tensor<?x?x10xf32>, %o: tensor<?x8xf32>) {
  %r = attn.combine %p outs(%o : tensor<?x8xf32>) {schedule = #d} : tensor<?x?x10xf32> -> tensor<?x8xf32>
  return
}

func.func @combine_c5_sink(%p: memref<?x?x10xf64>, %o: memref<?x8xf64>, %l: memref<?xf64>, %s: f64) {
  attn.combine %p sink %s : f64 outs(%o, %l : memref<?x8xf64>, memref<?xf64>) {schedule = #d} : memref<?x?x10xf64>
  return
}
