// RUN: attn-opt %s -split-input-file -verify-diagnostics
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What attn.online rejects; the numbers are those of docs/Spec.md.
#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>

func.func @online_c1_other_state(%s: !attn.state<16 x 4 x 8, f32>, %k: memref<?x4xf32>, %v: memref<?x8xf32>, %i: index) {
  // expected-error@+1 {{failed to verify that all of {state, next} have same type}}
  %r = "attn.online"(%s, %k, %v, %i, %i, %i, %i, %i) <{mode = #attn<tile_mode full>, schedule = #s, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0>}> ({})
      : (!attn.state<16 x 4 x 8, f32>, memref<?x4xf32>, memref<?x8xf32>, index, index, index, index, index) -> !attn.state<8 x 4 x 8, f32>
  return
}

// -----

#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>

func.func @online_c2_key_of_other_columns(%s: !attn.state<16 x 4 x 8, f32>, %k: memref<?x5xf32>, %v: memref<?x8xf32>, %i: index) {
  // expected-error@+1 {{expects the key tile to be a matrix of 4 columns, but got 'memref<?x5xf32>'}}
  %r = attn.online %s, %k, %v rows %i to %i keys from %i lengths %i, %i mode edge {schedule = #s}
      : !attn.state<16 x 4 x 8, f32>, memref<?x5xf32>, memref<?x8xf32>
  return
}

// -----

#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>

func.func @online_c2_key_of_rank_1(%s: !attn.state<16 x 4 x 8, f32>, %k: memref<4xf32>, %v: memref<?x8xf32>, %i: index) {
  // expected-error@+1 {{expects the key tile to be a matrix of 4 columns}}
  %r = attn.online %s, %k, %v rows %i to %i keys from %i lengths %i, %i mode edge {schedule = #s}
      : !attn.state<16 x 4 x 8, f32>, memref<4xf32>, memref<?x8xf32>
  return
}

// -----

#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>

func.func @online_c3_value_of_other_columns(%s: !attn.state<16 x 4 x 8, f32>, %k: memref<?x4xf32>, %v: memref<?x4xf32>, %i: index) {
  // expected-error@+1 {{expects the value tile to be a matrix of 8 columns, but got 'memref<?x4xf32>'}}
  %r = attn.online %s, %k, %v rows %i to %i keys from %i lengths %i, %i mode edge {schedule = #s}
      : !attn.state<16 x 4 x 8, f32>, memref<?x4xf32>, memref<?x4xf32>
  return
}

// -----

#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>

func.func @online_c4_length_per_batch_entry(%s: !attn.state<16 x 4 x 8, f32>, %k: memref<?x4xf32>, %v: memref<?x8xf32>, %i: index, %n: memref<2xi32>) {
  // expected-error@+1 {{expects the operand of key_length to have rank 0 where the scores have no batch dimension, but got 'memref<2xi32>'}}
  %r = attn.online %s, %k, %v rows %i to %i keys from %i lengths %i, %i where key_length(%n : memref<2xi32>) mode edge {schedule = #s}
      : !attn.state<16 x 4 x 8, f32>, memref<?x4xf32>, memref<?x8xf32>
  return
}

// -----

#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>

func.func @online_c4_boolean_of_rank_4(%s: !attn.state<16 x 4 x 8, f32>, %k: memref<?x4xf32>, %v: memref<?x8xf32>, %i: index, %n: memref<1x1x5x6xi1>) {
  // expected-error@+1 {{expects the boolean mask to broadcast to the scores from the right, but got 'memref<1x1x5x6xi1>'}}
  %r = attn.online %s, %k, %v rows %i to %i keys from %i lengths %i, %i where %n : memref<1x1x5x6xi1> mode edge {schedule = #s}
      : !attn.state<16 x 4 x 8, f32>, memref<?x4xf32>, memref<?x8xf32>
  return
}

// -----

#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>

func.func @online_c4_operand_without_mask(%s: !attn.state<16 x 4 x 8, f32>, %k: memref<?x4xf32>, %v: memref<?x8xf32>, %i: index) {
  // expected-error@+1 {{expects a mask where there are mask operands}}
  %r = "attn.online"(%s, %k, %v, %i, %i, %i, %i, %i, %i) <{mode = #attn<tile_mode full>, schedule = #s, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 1, 1, 0, 1, 0, 0, 0, 0, 0>}> ({})
      : (!attn.state<16 x 4 x 8, f32>, memref<?x4xf32>, memref<?x8xf32>, index, index, index, index, index, index) -> !attn.state<16 x 4 x 8, f32>
  return
}

// -----

#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>

func.func @online_c5_other_value_count(%s: !attn.state<16 x 4 x 8, f32>, %k: memref<6x4xf32>, %v: memref<7x8xf32>, %i: index) {
  // expected-error@+1 {{expects as many keys as values in the tile, but got 6 and 7}}
  %r = attn.online %s, %k, %v rows %i to %i keys from %i lengths %i, %i mode edge {schedule = #s}
      : !attn.state<16 x 4 x 8, f32>, memref<6x4xf32>, memref<7x8xf32>
  return
}

// -----

#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>

func.func @online_c6_bias_of_rank_3(%s: !attn.state<16 x 4 x 8, f32>, %k: memref<?x4xf32>, %v: memref<?x8xf32>, %i: index, %b: memref<1x5x6xf32>) {
  // expected-error@+1 {{expects the bias to have at most rank 2, but got 'memref<1x5x6xf32>'}}
  %r = attn.online %s, %k, %v rows %i to %i keys from %i lengths %i, %i bias %b : memref<1x5x6xf32> mode edge {schedule = #s}
      : !attn.state<16 x 4 x 8, f32>, memref<?x4xf32>, memref<?x8xf32>
  return
}

// -----

#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>

func.func @online_c9_side_effect(%s: !attn.state<16 x 4 x 8, f32>, %k: memref<?x4xf32>, %v: memref<?x8xf32>, %i: index, %t: memref<4xf32>) {
  // expected-error@+1 {{expects a score function without side effects, but it has 'memref.store'}}
  %r = attn.online %s, %k, %v rows %i to %i keys from %i lengths %i, %i score_mod (%x: f32, %b, %h, %q, %j) of %i, %i with (%u = %t : memref<4xf32>) {
    memref.store %x, %u[%h] : memref<4xf32>
    attn.yield %x : f32
  } mode edge {schedule = #s}
      : !attn.state<16 x 4 x 8, f32>, memref<?x4xf32>, memref<?x8xf32>
  return
}

// -----

#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>

func.func @online_c9_batch_entry_of_other_type(%s: !attn.state<16 x 4 x 8, f32>, %k: memref<?x4xf32>, %v: memref<?x8xf32>, %i: index, %n: i32, %t: memref<4xf32>) {
  // expected-error@+1 {{expects a score function of a batch entry and a head, both of type index}}
  %r = "attn.online"(%s, %k, %v, %i, %i, %i, %i, %i, %n, %n) <{mode = #attn<tile_mode edge>, schedule = #s, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 2, 0, 0, 0, 0>}> ({
  ^bb0(%x: f32, %b: index, %h: index, %q: index, %j: index):
    "attn.yield"(%x) : (f32) -> ()
  }) : (!attn.state<16 x 4 x 8, f32>, memref<?x4xf32>, memref<?x8xf32>, index, index, index, index, index, i32, i32) -> !attn.state<16 x 4 x 8, f32>
  return
}

// -----

#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>

func.func @online_c7_no_head(%s: !attn.state<16 x 4 x 8, f32>, %k: memref<?x4xf32>, %v: memref<?x8xf32>, %i: index) {
  // expected-error@+1 {{expects at least 1 head, but got 0}}
  %r = attn.online %s, %k, %v rows %i to %i keys from %i lengths %i, %i mode edge {schedule = #s, heads = 0 : i64}
      : !attn.state<16 x 4 x 8, f32>, memref<?x4xf32>, memref<?x8xf32>
  return
}

// -----

#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>

func.func @online_c8_other_kind(%s: !attn.state<16 x 4 x 8, f32, decode>, %k: memref<?x4xf32>, %v: memref<?x8xf32>, %i: index) {
  // expected-error@+1 {{expects a schedule of the state's kind decode, but got prefill}}
  %r = attn.online %s, %k, %v rows %i to %i keys from %i lengths %i, %i mode edge {schedule = #s}
      : !attn.state<16 x 4 x 8, f32, decode>, memref<?x4xf32>, memref<?x8xf32>
  return
}

// -----

func.func @online_c10_keys_of_f16(%s: !attn.state<16 x 4 x 8, f32>, %k: memref<?x4xf16>, %v: memref<?x8xbf16>, %i: index) {
  // expected-error@+1 {{expects elements of bf16 for products = dot, but got 'memref<?x4xf16>'}}
  %r = attn.online %s, %k, %v rows %i to %i keys from %i lengths %i, %i mode edge {schedule = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0, products = dot>}
      : !attn.state<16 x 4 x 8, f32>, memref<?x4xf16>, memref<?x8xbf16>
  return
}

// -----

func.func @online_c10_values_of_f32(%s: !attn.state<16 x 4 x 8, f32>, %k: memref<?x4xbf16>, %v: memref<?x8xf32>, %i: index) {
  // expected-error@+1 {{expects elements of bf16 for products = dot, but got 'memref<?x8xf32>'}}
  %r = attn.online %s, %k, %v rows %i to %i keys from %i lengths %i, %i mode edge {schedule = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0, products = dot>}
      : !attn.state<16 x 4 x 8, f32>, memref<?x4xbf16>, memref<?x8xf32>
  return
}

// -----

func.func @online_c10_state_of_f64(%s: !attn.state<16 x 4 x 8, f64>, %k: memref<?x4xbf16>, %v: memref<?x8xbf16>, %i: index) {
  // expected-error@+1 {{expects a state of f32 by softmax for products = dot, but got '!attn.state<16 x 4 x 8, f64>'}}
  %r = attn.online %s, %k, %v rows %i to %i keys from %i lengths %i, %i mode edge {schedule = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0, products = dot>}
      : !attn.state<16 x 4 x 8, f64>, memref<?x4xbf16>, memref<?x8xbf16>
  return
}

// -----

#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>

func.func @online_c11_state_without_key(%s: !attn.state<16 x 4 x 8, f32>, %k: memref<?x4xf32>, %v: memref<?x8xf32>, %i: index) {
  // expected-error@+1 {{expects all of second state, second key and second result where one is given}}
  %r:2 = "attn.online"(%s, %k, %v, %i, %i, %i, %i, %i, %s) <{mode = #attn<tile_mode full>, schedule = #s, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 1, 0>}> ({})
      : (!attn.state<16 x 4 x 8, f32>, memref<?x4xf32>, memref<?x8xf32>, index, index, index, index, index, !attn.state<16 x 4 x 8, f32>) -> (!attn.state<16 x 4 x 8, f32>, !attn.state<16 x 4 x 8, f32>)
  return
}

// -----

#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>

func.func @online_c11_no_second_result(%s: !attn.state<16 x 4 x 8, f32>, %k: memref<?x4xf32>, %v: memref<?x8xf32>, %i: index) {
  // expected-error@+1 {{expects all of second state, second key and second result where one is given}}
  %r = "attn.online"(%s, %k, %v, %i, %i, %i, %i, %i, %s, %k) <{mode = #attn<tile_mode full>, schedule = #s, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 1, 1>}> ({})
      : (!attn.state<16 x 4 x 8, f32>, memref<?x4xf32>, memref<?x8xf32>, index, index, index, index, index, !attn.state<16 x 4 x 8, f32>, memref<?x4xf32>) -> !attn.state<16 x 4 x 8, f32>
  return
}

// -----

#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>

func.func @online_c12_other_state(%s: !attn.state<16 x 4 x 8, f32>, %k: memref<?x4xf32>, %v: memref<?x8xf32>, %i: index, %o: !attn.state<16 x 4 x 6, f32>) {
  // expected-error@+1 {{expects the second state to have the type of the first '!attn.state<16 x 4 x 8, f32>', but got '!attn.state<16 x 4 x 6, f32>'}}
  %r:2 = "attn.online"(%s, %k, %v, %i, %i, %i, %i, %i, %o, %k) <{mode = #attn<tile_mode full>, schedule = #s, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 1, 1>}> ({})
      : (!attn.state<16 x 4 x 8, f32>, memref<?x4xf32>, memref<?x8xf32>, index, index, index, index, index, !attn.state<16 x 4 x 6, f32>, memref<?x4xf32>) -> (!attn.state<16 x 4 x 8, f32>, !attn.state<16 x 4 x 8, f32>)
  return
}

// -----

#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>

func.func @online_c12_other_result(%s: !attn.state<16 x 4 x 8, f32>, %k: memref<?x4xf32>, %v: memref<?x8xf32>, %i: index) {
  // expected-error@+1 {{expects the second state to have the type of the first '!attn.state<16 x 4 x 8, f32>', but got '!attn.state<16 x 4 x 6, f32>'}}
  %r:2 = "attn.online"(%s, %k, %v, %i, %i, %i, %i, %i, %s, %k) <{mode = #attn<tile_mode full>, schedule = #s, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 1, 1>}> ({})
      : (!attn.state<16 x 4 x 8, f32>, memref<?x4xf32>, memref<?x8xf32>, index, index, index, index, index, !attn.state<16 x 4 x 8, f32>, memref<?x4xf32>) -> (!attn.state<16 x 4 x 8, f32>, !attn.state<16 x 4 x 6, f32>)
  return
}

// -----

#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>

func.func @online_c13_other_columns(%s: !attn.state<16 x 4 x 8, f32>, %k: memref<?x4xf32>, %v: memref<?x8xf32>, %i: index, %j: memref<?x5xf32>) {
  // expected-error@+1 {{expects the second key tile to be a matrix of 4 columns, but got 'memref<?x5xf32>'}}
  %r:2 = attn.online %s, %k, %v rows %i to %i keys from %i lengths %i, %i mode edge second %s, %j : !attn.state<16 x 4 x 8, f32>, memref<?x5xf32> {schedule = #s}
      : !attn.state<16 x 4 x 8, f32>, memref<?x4xf32>, memref<?x8xf32>
  return
}

// -----

#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>

func.func @online_c13_other_element(%s: !attn.state<16 x 4 x 8, f32>, %k: memref<?x4xf32>, %v: memref<?x8xf32>, %i: index, %j: memref<?x4xf16>) {
  // expected-error@+1 {{expects as many second keys as keys, of their element type, but got 'memref<?x4xf16>' and 'memref<?x4xf32>'}}
  %r:2 = attn.online %s, %k, %v rows %i to %i keys from %i lengths %i, %i mode edge second %s, %j : !attn.state<16 x 4 x 8, f32>, memref<?x4xf16> {schedule = #s}
      : !attn.state<16 x 4 x 8, f32>, memref<?x4xf32>, memref<?x8xf32>
  return
}

// -----

#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>

func.func @online_c13_other_count(%s: !attn.state<16 x 4 x 8, f32>, %k: memref<?x4xf32>, %v: memref<?x8xf32>, %i: index, %j: memref<7x4xf32>, %l: memref<6x4xf32>) {
  // expected-error@+1 {{expects as many second keys as keys, of their element type, but got 'memref<7x4xf32>' and 'memref<6x4xf32>'}}
  %r:2 = attn.online %s, %l, %v rows %i to %i keys from %i lengths %i, %i mode edge second %s, %j : !attn.state<16 x 4 x 8, f32>, memref<7x4xf32> {schedule = #s}
      : !attn.state<16 x 4 x 8, f32>, memref<6x4xf32>, memref<?x8xf32>
  return
}

// -----

#d = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0, kind = decode, split_keys = 64>

func.func @online_c14_decode(%s: !attn.state<16 x 4 x 8, f32>, %k: memref<?x4xf32>, %v: memref<?x8xf32>, %i: index, %d: !attn.state<16 x 4 x 8, f32, decode>) {
  // expected-error@+1 {{expects a second state to have kind prefill}}
  %r:2 = attn.online %d, %k, %v rows %i to %i keys from %i lengths %i, %i mode edge second %d, %k : !attn.state<16 x 4 x 8, f32, decode>, memref<?x4xf32> {schedule = #d}
      : !attn.state<16 x 4 x 8, f32, decode>, memref<?x4xf32>, memref<?x8xf32>
  return
}

// -----

func.func @online_c10_tiles_by_sigmoid(%s: !attn.state<32 x 4 x 8, f32 by sigmoid>, %k: memref<?x4xbf16>, %v: memref<?x8xbf16>, %i: index) {
  // expected-error@+1 {{expects a state of f32 by softmax for products = amx}}
  %r = attn.online %s, %k, %v rows %i to %i keys from %i lengths %i, %i mode edge {schedule = #attn.cpu_schedule<lanes = 16, rows = 32, vectors = 2, query_tile = 32, key_tile = 64, unroll = 1, prefetch = 0, products = amx>}
      : !attn.state<32 x 4 x 8, f32 by sigmoid>, memref<?x4xbf16>, memref<?x8xbf16>
  return
}

// -----

#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>

func.func @online_c15_columns(%s: !attn.state<16 x 4 x 8, f32>, %k: memref<?x4xf32>, %v: memref<?x8xf32>, %i: index, %a: memref<?x?xf32>) {
  // expected-error@+1 {{expects a matrix with a known number of columns behind 'prefetch', but got 'memref<?x?xf32>'}}
  %r = attn.online %s, %k, %v rows %i to %i keys from %i lengths %i, %i mode full prefetch %k, %a : memref<?x4xf32>, memref<?x?xf32> {schedule = #s}
      : !attn.state<16 x 4 x 8, f32>, memref<?x4xf32>, memref<?x8xf32>
  return
}

// -----

#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>

func.func @online_c15_rank(%s: !attn.state<16 x 4 x 8, f32>, %k: memref<?x4xf32>, %v: memref<?x8xf32>, %i: index, %a: memref<?x8x4xf32>) {
  // expected-error@+1 {{expects a matrix with a known number of columns behind 'prefetch', but got 'memref<?x8x4xf32>'}}
  %r = attn.online %s, %k, %v rows %i to %i keys from %i lengths %i, %i mode full prefetch %a : memref<?x8x4xf32> {schedule = #s}
      : !attn.state<16 x 4 x 8, f32>, memref<?x4xf32>, memref<?x8xf32>
  return
}

// -----

#d = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0, kind = decode, split_keys = 64>

func.func @online_c15_decode(%s: !attn.state<16 x 4 x 8, f32, decode>, %k: memref<?x4xf32>, %v: memref<?x8xf32>, %i: index) {
  // expected-error@+1 {{expects 'prefetch' only with a state of kind prefill}}
  %r = attn.online %s, %k, %v rows %i to %i keys from %i lengths %i, %i mode full prefetch %k : memref<?x4xf32> {schedule = #d}
      : !attn.state<16 x 4 x 8, f32, decode>, memref<?x4xf32>, memref<?x8xf32>
  return
}

// -----

func.func @online_c17_no_head(%s: !attn.state<16 x 8 x 8, f32>, %k: memref<?x8xf32>, %i: index, %x: i64) -> !attn.state<16 x 8 x 8, f32> {
  // expected-error@+1 {{expects a dropout of a seed of type i64, a batch entry and a head of type index}}
  %r = attn.online %s, %k, %k rows %i to %i keys from %i lengths %i, %i dropout 0.5 of %x, %i : i64, index mode full
      {schedule = #attn.cpu_schedule<lanes = 8, rows = 6, vectors = 2, query_tile = 16, key_tile = 96, unroll = 4, prefetch = 0>} : !attn.state<16 x 8 x 8, f32>, memref<?x8xf32>, memref<?x8xf32>
  return %r : !attn.state<16 x 8 x 8, f32>
}
