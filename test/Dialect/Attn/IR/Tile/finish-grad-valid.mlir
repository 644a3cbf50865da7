// RUN: attn-opt %s -verify-diagnostics
// RUN: attn-opt %s | attn-opt -verify-diagnostics
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What attn.finish_grad accepts; the numbers are those of docs/SpecTiles.md.
#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>

func.func @finish_grad_c1_matrix(%s: !attn.grad_state<16 x 4 x 8, f32>, %dq: memref<?x4xf32>) {
  attn.finish_grad %s outs(%dq : memref<?x4xf32>) {schedule = #s} : !attn.grad_state<16 x 4 x 8, f32>
  return
}

func.func @finish_grad_c2_prefill(%s: !attn.grad_state<16 x 4 x 8, f32>, %dq: memref<?x4xf32>) {
  attn.finish_grad %s outs(%dq : memref<?x4xf32>) {schedule = #s} : !attn.grad_state<16 x 4 x 8, f32>
  return
}

func.func @finish_grad_c3_result(%s: !attn.grad_state<16 x 4 x 8, f32>, %dq: tensor<?x4xf32>) {
  %r = attn.finish_grad %s outs(%dq : tensor<?x4xf32>) {schedule = #s} : !attn.grad_state<16 x 4 x 8, f32> -> tensor<?x4xf32>
  return
}
