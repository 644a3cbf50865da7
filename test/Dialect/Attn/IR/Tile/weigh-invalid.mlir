// RUN: attn-opt %s -split-input-file -verify-diagnostics
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What attn.weigh rejects; the numbers are those of docs/Spec.md.
#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>

func.func @weigh_c1_key_of_other_columns(%s: !attn.state<16 x 4 x 8, f32>, %k: memref<?x8xf32>, %i: index, %w: memref<?x?xf32>) {
  // expected-error@+1 {{expects the key tile to be a matrix of 4 columns, but got 'memref<?x8xf32>'}}
  attn.weigh %s, %k rows %i to %i keys from %i lengths %i, %i scale 0.5 weights %w : memref<?x?xf32> {schedule = #s}
      : !attn.state<16 x 4 x 8, f32>, memref<?x8xf32>
  return
}

// -----

#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>

func.func @weigh_c2_scores_without_stage(%s: !attn.state<16 x 4 x 8, f32>, %k: memref<?x4xf32>, %i: index, %w: memref<?x?xf32>) {
  // expected-error@+1 {{expects a stage exactly where there are scores}}
  attn.weigh %s, %k rows %i to %i keys from %i lengths %i, %i scale 0.5 scores %w : memref<?x?xf32> {schedule = #s}
      : !attn.state<16 x 4 x 8, f32>, memref<?x4xf32>
  return
}

// -----

#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>

func.func @weigh_c2_stage_without_scores(%s: !attn.state<16 x 4 x 8, f32>, %k: memref<?x4xf32>, %i: index, %w: memref<?x?xf32>) {
  // expected-error@+1 {{expects a stage exactly where there are scores}}
  attn.weigh %s, %k rows %i to %i keys from %i lengths %i, %i scale 0.5 weights %w : memref<?x?xf32> {schedule = #s, stage = #attn<scores_stage scaled>}
      : !attn.state<16 x 4 x 8, f32>, memref<?x4xf32>
  return
}

// -----

#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>

func.func @weigh_c3_float_length(%s: !attn.state<16 x 4 x 8, f32>, %k: memref<?x4xf32>, %i: index, %w: memref<?x?xf32>, %n: memref<f32>) {
  // expected-error@+1 {{expects the operand of key_length to be a tensor of i32 or i64, of rank 0 or with one element per batch entry, but got 'memref<f32>'}}
  attn.weigh %s, %k rows %i to %i keys from %i lengths %i, %i scale 0.5 where key_length(%n : memref<f32>) weights %w : memref<?x?xf32> {schedule = #s}
      : !attn.state<16 x 4 x 8, f32>, memref<?x4xf32>
  return
}

// -----

#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>

func.func @weigh_c4_bias_of_rank_4(%s: !attn.state<16 x 4 x 8, f32>, %k: memref<?x4xf32>, %i: index, %w: memref<?x?xf32>, %b: memref<1x1x?x?xf32>) {
  // expected-error@+1 {{expects the bias to have at most rank 2, but got 'memref<1x1x?x?xf32>'}}
  attn.weigh %s, %k rows %i to %i keys from %i lengths %i, %i scale 0.5 bias %b : memref<1x1x?x?xf32> weights %w : memref<?x?xf32> {schedule = #s}
      : !attn.state<16 x 4 x 8, f32>, memref<?x4xf32>
  return
}

// -----

#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>

func.func @weigh_c5_weights_of_rank_3(%s: !attn.state<16 x 4 x 8, f32>, %k: memref<?x4xf32>, %i: index, %w: memref<1x?x?xf32>) {
  // expected-error@+1 {{expects weights to be a matrix of any number of columns, but got 'memref<1x?x?xf32>'}}
  attn.weigh %s, %k rows %i to %i keys from %i lengths %i, %i scale 0.5 weights %w : memref<1x?x?xf32> {schedule = #s}
      : !attn.state<16 x 4 x 8, f32>, memref<?x4xf32>
  return
}

// -----

#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>

func.func @weigh_c5_scores_of_rank_1(%s: !attn.state<16 x 4 x 8, f32>, %k: memref<?x4xf32>, %i: index, %w: memref<?xf32>) {
  // expected-error@+1 {{expects scores to be a matrix of any number of columns, but got 'memref<?xf32>'}}
  attn.weigh %s, %k rows %i to %i keys from %i lengths %i, %i scale 0.5 scores %w : memref<?xf32> {schedule = #s, stage = #attn<scores_stage raw>}
      : !attn.state<16 x 4 x 8, f32>, memref<?x4xf32>
  return
}

// -----

#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>

func.func @weigh_c6_result_of_memref(%s: !attn.state<16 x 4 x 8, f32>, %k: memref<?x4xf32>, %i: index, %w: memref<?x?xf32>, %t: tensor<?x?xf32>) {
  // expected-error@+1 {{expected the number of tensor results (1) to be equal to the number of output tensors (0)}}
  %r = attn.weigh %s, %k rows %i to %i keys from %i lengths %i, %i scale 0.5 weights %w : memref<?x?xf32> {schedule = #s}
      : !attn.state<16 x 4 x 8, f32>, memref<?x4xf32> -> tensor<?x?xf32>
  return
}

// -----

#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>

func.func @weigh_c8_side_effect(%s: !attn.state<16 x 4 x 8, f32>, %k: memref<?x4xf32>, %i: index, %t: memref<4xf32>, %w: memref<?x?xf32>) {
  // expected-error@+1 {{expects a score function without side effects, but it has 'memref.store'}}
  attn.weigh %s, %k rows %i to %i keys from %i lengths %i, %i scale 0.5 score_mod (%x: f32, %b, %h, %q, %j) of %i, %i with (%u = %t : memref<4xf32>) {
    memref.store %x, %u[%h] : memref<4xf32>
    attn.yield %x : f32
  } weights %w : memref<?x?xf32> {schedule = #s}
      : !attn.state<16 x 4 x 8, f32>, memref<?x4xf32>
  return
}

// -----

#d = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0, kind = decode, split_keys = 64>

func.func @weigh_c7_other_kind(%s: !attn.state<16 x 4 x 8, f32>, %k: memref<?x4xf32>, %i: index, %w: memref<?x?xf32>) {
  // expected-error@+1 {{expects a schedule of the state's kind prefill, but got decode}}
  attn.weigh %s, %k rows %i to %i keys from %i lengths %i, %i scale 0.5 weights %w : memref<?x?xf32> {schedule = #d}
      : !attn.state<16 x 4 x 8, f32>, memref<?x4xf32>
  return
}

// -----

func.func @weigh_c9_keys_of_f32(%s: !attn.state<16 x 4 x 8, f32>, %k: memref<?x4xf32>, %i: index, %w: memref<?x?xf32>) {
  // expected-error@+1 {{expects elements of bf16 for products = dot, but got 'memref<?x4xf32>'}}
  attn.weigh %s, %k rows %i to %i keys from %i lengths %i, %i scale 0.5 weights %w : memref<?x?xf32> {schedule = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0, products = dot>}
      : !attn.state<16 x 4 x 8, f32>, memref<?x4xf32>
  return
}

// -----

func.func @weigh_c9_state_of_f64(%s: !attn.state<16 x 4 x 8, f64>, %k: memref<?x4xbf16>, %i: index, %w: memref<?x?xf32>) {
  // expected-error@+1 {{expects a state of f32 by softmax for products = dot, but got '!attn.state<16 x 4 x 8, f64>'}}
  attn.weigh %s, %k rows %i to %i keys from %i lengths %i, %i scale 0.5 weights %w : memref<?x?xf32> {schedule = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0, products = dot>}
      : !attn.state<16 x 4 x 8, f64>, memref<?x4xbf16>
  return
}

// -----

func.func @weigh_c9_tiles_of_f32(%s: !attn.state<32 x 4 x 8, f32>, %k: memref<?x4xf32>, %i: index, %w: memref<?x?xf32>) {
  // expected-error@+1 {{expects elements of bf16 for products = amx, but got 'memref<?x4xf32>'}}
  attn.weigh %s, %k rows %i to %i keys from %i lengths %i, %i scale 0.5 weights %w : memref<?x?xf32> {schedule = #attn.cpu_schedule<lanes = 16, rows = 32, vectors = 2, query_tile = 32, key_tile = 64, unroll = 1, prefetch = 0, products = amx>}
      : !attn.state<32 x 4 x 8, f32>, memref<?x4xf32>
  return
}
