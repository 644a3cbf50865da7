// RUN: attn-opt %s -verify-diagnostics
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What attn.finalize_difference accepts; the numbers are those of docs/SpecTiles.md.
#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>
#d = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0, kind = decode, split_keys = 64>

func.func @finalize_difference_c1_matrix(%a: !attn.state<16 x 4 x 8, f32>, %b: !attn.state<16 x 4 x 8, f32>, %l: f32, %o: memref<?x8xbf16>) {
  attn.finalize_difference %a, %b by %l outs(%o : memref<?x8xbf16>) {schedule = #s} : !attn.state<16 x 4 x 8, f32>, f32
  return
}

func.func @finalize_difference_c2_sigmoid(%a: !attn.state<16 x 4 x 8, f32 by sigmoid>, %b: !attn.state<16 x 4 x 8, f32 by sigmoid>, %l: f32, %o: memref<?x8xf32>) {
  attn.finalize_difference %a, %b by %l outs(%o : memref<?x8xf32>) {schedule = #s} : !attn.state<16 x 4 x 8, f32 by sigmoid>, f32
  return
}

func.func @finalize_difference_c3_double(%a: !attn.state<16 x 4 x 8, f64>, %b: !attn.state<16 x 4 x 8, f64>, %l: f64, %o: memref<?x8xf64>) {
  attn.finalize_difference %a, %b by %l outs(%o : memref<?x8xf64>) {schedule = #s} : !attn.state<16 x 4 x 8, f64>, f64
  return
}

func.func @finalize_difference_c4_result(%a: !attn.state<16 x 4 x 8, f32>, %b: !attn.state<16 x 4 x 8, f32>, %l: f32, %o: tensor<?x8xf16>) {
  %r = attn.finalize_difference %a, %b by %l outs(%o : tensor<?x8xf16>) {schedule = #s} : !attn.state<16 x 4 x 8, f32>, f32 -> tensor<?x8xf16>
  return
}

func.func @finalize_difference_c5_decode(%a: !attn.state<16 x 4 x 8, f32, decode>, %b: !attn.state<16 x 4 x 8, f32, decode>, %l: f32, %o: memref<?x8xf32>) {
  attn.finalize_difference %a, %b by %l outs(%o : memref<?x8xf32>) {schedule = #d} : !attn.state<16 x 4 x 8, f32, decode>, f32
  return
}
