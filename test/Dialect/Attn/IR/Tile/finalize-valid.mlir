// RUN: attn-opt %s -verify-diagnostics
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What attn.finalize accepts; the numbers are those of docs/Spec.md.
#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>
#d = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0, kind = decode, split_keys = 64>

func.func @finalize_c1_matrix(%s: !attn.state<16 x 4 x 8, f32>, %o: memref<?x8xbf16>) {
  attn.finalize %s outs(%o : memref<?x8xbf16>) {schedule = #s} : !attn.state<16 x 4 x 8, f32>
  return
}

func.func @finalize_c2_lse_vector(%s: !attn.state<16 x 4 x 8, f32>, %o: memref<?x8xf32>, %l: memref<?xf32>) {
  attn.finalize %s outs(%o, %l : memref<?x8xf32>, memref<?xf32>) {schedule = #s} : !attn.state<16 x 4 x 8, f32>
  return
}

func.func @finalize_c3_result_per_tensor(%s: !attn.state<16 x 4 x 8, f32>, %o: tensor<?x8xf32>, %l: tensor<?xf32>) {
  %r, %t = attn.finalize %s outs(%o, %l : tensor<?x8xf32>, tensor<?xf32>) {schedule = #s} : !attn.state<16 x 4 x 8, f32> -> tensor<?x8xf32>, tensor<?xf32>
  return
}

func.func @finalize_c4_decode(%s: !attn.state<16 x 4 x 8, f32, decode>, %o: memref<?x8xf32>) {
  attn.finalize %s outs(%o : memref<?x8xf32>) {schedule = #d} : !attn.state<16 x 4 x 8, f32, decode>
  return
}

func.func @finalize_c5_sigmoid(%s: !attn.state<16 x 4 x 8, f32 by sigmoid>, %o: memref<?x8xf32>) {
  attn.finalize %s outs(%o : memref<?x8xf32>) {schedule = #s} : !attn.state<16 x 4 x 8, f32 by sigmoid>
  return
}
