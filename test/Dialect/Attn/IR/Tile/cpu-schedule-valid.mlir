// RUN: attn-opt %s -verify-diagnostics
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What #attn.cpu_schedule accepts; the numbers are those of docs/Spec.md.

func.func @cpu_schedule_c1_one_lane() {
  %z = arith.constant {schedule = #attn.cpu_schedule<lanes = 1, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>} 0 : i32
  return
}

func.func @cpu_schedule_c1_sixteen_lanes() {
  %z = arith.constant {schedule = #attn.cpu_schedule<lanes = 16, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>} 0 : i32
  return
}

func.func @cpu_schedule_c2_prefetch_3() {
  %z = arith.constant {schedule = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 3>} 0 : i32
  return
}

func.func @cpu_schedule_c3_three_panels() {
  %z = arith.constant {schedule = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 2, query_tile = 24, key_tile = 8, unroll = 1, prefetch = 0>} 0 : i32
  return
}

func.func @cpu_schedule_c4_four_groups_of_rows() {
  %z = arith.constant {schedule = #attn.cpu_schedule<lanes = 4, rows = 6, vectors = 1, query_tile = 16, key_tile = 24, unroll = 1, prefetch = 0>} 0 : i32
  return
}

func.func @cpu_schedule_c5_decode() {
  %z = arith.constant {schedule = #attn.cpu_schedule<lanes = 4, rows = 3, vectors = 3, query_tile = 5, key_tile = 8, unroll = 1, prefetch = 0, kind = decode, split_keys = 64>} 0 : i32
  return
}

func.func @cpu_schedule_c5_prefill_by_name() {
  %z = arith.constant {schedule = #attn.cpu_schedule<lanes = 4, rows = 3, vectors = 3, query_tile = 12, key_tile = 9, unroll = 1, prefetch = 0, kind = prefill>} 0 : i32
  return
}

func.func @cpu_schedule_c6_pairs() {
  %z = arith.constant {schedule = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0, products = dot>} 0 : i32
  return
}

func.func @cpu_schedule_c6_three_rows_of_single() {
  %z = arith.constant {schedule = #attn.cpu_schedule<lanes = 4, rows = 3, vectors = 1, query_tile = 16, key_tile = 9, unroll = 1, prefetch = 0, products = fma>} 0 : i32
  return
}

func.func @cpu_schedule_c7_tiles() {
  %z = arith.constant {schedule = #attn.cpu_schedule<lanes = 16, rows = 32, vectors = 2, query_tile = 32, key_tile = 64, unroll = 1, prefetch = 0, products = amx>} 0 : i32
  return
}

func.func @cpu_schedule_c7_tiles_of_64_rows() {
  %z = arith.constant {schedule = #attn.cpu_schedule<lanes = 16, rows = 64, vectors = 1, query_tile = 16, key_tile = 64, unroll = 2, prefetch = 0, products = amx>} 0 : i32
  return
}

func.func @cpu_schedule_c5_prefill_without_split() {
  %z = arith.constant {schedule = #attn.cpu_schedule<lanes = 4, rows = 3, vectors = 3, query_tile = 12, key_tile = 9, unroll = 1, prefetch = 0, split_keys = 0>} 0 : i32
  return
}

func.func @cpu_schedule_c8_split_of_two_tiles() {
  %z = arith.constant {schedule = #attn.cpu_schedule<lanes = 4, rows = 3, vectors = 3, query_tile = 12, key_tile = 9, unroll = 1, prefetch = 0, split_keys = 18, split_queries = 1>} 0 : i32
  return
}

func.func @cpu_schedule_c9_large_block() {
  %z = arith.constant {schedule = #attn.cpu_schedule<lanes = 16, rows = 2, vectors = 1, query_tile = 8, key_tile = 8, unroll = 1, prefetch = 0, kind = decode, split_keys = 64, block = 8>} 0 : i32
  return
}

func.func @cpu_schedule_c9_large_block_of_8_lanes() {
  %z = arith.constant {schedule = #attn.cpu_schedule<lanes = 8, rows = 1, vectors = 1, query_tile = 8, key_tile = 8, unroll = 1, prefetch = 0, kind = decode, split_keys = 64, block = 8>} 0 : i32
  return
}

func.func @cpu_schedule_c9_large_block_of_pairs() {
  %z = arith.constant {schedule = #attn.cpu_schedule<lanes = 16, rows = 2, vectors = 2, query_tile = 8, key_tile = 8, unroll = 1, prefetch = 0, kind = decode, split_keys = 64, products = dot, block = 8>} 0 : i32
  return
}

func.func @cpu_schedule_c10_interleaved_queries() {
  %z = arith.constant {schedule = #attn.cpu_schedule<lanes = 16, rows = 8, vectors = 1, query_tile = 8, key_tile = 8, unroll = 1, prefetch = 0, kind = decode, split_keys = 64, block = 8, interleave = 4>} 0 : i32
  return
}

func.func @cpu_schedule_c10_two_of_8_lanes() {
  %z = arith.constant {schedule = #attn.cpu_schedule<lanes = 8, rows = 2, vectors = 1, query_tile = 8, key_tile = 8, unroll = 1, prefetch = 0, kind = decode, split_keys = 64, interleave = 2>} 0 : i32
  return
}

func.func @cpu_schedule_c10_two_of_16_lanes() {
  %z = arith.constant {schedule = #attn.cpu_schedule<lanes = 16, rows = 4, vectors = 1, query_tile = 8, key_tile = 8, unroll = 1, prefetch = 0, kind = decode, split_keys = 64, block = 8, interleave = 2>} 0 : i32
  return
}

func.func @cpu_schedule_c11_largest() {
  %z = arith.constant {schedule = #attn.cpu_schedule<lanes = 64, rows = 128, vectors = 1, query_tile = 4096, key_tile = 4096, unroll = 1, prefetch = 0, split_keys = 1099511627776, split_queries = 1099511627776>} 0 : i32
  return
}

func.func @cpu_schedule_c12_largest() {
  %z = arith.constant {schedule = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 4, key_tile = 8, unroll = 64, prefetch = 0>} 0 : i32
  return
}

func.func @cpu_schedule_c12_tiles() {
  %z = arith.constant {schedule = #attn.cpu_schedule<lanes = 16, rows = 64, vectors = 2, query_tile = 512, key_tile = 128, unroll = 1, prefetch = 0, products = amx>} 0 : i32
  return
}

func.func @cpu_schedule_c12_decode() {
  %z = arith.constant {schedule = #attn.cpu_schedule<lanes = 16, rows = 8, vectors = 4, query_tile = 8, key_tile = 8, unroll = 4, prefetch = 0, kind = decode, split_keys = 64, block = 8>} 0 : i32
  return
}

func.func @cpu_schedule_c13_one_vector_more() {
  %z = arith.constant {schedule = #attn.cpu_schedule<lanes = 8, rows = 48, vectors = 1, query_tile = 8, key_tile = 40, unroll = 1, prefetch = 0, kind = decode, split_keys = 40>} 0 : i32
  return
}
