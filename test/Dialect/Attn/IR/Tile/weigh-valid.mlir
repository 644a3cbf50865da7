// RUN: attn-opt %s -verify-diagnostics
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What attn.weigh accepts; the numbers are those of docs/Spec.md.
#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>
#d = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0, kind = decode, split_keys = 64>

func.func @weigh_c1_key_tile(%s: !attn.state<16 x 4 x 8, f32>, %k: memref<?x4xf32>, %i: index, %w: memref<?x?xf32>) {
  attn.weigh %s, %k rows %i to %i keys from %i lengths %i, %i scale 0.5 weights %w : memref<?x?xf32> {schedule = #s}
      : !attn.state<16 x 4 x 8, f32>, memref<?x4xf32>
  return
}

func.func @weigh_c2_scores_with_stage(%s: !attn.state<16 x 4 x 8, f32>, %k: memref<?x4xf32>, %i: index, %w: memref<?x?xf32>) {
  attn.weigh %s, %k rows %i to %i keys from %i lengths %i, %i scale 0.5 scores %w : memref<?x?xf32> {schedule = #s, stage = #attn<scores_stage scaled>}
      : !attn.state<16 x 4 x 8, f32>, memref<?x4xf32>
  return
}

func.func @weigh_c3_mask_with_operand(%s: !attn.state<16 x 4 x 8, f32>, %k: memref<?x4xf32>, %i: index, %w: memref<?x?xf32>, %n: index) {
  attn.weigh %s, %k rows %i to %i keys from %i lengths %i, %i scale 0.5 where causal(offset = %n : index) weights %w : memref<?x?xf32> {schedule = #s}
      : !attn.state<16 x 4 x 8, f32>, memref<?x4xf32>
  return
}

func.func @weigh_c4_bias_column(%s: !attn.state<16 x 4 x 8, f32>, %k: memref<?x4xf32>, %i: index, %w: memref<?x?xf32>, %b: memref<?x1xf32>) {
  attn.weigh %s, %k rows %i to %i keys from %i lengths %i, %i scale 0.5 bias %b : memref<?x1xf32> weights %w : memref<?x?xf32> {schedule = #s}
      : !attn.state<16 x 4 x 8, f32>, memref<?x4xf32>
  return
}

func.func @weigh_c5_strided_matrix(%s: !attn.state<16 x 4 x 8, f32>, %k: memref<?x4xf32>, %i: index, %w: memref<?x?xf32, strided<[?, 1], offset: ?>>) {
  attn.weigh %s, %k rows %i to %i keys from %i lengths %i, %i scale 0.5 weights %w : memref<?x?xf32, strided<[?, 1], offset: ?>> {schedule = #s}
      : !attn.state<16 x 4 x 8, f32>, memref<?x4xf32>
  return
}

func.func @weigh_c6_result_per_tensor(%s: !attn.state<16 x 4 x 8, f32>, %k: memref<?x4xf32>, %i: index, %w: tensor<?x?xf32>) {
  %r = attn.weigh %s, %k rows %i to %i keys from %i lengths %i, %i scale 0.5 weights %w : tensor<?x?xf32> {schedule = #s}
      : !attn.state<16 x 4 x 8, f32>, memref<?x4xf32> -> tensor<?x?xf32>
  return
}

func.func @weigh_c8_captured_buffer(%s: !attn.state<16 x 4 x 8, f32>, %k: memref<?x4xf32>, %i: index, %t: memref<4xf32>, %w: memref<?x?xf32>) {
  attn.weigh %s, %k rows %i to %i keys from %i lengths %i, %i scale 0.5 score_mod (%x: f32, %b, %h, %q, %j) of %i, %i with (%u = %t : memref<4xf32>) {
    %g = memref.load %u[%h] : memref<4xf32>
    attn.yield %x : f32
  } weights %w : memref<?x?xf32> {schedule = #s}
      : !attn.state<16 x 4 x 8, f32>, memref<?x4xf32>
  return
}

func.func @weigh_c7_decode(%s: !attn.state<16 x 4 x 8, f32, decode>, %k: memref<?x4xf32>, %i: index, %w: memref<?x?xf32>) {
  attn.weigh %s, %k rows %i to %i keys from %i lengths %i, %i scale 0.5 weights %w : memref<?x?xf32> {schedule = #d}
      : !attn.state<16 x 4 x 8, f32, decode>, memref<?x4xf32>
  return
}

func.func @weigh_c9_pairs(%s: !attn.state<16 x 4 x 8, f32>, %k: memref<?x4xbf16>, %i: index, %w: memref<?x?xf32>) {
  attn.weigh %s, %k rows %i to %i keys from %i lengths %i, %i scale 0.5 weights %w : memref<?x?xf32> {schedule = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0, products = dot>}
      : !attn.state<16 x 4 x 8, f32>, memref<?x4xbf16>
  return
}

func.func @weigh_c9_tiles(%s: !attn.state<32 x 4 x 8, f32>, %k: memref<?x4xbf16>, %i: index, %w: memref<?x?xf32>) {
  attn.weigh %s, %k rows %i to %i keys from %i lengths %i, %i scale 0.5 weights %w : memref<?x?xf32> {schedule = #attn.cpu_schedule<lanes = 16, rows = 32, vectors = 2, query_tile = 32, key_tile = 64, unroll = 1, prefetch = 0, products = amx>}
      : !attn.state<32 x 4 x 8, f32>, memref<?x4xbf16>
  return
}
