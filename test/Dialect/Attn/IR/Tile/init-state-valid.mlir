// RUN: attn-opt %s -verify-diagnostics
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What attn.init_state accepts; the numbers are those of docs/Spec.md.
#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>
#d = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0, kind = decode, split_keys = 64>
#g = #attn.gpu_schedule<query_tile = 16, key_tile = 16, warps = 1, kind = decode, split_keys = 64>

func.func @init_state_c1_matrix(%q: memref<16x4xf32>) {
  %r = attn.init_state %q scale 0.5 {schedule = #s} : memref<16x4xf32> -> !attn.state<16 x 4 x 8, f32>
  return
}

func.func @init_state_c2_fewer_rows(%q: memref<3x4xf32>) {
  %r = attn.init_state %q scale 0.5 {schedule = #s} : memref<3x4xf32> -> !attn.state<16 x 4 x 8, f32>
  return
}

func.func @init_state_c2_unknown_rows(%q: memref<?x4xf32>) {
  %r = attn.init_state %q scale 0.5 {schedule = #s} : memref<?x4xf32> -> !attn.state<16 x 4 x 8, f32>
  return
}

func.func @init_state_c3_decode(%q: memref<?x4xf32>) {
  %r = attn.init_state %q scale 0.5 {schedule = #d} : memref<?x4xf32> -> !attn.state<16 x 4 x 8, f32, decode>
  return
}

func.func @init_state_c4_pairs(%q: memref<?x4xbf16>) {
  %r = attn.init_state %q scale 0.5 {schedule = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0, products = dot>} : memref<?x4xbf16> -> !attn.state<16 x 4 x 8, f32>
  return
}

func.func @init_state_c4_tiles(%q: memref<?x4xbf16>) {
  %r = attn.init_state %q scale 0.5 {schedule = #attn.cpu_schedule<lanes = 16, rows = 32, vectors = 2, query_tile = 32, key_tile = 64, unroll = 1, prefetch = 0, products = amx>} : memref<?x4xbf16> -> !attn.state<32 x 4 x 8, f32>
  return
}

func.func @init_state_c5_heads(%q: memref<2x?x4xf32>) {
  %r = attn.init_state %q scale 0.5 {schedule = #g} : memref<2x?x4xf32> -> !attn.state<16 x 4 x 8, f32, decode>
  return
}

func.func @init_state_c5_heads_inside(%q: memref<?x2x4xf32>) {
  %r = attn.init_state %q scale 0.5 {layout = #attn<layout bshd>, schedule = #g} : memref<?x2x4xf32> -> !attn.state<16 x 4 x 8, f32, decode>
  return
}
