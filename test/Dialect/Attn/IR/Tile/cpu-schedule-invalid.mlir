// RUN: attn-opt %s -split-input-file -verify-diagnostics
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What #attn.cpu_schedule rejects; the numbers are those of docs/Spec.md.

func.func @cpu_schedule_c1_three_lanes() {
  // expected-error@+1 {{expects lanes to be a power of two, but got 3}}
  %z = arith.constant {schedule = #attn.cpu_schedule<lanes = 3, rows = 2, vectors = 1, query_tile = 12, key_tile = 8, unroll = 1, prefetch = 0>} 0 : i32
  return
}

// -----

func.func @cpu_schedule_c1_no_lane() {
  // expected-error@+1 {{expects lanes to be a power of two, but got 0}}
  %z = arith.constant {schedule = #attn.cpu_schedule<lanes = 0, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>} 0 : i32
  return
}

// -----

func.func @cpu_schedule_c2_no_row() {
  // expected-error@+1 {{expects rows, vectors and unroll of at least 1 and prefetch between 0 and 3}}
  %z = arith.constant {schedule = #attn.cpu_schedule<lanes = 4, rows = 0, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>} 0 : i32
  return
}

// -----

func.func @cpu_schedule_c2_no_unroll() {
  // expected-error@+1 {{expects rows, vectors and unroll of at least 1}}
  %z = arith.constant {schedule = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 0, prefetch = 0>} 0 : i32
  return
}

// -----

func.func @cpu_schedule_c2_prefetch_4() {
  // expected-error@+1 {{expects rows, vectors and unroll of at least 1}}
  %z = arith.constant {schedule = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 4>} 0 : i32
  return
}

// -----

func.func @cpu_schedule_c3_half_a_panel() {
  // expected-error@+1 {{expects query_tile to be a multiple of 8 (lanes * vectors), but got 12}}
  %z = arith.constant {schedule = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 2, query_tile = 12, key_tile = 8, unroll = 1, prefetch = 0>} 0 : i32
  return
}

// -----

func.func @cpu_schedule_c3_no_query() {
  // expected-error@+1 {{expects query_tile to be a multiple of 4 (lanes * vectors), but got 0}}
  %z = arith.constant {schedule = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 0, key_tile = 8, unroll = 1, prefetch = 0>} 0 : i32
  return
}

// -----

func.func @cpu_schedule_c4_remainder_of_rows() {
  // expected-error@+1 {{expects key_tile to be a multiple of 6 (rows), but got 8}}
  %z = arith.constant {schedule = #attn.cpu_schedule<lanes = 4, rows = 6, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>} 0 : i32
  return
}

// -----

func.func @cpu_schedule_c5_decode_without_split() {
  // expected-error@+1 {{expects split_keys to be a multiple of key_tile, and kind decode to have some, a row and at least 4 lanes}}
  %z = arith.constant {schedule = #attn.cpu_schedule<lanes = 4, rows = 3, vectors = 3, query_tile = 5, key_tile = 8, unroll = 1, prefetch = 0, kind = decode>} 0 : i32
  return
}

// -----

func.func @cpu_schedule_c5_split_of_no_tiles() {
  // expected-error@+1 {{expects split_keys to be a multiple of key_tile, and kind decode to have some, a row and at least 4 lanes}}
  %z = arith.constant {schedule = #attn.cpu_schedule<lanes = 4, rows = 3, vectors = 3, query_tile = 5, key_tile = 8, unroll = 1, prefetch = 0, kind = decode, split_keys = 60>} 0 : i32
  return
}

// -----

func.func @cpu_schedule_c5_decode_of_two_lanes() {
  // expected-error@+1 {{expects split_keys to be a multiple of key_tile, and kind decode to have some, a row and at least 4 lanes}}
  %z = arith.constant {schedule = #attn.cpu_schedule<lanes = 2, rows = 3, vectors = 3, query_tile = 5, key_tile = 8, unroll = 1, prefetch = 0, kind = decode, split_keys = 64>} 0 : i32
  return
}

// -----

func.func @cpu_schedule_c5_decode_without_rows() {
  // expected-error@+1 {{expects split_keys to be a multiple of key_tile, and kind decode to have some, a row and at least 4 lanes}}
  %z = arith.constant {schedule = #attn.cpu_schedule<lanes = 4, rows = 3, vectors = 3, query_tile = 0, key_tile = 8, unroll = 1, prefetch = 0, kind = decode, split_keys = 64>} 0 : i32
  return
}

// -----

func.func @cpu_schedule_c5_prefill_split_of_no_tiles() {
  // expected-error@+1 {{expects split_keys to be a multiple of key_tile}}
  %z = arith.constant {schedule = #attn.cpu_schedule<lanes = 4, rows = 3, vectors = 3, query_tile = 12, key_tile = 9, unroll = 1, prefetch = 0, split_keys = 10, split_queries = 4>} 0 : i32
  return
}

// -----

func.func @cpu_schedule_c5_negative_split() {
  // expected-error@+1 {{expects split_keys to be a multiple of key_tile}}
  %z = arith.constant {schedule = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0, split_keys = -8>} 0 : i32
  return
}

// -----

func.func @cpu_schedule_c6_pairs_of_three_vectors() {
  // expected-error@+1 {{expects products = dot to have an even number of rows and, in kind decode, of vectors and keys, and at least 8 lanes}}
  %z = arith.constant {schedule = #attn.cpu_schedule<lanes = 8, rows = 2, vectors = 3, query_tile = 5, key_tile = 8, unroll = 1, prefetch = 0, kind = decode, split_keys = 64, products = dot>} 0 : i32
  return
}

// -----

func.func @cpu_schedule_c6_pairs_of_odd_key_tile() {
  // expected-error@+1 {{expects products = dot to have an even number of rows and, in kind decode, of vectors and keys, and at least 8 lanes}}
  %z = arith.constant {schedule = #attn.cpu_schedule<lanes = 8, rows = 2, vectors = 2, query_tile = 5, key_tile = 9, unroll = 1, prefetch = 0, kind = decode, split_keys = 63, products = dot>} 0 : i32
  return
}

// -----

func.func @cpu_schedule_c6_pairs_of_four_lanes() {
  // expected-error@+1 {{expects products = dot to have an even number of rows and, in kind decode, of vectors and keys, and at least 8 lanes}}
  %z = arith.constant {schedule = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 2, query_tile = 5, key_tile = 8, unroll = 1, prefetch = 0, kind = decode, split_keys = 64, products = dot>} 0 : i32
  return
}

// -----

func.func @cpu_schedule_c6_pairs_of_three_rows() {
  // expected-error@+1 {{expects products = dot to have an even number of rows and, in kind decode, of vectors and keys, and at least 8 lanes}}
  %z = arith.constant {schedule = #attn.cpu_schedule<lanes = 4, rows = 3, vectors = 1, query_tile = 16, key_tile = 9, unroll = 1, prefetch = 0, products = dot>} 0 : i32
  return
}

// -----

func.func @cpu_schedule_c7_tiles_of_decode() {
  // expected-error@+1 {{expects products = amx to have kind prefill, 16 lanes and a multiple of 32 rows}}
  %z = arith.constant {schedule = #attn.cpu_schedule<lanes = 16, rows = 32, vectors = 2, query_tile = 5, key_tile = 64, unroll = 1, prefetch = 0, kind = decode, split_keys = 64, products = amx>} 0 : i32
  return
}

// -----

func.func @cpu_schedule_c7_tiles_of_eight_lanes() {
  // expected-error@+1 {{expects products = amx to have kind prefill, 16 lanes and a multiple of 32 rows}}
  %z = arith.constant {schedule = #attn.cpu_schedule<lanes = 8, rows = 32, vectors = 2, query_tile = 32, key_tile = 64, unroll = 1, prefetch = 0, products = amx>} 0 : i32
  return
}

// -----

func.func @cpu_schedule_c7_tiles_of_sixteen_rows() {
  // expected-error@+1 {{expects products = amx to have kind prefill, 16 lanes and a multiple of 32 rows}}
  %z = arith.constant {schedule = #attn.cpu_schedule<lanes = 16, rows = 16, vectors = 2, query_tile = 32, key_tile = 64, unroll = 1, prefetch = 0, products = amx>} 0 : i32
  return
}

// -----

func.func @cpu_schedule_c8_split_of_how_many_queries() {
  // expected-error@+1 {{expects split_queries of at least 1 where kind prefill has split_keys, and none elsewhere}}
  %z = arith.constant {schedule = #attn.cpu_schedule<lanes = 4, rows = 3, vectors = 3, query_tile = 12, key_tile = 9, unroll = 1, prefetch = 0, split_keys = 9>} 0 : i32
  return
}

// -----

func.func @cpu_schedule_c8_queries_without_split() {
  // expected-error@+1 {{expects split_queries of at least 1 where kind prefill has split_keys, and none elsewhere}}
  %z = arith.constant {schedule = #attn.cpu_schedule<lanes = 4, rows = 3, vectors = 3, query_tile = 12, key_tile = 9, unroll = 1, prefetch = 0, split_queries = 9>} 0 : i32
  return
}

// -----

func.func @cpu_schedule_c8_queries_of_decode() {
  // expected-error@+1 {{expects split_queries of at least 1 where kind prefill has split_keys, and none elsewhere}}
  %z = arith.constant {schedule = #attn.cpu_schedule<lanes = 4, rows = 3, vectors = 3, query_tile = 5, key_tile = 8, unroll = 1, prefetch = 0, kind = decode, split_keys = 64, split_queries = 9>} 0 : i32
  return
}

// -----

func.func @cpu_schedule_c8_negative_queries() {
  // expected-error@+1 {{expects split_queries of at least 1}}
  %z = arith.constant {schedule = #attn.cpu_schedule<lanes = 4, rows = 3, vectors = 3, query_tile = 12, key_tile = 9, unroll = 1, prefetch = 0, split_keys = 9, split_queries = -1>} 0 : i32
  return
}

// -----

func.func @cpu_schedule_c9_a_block_of_6() {
  // expected-error@+1 {{expects block to be 4 or, in kind decode with at least 8 lanes (16 for pairs) and 8 * rows a multiple of them, 8}}
  %z = arith.constant {schedule = #attn.cpu_schedule<lanes = 8, rows = 2, vectors = 1, query_tile = 8, key_tile = 8, unroll = 1, prefetch = 0, kind = decode, split_keys = 64, block = 6>} 0 : i32
  return
}

// -----

func.func @cpu_schedule_c9_a_large_block_of_4_lanes() {
  // expected-error@+1 {{expects block to be 4 or, in kind decode with at least 8 lanes (16 for pairs) and 8 * rows a multiple of them, 8}}
  %z = arith.constant {schedule = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 8, key_tile = 8, unroll = 1, prefetch = 0, kind = decode, split_keys = 64, block = 8>} 0 : i32
  return
}

// -----

func.func @cpu_schedule_c9_a_large_block_and_one_row() {
  // expected-error@+1 {{expects block to be 4 or, in kind decode with at least 8 lanes (16 for pairs) and 8 * rows a multiple of them, 8}}
  %z = arith.constant {schedule = #attn.cpu_schedule<lanes = 16, rows = 1, vectors = 1, query_tile = 8, key_tile = 8, unroll = 1, prefetch = 0, kind = decode, split_keys = 64, block = 8>} 0 : i32
  return
}

// -----

func.func @cpu_schedule_c9_a_large_block_of_prefill() {
  // expected-error@+1 {{expects block to be 4 or, in kind decode with at least 8 lanes (16 for pairs) and 8 * rows a multiple of them, 8}}
  %z = arith.constant {schedule = #attn.cpu_schedule<lanes = 8, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0, block = 8>} 0 : i32
  return
}

// -----

func.func @cpu_schedule_c9_a_large_block_of_pairs_in_8_lanes() {
  // expected-error@+1 {{expects block to be 4 or, in kind decode with at least 8 lanes (16 for pairs) and 8 * rows a multiple of them, 8}}
  %z = arith.constant {schedule = #attn.cpu_schedule<lanes = 8, rows = 2, vectors = 2, query_tile = 8, key_tile = 8, unroll = 1, prefetch = 0, kind = decode, split_keys = 64, products = dot, block = 8>} 0 : i32
  return
}

// -----

func.func @cpu_schedule_c10_half_of_the_lanes() {
  // expected-error@+1 {{expects interleave to be 1 or, in kind decode with rows * block a multiple of lanes, 2 or 4 and at most a quarter of lanes}}
  %z = arith.constant {schedule = #attn.cpu_schedule<lanes = 8, rows = 8, vectors = 1, query_tile = 8, key_tile = 8, unroll = 1, prefetch = 0, kind = decode, split_keys = 64, block = 8, interleave = 4>} 0 : i32
  return
}

// -----

func.func @cpu_schedule_c10_sums_of_half_a_vector() {
  // expected-error@+1 {{expects interleave to be 1 or, in kind decode with rows * block a multiple of lanes, 2 or 4 and at most a quarter of lanes}}
  %z = arith.constant {schedule = #attn.cpu_schedule<lanes = 8, rows = 1, vectors = 1, query_tile = 8, key_tile = 8, unroll = 1, prefetch = 0, kind = decode, split_keys = 64, interleave = 2>} 0 : i32
  return
}

// -----

func.func @cpu_schedule_c10_eight() {
  // expected-error@+1 {{expects interleave to be 1 or, in kind decode with rows * block a multiple of lanes, 2 or 4 and at most a quarter of lanes}}
  %z = arith.constant {schedule = #attn.cpu_schedule<lanes = 32, rows = 8, vectors = 1, query_tile = 8, key_tile = 8, unroll = 1, prefetch = 0, kind = decode, split_keys = 64, interleave = 8>} 0 : i32
  return
}

// -----

func.func @cpu_schedule_c10_prefill() {
  // expected-error@+1 {{expects interleave to be 1 or, in kind decode with rows * block a multiple of lanes, 2 or 4 and at most a quarter of lanes}}
  %z = arith.constant {schedule = #attn.cpu_schedule<lanes = 16, rows = 4, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0, interleave = 4>} 0 : i32
  return
}

// -----

func.func @cpu_schedule_c11_lanes() {
  // expected-error@+1 {{expects lanes of at most 64, but got 4096}}
  %z = arith.constant {schedule = #attn.cpu_schedule<lanes = 4096, rows = 2, vectors = 1, query_tile = 4096, key_tile = 8, unroll = 1, prefetch = 0>} 0 : i32
  return
}

// -----

func.func @cpu_schedule_c11_rows() {
  // expected-error@+1 {{expects rows of at most 128, but got 129}}
  %z = arith.constant {schedule = #attn.cpu_schedule<lanes = 8, rows = 129, vectors = 1, query_tile = 8, key_tile = 129, unroll = 1, prefetch = 0>} 0 : i32
  return
}

// -----

func.func @cpu_schedule_c11_vectors() {
  // expected-error@+1 {{expects vectors of at most 32, but got 4611686018427387904}}
  %z = arith.constant {schedule = #attn.cpu_schedule<lanes = 8, rows = 2, vectors = 4611686018427387904, query_tile = 8, key_tile = 8, unroll = 1, prefetch = 0>} 0 : i32
  return
}

// -----

func.func @cpu_schedule_c11_unroll() {
  // expected-error@+1 {{expects unroll of at most 64, but got 4286578688}}
  %z = arith.constant {schedule = #attn.cpu_schedule<lanes = 8, rows = 2, vectors = 1, query_tile = 8, key_tile = 8, unroll = 4286578688, prefetch = 0>} 0 : i32
  return
}

// -----

func.func @cpu_schedule_c11_query_tile() {
  // expected-error@+1 {{expects query_tile of at most 4096, but got 4104}}
  %z = arith.constant {schedule = #attn.cpu_schedule<lanes = 8, rows = 2, vectors = 1, query_tile = 4104, key_tile = 8, unroll = 1, prefetch = 0>} 0 : i32
  return
}

// -----

func.func @cpu_schedule_c11_key_tile() {
  // expected-error@+1 {{expects key_tile of at most 4096, but got 4098}}
  %z = arith.constant {schedule = #attn.cpu_schedule<lanes = 8, rows = 2, vectors = 1, query_tile = 8, key_tile = 4098, unroll = 1, prefetch = 0>} 0 : i32
  return
}

// -----

func.func @cpu_schedule_c11_split_keys() {
  // expected-error@+1 {{expects split_keys of at most 1099511627776, but got 9223372036854775800}}
  %z = arith.constant {schedule = #attn.cpu_schedule<lanes = 8, rows = 2, vectors = 1, query_tile = 8, key_tile = 8, unroll = 1, prefetch = 0, split_keys = 9223372036854775800, split_queries = 8>} 0 : i32
  return
}

// -----

func.func @cpu_schedule_c11_split_queries() {
  // expected-error@+1 {{expects split_queries of at most 1099511627776, but got 9223372036854775807}}
  %z = arith.constant {schedule = #attn.cpu_schedule<lanes = 8, rows = 2, vectors = 1, query_tile = 8, key_tile = 8, unroll = 1, prefetch = 0, split_keys = 16, split_queries = 9223372036854775807>} 0 : i32
  return
}

// -----

func.func @cpu_schedule_c12_prefill() {
  // expected-error@+1 {{expects rows * vectors * unroll of at most 128, but got 576}}
  %z = arith.constant {schedule = #attn.cpu_schedule<lanes = 8, rows = 9, vectors = 2, query_tile = 16, key_tile = 9, unroll = 32, prefetch = 0>} 0 : i32
  return
}

// -----

func.func @cpu_schedule_c12_tiles() {
  // expected-error@+1 {{expects rows * vectors * unroll of at most 128, but got 16384}}
  %z = arith.constant {schedule = #attn.cpu_schedule<lanes = 16, rows = 128, vectors = 4, query_tile = 64, key_tile = 128, unroll = 32, prefetch = 0, products = amx>} 0 : i32
  return
}

// -----

func.func @cpu_schedule_c12_decode() {
  // expected-error@+1 {{expects rows * block * unroll of at most 256, but got 1024}}
  %z = arith.constant {schedule = #attn.cpu_schedule<lanes = 8, rows = 8, vectors = 1, query_tile = 8, key_tile = 8, unroll = 32, prefetch = 0, kind = decode, split_keys = 64>} 0 : i32
  return
}

// -----

func.func @cpu_schedule_c12_decode_context() {
  // expected-error@+1 {{expects vectors * block * unroll of at most 256, but got 512}}
  %z = arith.constant {schedule = #attn.cpu_schedule<lanes = 8, rows = 2, vectors = 4, query_tile = 8, key_tile = 8, unroll = 32, prefetch = 0, kind = decode, split_keys = 64>} 0 : i32
  return
}

// -----

func.func @cpu_schedule_c13_decode() {
  // expected-error@+1 {{expects key_tile in kind decode, rounded up to a multiple of rows, to grow by at most lanes, but got 40, 64 and 8}}
  %z = arith.constant {schedule = #attn.cpu_schedule<lanes = 8, rows = 64, vectors = 1, query_tile = 8, key_tile = 40, unroll = 1, prefetch = 0, kind = decode, split_keys = 120>} 0 : i32
  return
}
