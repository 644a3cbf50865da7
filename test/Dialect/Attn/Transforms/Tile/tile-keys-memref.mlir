// RUN: attn-opt %s --attn-tile-keys --split-input-file --verify-diagnostics
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Memrefs are refused: their writers and readers would have to be known.
#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 8, key_tile = 4, unroll = 1, prefetch = 0>

func.func @online(%s: !attn.state<8 x 4 x 6, f32>, %k: memref<?x4xf32>, %v: memref<?x6xf32>, %i: index, %n: index) {
  %c0 = arith.constant 0 : index
  // expected-error@+1 {{'attn.online' op expects tensors, which attn-tile-keys can cut; it runs before bufferization}}
  %t = attn.online %s, %k, %v rows %c0 to %i keys from %c0 lengths %n, %n mode full {schedule = #s} : <8 x 4 x 6, f32>, memref<?x4xf32>, memref<?x6xf32>
  return
}

// -----

#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 8, key_tile = 4, unroll = 1, prefetch = 0>
func.func @weigh(%s: !attn.state<8 x 4 x 6, f32>, %k: memref<?x4xf32>, %i: index, %n: index, %w: memref<?x?xf32>) {
  %c0 = arith.constant 0 : index
  // expected-error@+1 {{'attn.weigh' op expects tensors, which attn-tile-keys can cut}}
  attn.weigh %s, %k rows %c0 to %i keys from %c0 lengths %n, %n scale 0.5 weights %w : memref<?x?xf32> {schedule = #s} : !attn.state<8 x 4 x 6, f32>, memref<?x4xf32>
  return
}
