// RUN: attn-opt %s -verify-diagnostics
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What attn.return_state accepts; the numbers are those of docs/SpecTiles.md.
#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 8, key_tile = 4, unroll = 1, prefetch = 0>

func.func @return_state_c1_rows(%s: !attn.state<8 x 4 x 8, f32>, %m: memref<?xf32>, %l: memref<?xf32>, %a: memref<5x8xf32>) {
  attn.return_state %s outs(%m, %l, %a : memref<?xf32>, memref<?xf32>, memref<5x8xf32>) {schedule = #s} : !attn.state<8 x 4 x 8, f32>
  return
}

func.func @return_state_c2_f64(%s: !attn.state<8 x 4 x 8, f64>, %m: memref<?xf64>, %l: memref<?xf64>, %a: memref<?x8xf64>) {
  attn.return_state %s outs(%m, %l, %a : memref<?xf64>, memref<?xf64>, memref<?x8xf64>) {schedule = #s} : !attn.state<8 x 4 x 8, f64>
  return
}

func.func @return_state_c3_softmax(%s: !attn.state<8 x 4 x 8, f32>, %m: memref<?xf32>, %l: memref<?xf32>, %a: memref<?x8xf32>) {
  attn.return_state %s outs(%m, %l, %a : memref<?xf32>, memref<?xf32>, memref<?x8xf32>) {schedule = #s} : !attn.state<8 x 4 x 8, f32>
  return
}

func.func @return_state_c4_kind(%s: !attn.state<8 x 4 x 8, f32>, %m: memref<?xf32>, %l: memref<?xf32>, %a: memref<?x8xf32>) {
  attn.return_state %s outs(%m, %l, %a : memref<?xf32>, memref<?xf32>, memref<?x8xf32>) {schedule = #s} : !attn.state<8 x 4 x 8, f32>
  return
}

func.func @return_state_c5_results(%s: !attn.state<8 x 4 x 8, f32>, %m: tensor<?xf32>, %l: tensor<?xf32>, %a: tensor<?x8xf32>) {
  %r:3 = attn.return_state %s outs(%m, %l, %a : tensor<?xf32>, tensor<?xf32>, tensor<?x8xf32>) {schedule = #s} : !attn.state<8 x 4 x 8, f32> -> tensor<?xf32>, tensor<?xf32>, tensor<?x8xf32>
  return
}
