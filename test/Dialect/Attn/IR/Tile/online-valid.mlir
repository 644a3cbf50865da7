// RUN: attn-opt %s -verify-diagnostics
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What attn.online accepts; the numbers are those of docs/Spec.md.
#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>
#d = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0, kind = decode, split_keys = 64>

func.func @online_c1_same_state(%s: !attn.state<16 x 4 x 8, f32>, %k: memref<?x4xf32>, %v: memref<?x8xf32>, %i: index) {
  %r = attn.online %s, %k, %v rows %i to %i keys from %i lengths %i, %i mode edge {schedule = #s}
      : !attn.state<16 x 4 x 8, f32>, memref<?x4xf32>, memref<?x8xf32>
  return
}

func.func @online_c2_key_tile(%s: !attn.state<16 x 4 x 8, f32>, %k: tensor<6x4xf16>, %v: tensor<6x8xf16>, %i: index) {
  %r = attn.online %s, %k, %v rows %i to %i keys from %i lengths %i, %i mode edge {schedule = #s}
      : !attn.state<16 x 4 x 8, f32>, tensor<6x4xf16>, tensor<6x8xf16>
  return
}

func.func @online_c3_value_tile(%s: !attn.state<16 x 4 x 8, f32>, %k: memref<6x4xf32>, %v: memref<6x8xf32>, %i: index) {
  %r = attn.online %s, %k, %v rows %i to %i keys from %i lengths %i, %i mode edge {schedule = #s}
      : !attn.state<16 x 4 x 8, f32>, memref<6x4xf32>, memref<6x8xf32>
  return
}

func.func @online_c4_mask_of_index(%s: !attn.state<16 x 4 x 8, f32>, %k: memref<?x4xf32>, %v: memref<?x8xf32>, %i: index, %n: index) {
  %r = attn.online %s, %k, %v rows %i to %i keys from %i lengths %i, %i where key_length(%n : index) mode edge {schedule = #s}
      : !attn.state<16 x 4 x 8, f32>, memref<?x4xf32>, memref<?x8xf32>
  return
}

func.func @online_c4_mask_of_matrix(%s: !attn.state<16 x 4 x 8, f32>, %k: memref<?x4xf32>, %v: memref<?x8xf32>, %i: index, %n: memref<?x1xi1>) {
  %r = attn.online %s, %k, %v rows %i to %i keys from %i lengths %i, %i where %n : memref<?x1xi1> mode edge {schedule = #s}
      : !attn.state<16 x 4 x 8, f32>, memref<?x4xf32>, memref<?x8xf32>
  return
}

func.func @online_c5_unknown_key_count(%s: !attn.state<16 x 4 x 8, f32>, %k: memref<6x4xf32>, %v: memref<?x8xf32>, %i: index) {
  %r = attn.online %s, %k, %v rows %i to %i keys from %i lengths %i, %i mode edge {schedule = #s}
      : !attn.state<16 x 4 x 8, f32>, memref<6x4xf32>, memref<?x8xf32>
  return
}

func.func @online_c6_bias_row(%s: !attn.state<16 x 4 x 8, f32>, %k: memref<?x4xf32>, %v: memref<?x8xf32>, %i: index, %b: memref<1x?xf32>) {
  %r = attn.online %s, %k, %v rows %i to %i keys from %i lengths %i, %i bias %b : memref<1x?xf32> mode edge {schedule = #s}
      : !attn.state<16 x 4 x 8, f32>, memref<?x4xf32>, memref<?x8xf32>
  return
}

func.func @online_c9_captured_buffer(%s: !attn.state<16 x 4 x 8, f32>, %k: memref<?x4xf32>, %v: memref<?x8xf32>, %i: index, %t: memref<4xf32>) {
  %r = attn.online %s, %k, %v rows %i to %i keys from %i lengths %i, %i score_mod (%x: f32, %b, %h, %q, %j) of %i, %i with (%u = %t : memref<4xf32>) {
    %g = memref.load %u[%h] : memref<4xf32>
    attn.yield %x : f32
  } mode edge {schedule = #s}
      : !attn.state<16 x 4 x 8, f32>, memref<?x4xf32>, memref<?x8xf32>
  return
}

func.func @online_c7_eight_heads(%s: !attn.state<16 x 4 x 8, f32, decode>, %k: memref<?x4xf32>, %v: memref<?x8xf32>, %i: index) {
  %r = attn.online %s, %k, %v rows %i to %i keys from %i lengths %i, %i mode edge {schedule = #d, heads = 8 : i64}
      : !attn.state<16 x 4 x 8, f32, decode>, memref<?x4xf32>, memref<?x8xf32>
  return
}

func.func @online_c8_decode(%s: !attn.state<16 x 4 x 8, f32, decode>, %k: memref<?x4xf32>, %v: memref<?x8xf32>, %i: index) {
  %r = attn.online %s, %k, %v rows %i to %i keys from %i lengths %i, %i mode edge {schedule = #d}
      : !attn.state<16 x 4 x 8, f32, decode>, memref<?x4xf32>, memref<?x8xf32>
  return
}

func.func @online_c10_pairs(%s: !attn.state<16 x 4 x 8, f32>, %k: memref<?x4xbf16>, %v: memref<?x8xbf16>, %i: index) {
  %r = attn.online %s, %k, %v rows %i to %i keys from %i lengths %i, %i mode edge {schedule = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0, products = dot>}
      : !attn.state<16 x 4 x 8, f32>, memref<?x4xbf16>, memref<?x8xbf16>
  return
}

func.func @online_c11_second_map(%s: !attn.state<16 x 4 x 8, f32>, %k: memref<?x4xf32>, %v: memref<?x8xf32>, %i: index, %t: !attn.state<16 x 4 x 8, f32>, %j: memref<?x4xf32>) {
  %r:2 = attn.online %s, %k, %v rows %i to %i keys from %i lengths %i, %i mode edge second %t, %j : !attn.state<16 x 4 x 8, f32>, memref<?x4xf32> {schedule = #s}
      : !attn.state<16 x 4 x 8, f32>, memref<?x4xf32>, memref<?x8xf32>
  return
}

func.func @online_c12_sigmoid(%s: !attn.state<16 x 4 x 8, f32 by sigmoid>, %t: !attn.state<16 x 4 x 8, f32 by sigmoid>, %k: memref<?x4xf32>, %v: memref<?x8xf32>, %i: index) {
  %r:2 = attn.online %s, %k, %v rows %i to %i keys from %i lengths %i, %i mode edge second %t, %k : !attn.state<16 x 4 x 8, f32 by sigmoid>, memref<?x4xf32> {schedule = #s}
      : !attn.state<16 x 4 x 8, f32 by sigmoid>, memref<?x4xf32>, memref<?x8xf32>
  return
}

func.func @online_c13_other_strides(%s: !attn.state<16 x 4 x 8, f32>, %k: memref<?x4xf32>, %v: memref<?x8xf32>, %i: index, %t: !attn.state<16 x 4 x 8, f32>, %j: memref<6x4xf32, strided<[?, 1]>>) {
  %r:2 = attn.online %s, %k, %v rows %i to %i keys from %i lengths %i, %i mode edge second %t, %j : !attn.state<16 x 4 x 8, f32>, memref<6x4xf32, strided<[?, 1]>> {schedule = #s}
      : !attn.state<16 x 4 x 8, f32>, memref<?x4xf32>, memref<?x8xf32>
  return
}

func.func @online_c14_prefill(%s: !attn.state<16 x 4 x 8, f32>, %k: memref<?x4xf32>, %v: memref<?x8xf32>, %i: index, %t: !attn.state<16 x 4 x 8, f32>) {
  %r:2 = attn.online %s, %k, %v rows %i to %i keys from %i lengths %i, %i mode full second %t, %k : !attn.state<16 x 4 x 8, f32>, memref<?x4xf32> {schedule = #s}
      : !attn.state<16 x 4 x 8, f32>, memref<?x4xf32>, memref<?x8xf32>
  return
}

func.func @online_c10_tiles(%s: !attn.state<32 x 4 x 8, f32>, %k: memref<?x4xbf16>, %v: memref<?x8xbf16>, %i: index) {
  %r = attn.online %s, %k, %v rows %i to %i keys from %i lengths %i, %i mode edge {schedule = #attn.cpu_schedule<lanes = 16, rows = 32, vectors = 2, query_tile = 32, key_tile = 64, unroll = 1, prefetch = 0, products = amx>}
      : !attn.state<32 x 4 x 8, f32>, memref<?x4xbf16>, memref<?x8xbf16>
  return
}

func.func @online_c15_prefetch(%s: !attn.state<16 x 4 x 8, f32>, %k: memref<?x4xf32>, %v: memref<?x8xf32>, %i: index, %a: memref<?x5xf16, strided<[?, 1], offset: ?>>) {
  %r = attn.online %s, %k, %v rows %i to %i keys from %i lengths %i, %i mode full prefetch %a, %v : memref<?x5xf16, strided<[?, 1], offset: ?>>, memref<?x8xf32> {schedule = #s}
      : !attn.state<16 x 4 x 8, f32>, memref<?x4xf32>, memref<?x8xf32>
  return
}

func.func @online_c17_dropout(%s: !attn.state<16 x 4 x 8, f32>, %k: memref<?x4xf32>, %v: memref<?x8xf32>, %i: index, %x: i64) {
  %r = attn.online %s, %k, %v rows %i to %i keys from %i lengths %i, %i dropout 5.000000e-01 of %x, %i, %i : i64, index, index mode full {schedule = #s}
      : !attn.state<16 x 4 x 8, f32>, memref<?x4xf32>, memref<?x8xf32>
  return
}
