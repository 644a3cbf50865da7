// RUN: attn-opt %s -verify-diagnostics
// RUN: attn-opt %s | attn-opt -verify-diagnostics
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What attn.init_grad accepts; the numbers are those of docs/SpecTiles.md.
#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>

func.func @init_grad_c1_matrices(%q: memref<?x4xf32>, %o: memref<?x8xf32>, %d: memref<?x8xf32>, %l: memref<?xf32>) {
  %s = attn.init_grad %q out %o cotangents %d lse %l scale 0.5 {schedule = #s} : memref<?x4xf32>, memref<?x8xf32>, memref<?x8xf32>, memref<?xf32> -> !attn.grad_state<16 x 4 x 8, f32>
  return
}

func.func @init_grad_c2_cotangent_of_lse(%q: memref<?x4xf32>, %o: memref<?x8xf32>, %d: memref<?x8xf32>, %l: memref<?xf32>, %dl: memref<?xf32>) {
  %s = attn.init_grad %q out %o cotangents %d lse %l, %dl : memref<?xf32> scale 0.5 {schedule = #s} : memref<?x4xf32>, memref<?x8xf32>, memref<?x8xf32>, memref<?xf32> -> !attn.grad_state<16 x 4 x 8, f32>
  return
}

func.func @init_grad_c3_prefill(%q: memref<?x4xf32>, %o: memref<?x8xf32>, %d: memref<?x8xf32>, %l: memref<?xf32>) {
  %s = attn.init_grad %q out %o cotangents %d lse %l scale 0.5 {schedule = #s} : memref<?x4xf32>, memref<?x8xf32>, memref<?x8xf32>, memref<?xf32> -> !attn.grad_state<16 x 4 x 8, f32>
  return
}
