// RUN: attn-opt %s
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// C16: masks of a tile that need nothing but positions, lengths and operands.
#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>
#p = #attn.program<inputs = [index], <"arith.subi", [2, 3], {}, index>, <"arith.cmpi", [5, 4], {predicate = 3 : i64}, i1>>

func.func @online_c16_document_with_bounds(%s: !attn.state<16 x 4 x 8, f32>, %k: memref<?x4xf32>, %v: memref<?x8xf32>, %i: index, %n: memref<?xi32>) {
  %r = attn.online %s, %k, %v rows %i to %i keys from %i lengths %i, %i where document(%n : memref<?xi32> bounds %i : index, %i : index, %i : index) mode edge {schedule = #s}
      : !attn.state<16 x 4 x 8, f32>, memref<?x4xf32>, memref<?x8xf32>
  return
}

func.func @online_c16_predicate_of_an_operand(%s: !attn.state<16 x 4 x 8, f32>, %k: memref<?x4xf32>, %v: memref<?x8xf32>, %i: index) {
  %r = attn.online %s, %k, %v rows %i to %i keys from %i lengths %i, %i where predicate(#p, %i : index) mode edge {schedule = #s}
      : !attn.state<16 x 4 x 8, f32>, memref<?x4xf32>, memref<?x8xf32>
  return
}
