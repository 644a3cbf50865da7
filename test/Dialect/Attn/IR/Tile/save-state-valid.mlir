// RUN: attn-opt %s -verify-diagnostics
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What attn.save_state accepts; the numbers are those of docs/Spec.md.
#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>
#d = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0, kind = decode, split_keys = 64>

func.func @save_state_c1_ten_columns(%s: !attn.state<16 x 4 x 8, f32, decode>, %p: memref<?x10xf32>) {
  attn.save_state %s outs(%p : memref<?x10xf32>) {schedule = #d} : !attn.state<16 x 4 x 8, f32, decode>
  return
}

func.func @save_state_c2_f64(%s: !attn.state<16 x 4 x 8, f64, decode>, %p: memref<?x10xf64>) {
  attn.save_state %s outs(%p : memref<?x10xf64>) {schedule = #d} : !attn.state<16 x 4 x 8, f64, decode>
  return
}

func.func @save_state_c3_result(%s: !attn.state<16 x 4 x 8, f32, decode>, %p: tensor<?x10xf32>) {
  %r = attn.save_state %s outs(%p : tensor<?x10xf32>) {schedule = #d} : !attn.state<16 x 4 x 8, f32, decode> -> tensor<?x10xf32>
  return
}

func.func @save_state_c4_prefill(%s: !attn.state<16 x 4 x 8, f32>, %p: memref<16x10xf32>) {
  attn.save_state %s outs(%p : memref<16x10xf32>) {schedule = #s} : !attn.state<16 x 4 x 8, f32>
  return
}

func.func @save_state_c5_of_prefill(%s: !attn.state<16 x 4 x 8, f32>, %p: memref<?x10xf32>) {
  attn.save_state %s outs(%p : memref<?x10xf32>)
      {schedule = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>} : !attn.state<16 x 4 x 8, f32>
  return
}
