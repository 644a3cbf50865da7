// RUN: attn-opt %s -split-input-file -verify-diagnostics
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What attn.finish_grad rejects; the numbers are those of docs/SpecTiles.md.
#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>
#d = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0, kind = decode, split_keys = 64>

func.func @finish_grad_c1_columns(%s: !attn.grad_state<16 x 4 x 8, f32>, %dq: memref<?x6xf32>) {
  // expected-error@+1 {{expects the gradient by queries to be a matrix of 4 columns}}
  attn.finish_grad %s outs(%dq : memref<?x6xf32>) {schedule = #s} : !attn.grad_state<16 x 4 x 8, f32>
  return
}

// -----

#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>
#d = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0, kind = decode, split_keys = 64>

func.func @finish_grad_c2_decode(%s: !attn.grad_state<16 x 4 x 8, f32>, %dq: memref<?x4xf32>) {
  // expected-error@+1 {{expects a schedule of kind prefill}}
  attn.finish_grad %s outs(%dq : memref<?x4xf32>) {schedule = #d} : !attn.grad_state<16 x 4 x 8, f32>
  return
}

// -----

#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>
#d = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0, kind = decode, split_keys = 64>

func.func @finish_grad_c3_no_result(%s: !attn.grad_state<16 x 4 x 8, f32>, %dq: tensor<?x4xf32>) {
  // expected-error@+1 {{expected the number of tensor results (0) to be equal to the number of output tensors (1)}}
  attn.finish_grad %s outs(%dq : tensor<?x4xf32>) {schedule = #s} : !attn.grad_state<16 x 4 x 8, f32>
  return
}
