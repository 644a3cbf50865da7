// RUN: attn-opt %s -split-input-file -verify-diagnostics
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// C16: masks of a tile need nothing that is not among the operands.
#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>

func.func @online_c16_document_without_bounds(%s: !attn.state<16 x 4 x 8, f32>, %k: memref<?x4xf32>, %v: memref<?x8xf32>, %i: index, %n: memref<?xi32>) {
  // expected-error@+1 {{expects a mask of one tile, which needs nothing but positions, lengths and operands, but it needs 'document_begin'}}
  %r = attn.online %s, %k, %v rows %i to %i keys from %i lengths %i, %i where document(%n : memref<?xi32>) mode edge {schedule = #s}
      : !attn.state<16 x 4 x 8, f32>, memref<?x4xf32>, memref<?x8xf32>
  return
}

// -----

#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>

func.func @online_c16_position_in_document(%s: !attn.state<16 x 4 x 8, f32>, %k: memref<?x4xf32>, %v: memref<?x8xf32>, %i: index, %n: tensor<?xi32>) {
  // expected-error@+1 {{but it needs 'document_top_left'}}
  %r = attn.online %s, %k, %v rows %i to %i keys from %i lengths %i, %i where causal(top_left in document) and document(cumulative %n : tensor<?xi32>) mode edge {schedule = #s}
      : !attn.state<16 x 4 x 8, f32>, memref<?x4xf32>, memref<?x8xf32>
  return
}

// -----

#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>
#p = #attn.program<<"arith.cmpi", [1, 3], {predicate = 0 : i64}, i1>>

func.func @online_c16_predicate_of_head(%s: !attn.state<16 x 4 x 8, f32>, %k: memref<?x4xf32>, %v: memref<?x8xf32>, %i: index) {
  // expected-error@+1 {{expects a predicate of one batch entry and head, which reads neither of both}}
  %r = attn.online %s, %k, %v rows %i to %i keys from %i lengths %i, %i where predicate(#p) mode edge {schedule = #s}
      : !attn.state<16 x 4 x 8, f32>, memref<?x4xf32>, memref<?x8xf32>
  return
}
