// RUN: attn-opt %s -split-input-file -verify-diagnostics
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// C10: masks of a tile need nothing that is not among the operands.
#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>

func.func @weigh_c10_document_without_bounds(%s: !attn.state<16 x 4 x 8, f32>, %k: memref<?x4xf32>, %w: memref<?x?xf32>, %i: index, %n: memref<?xi32>) {
  // expected-error@+1 {{but it needs 'document_begin'}}
  attn.weigh %s, %k rows %i to %i keys from %i lengths %i, %i scale 1.0 where document(%n : memref<?xi32>) weights %w : memref<?x?xf32> {schedule = #s}
      : !attn.state<16 x 4 x 8, f32>, memref<?x4xf32>
  return
}
