// RUN: attn-opt %s -split-input-file -verify-diagnostics
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What #attn.gpu_schedule rejects; the numbers are those of docs/SpecTiles.md.

func.func @gpu_schedule_c1_three_warps() {
  // expected-error@+1 {{expects 1, 2, 4, 8 or 16 warps, but got 3}}
  %z = arith.constant {schedule = #attn.gpu_schedule<query_tile = 64, key_tile = 32, warps = 3>} 0 : i32
  return
}

// -----

func.func @gpu_schedule_c1_no_warp() {
  // expected-error@+1 {{expects 1, 2, 4, 8 or 16 warps, but got 0}}
  %z = arith.constant {schedule = #attn.gpu_schedule<query_tile = 64, key_tile = 32, warps = 0>} 0 : i32
  return
}

// -----

func.func @gpu_schedule_c1_32_warps() {
  // expected-error@+1 {{expects 1, 2, 4, 8 or 16 warps, but got 32}}
  %z = arith.constant {schedule = #attn.gpu_schedule<query_tile = 512, key_tile = 32, warps = 32>} 0 : i32
  return
}

// -----

func.func @gpu_schedule_c2_8_queries_of_a_warp() {
  // expected-error@+1 {{expects query_tile to be 16, 32 or 64 for each of 4 warps, but got 32}}
  %z = arith.constant {schedule = #attn.gpu_schedule<query_tile = 32, key_tile = 32, warps = 4>} 0 : i32
  return
}

// -----

func.func @gpu_schedule_c2_128_queries_of_a_warp() {
  // expected-error@+1 {{expects query_tile to be 16, 32 or 64 for each of 4 warps, but got 512}}
  %z = arith.constant {schedule = #attn.gpu_schedule<query_tile = 512, key_tile = 32, warps = 4>} 0 : i32
  return
}

// -----

func.func @gpu_schedule_c2_48_queries_of_a_warp() {
  // expected-error@+1 {{expects query_tile to be 16, 32 or 64 for each of 4 warps, but got 192}}
  %z = arith.constant {schedule = #attn.gpu_schedule<query_tile = 192, key_tile = 32, warps = 4>} 0 : i32
  return
}

// -----

func.func @gpu_schedule_c3_no_multiple() {
  // expected-error@+1 {{expects key_tile to be a multiple of 16 up to 256, but got 24}}
  %z = arith.constant {schedule = #attn.gpu_schedule<query_tile = 64, key_tile = 24, warps = 4>} 0 : i32
  return
}

// -----

func.func @gpu_schedule_c3_no_key() {
  // expected-error@+1 {{expects key_tile to be a multiple of 16 up to 256, but got 0}}
  %z = arith.constant {schedule = #attn.gpu_schedule<query_tile = 64, key_tile = 0, warps = 4>} 0 : i32
  return
}

// -----

func.func @gpu_schedule_c3_272_keys() {
  // expected-error@+1 {{expects key_tile to be a multiple of 16 up to 256, but got 272}}
  %z = arith.constant {schedule = #attn.gpu_schedule<query_tile = 64, key_tile = 272, warps = 4>} 0 : i32
  return
}

// -----

func.func @gpu_schedule_c4_decode_without_parts() {
  // expected-error@+1 {{expects split_keys in kind decode, as a multiple of key_tile, and not in kind prefill}}
  %z = arith.constant {schedule = #attn.gpu_schedule<query_tile = 64, key_tile = 32, warps = 4, kind = decode>} 0 : i32
  return
}

// -----

func.func @gpu_schedule_c4_no_multiple() {
  // expected-error@+1 {{expects split_keys in kind decode, as a multiple of key_tile, and not in kind prefill}}
  %z = arith.constant {schedule = #attn.gpu_schedule<query_tile = 64, key_tile = 32, warps = 4, kind = decode, split_keys = 48>} 0 : i32
  return
}

// -----

func.func @gpu_schedule_c4_prefill() {
  // expected-error@+1 {{expects split_keys in kind decode, as a multiple of key_tile, and not in kind prefill}}
  %z = arith.constant {schedule = #attn.gpu_schedule<query_tile = 64, key_tile = 32, warps = 4, split_keys = 64>} 0 : i32
  return
}

// -----

func.func @gpu_schedule_c5_three_warps_of_a_row() {
  // expected-error@+1 {{expects column_warps to be a power of two up to warps, and 1 in kind decode or where key_tile is no power of two that has 16 for each, but got 3}}
  %z = arith.constant {schedule = #attn.gpu_schedule<query_tile = 64, key_tile = 64, warps = 4, column_warps = 3>} 0 : i32
  return
}

// -----

func.func @gpu_schedule_c5_more_than_warps() {
  // expected-error@+1 {{expects column_warps to be a power of two up to warps}}
  %z = arith.constant {schedule = #attn.gpu_schedule<query_tile = 64, key_tile = 128, warps = 4, column_warps = 8>} 0 : i32
  return
}

// -----

func.func @gpu_schedule_c5_columns_of_no_power() {
  // expected-error@+1 {{and 1 in kind decode or where key_tile is no power of two that has 16 for each, but got 2}}
  %z = arith.constant {schedule = #attn.gpu_schedule<query_tile = 64, key_tile = 48, warps = 4, column_warps = 2>} 0 : i32
  return
}

// -----

func.func @gpu_schedule_c5_8_columns_of_a_warp() {
  // expected-error@+1 {{and 1 in kind decode or where key_tile is no power of two that has 16 for each, but got 4}}
  %z = arith.constant {schedule = #attn.gpu_schedule<query_tile = 64, key_tile = 32, warps = 4, column_warps = 4>} 0 : i32
  return
}

// -----

func.func @gpu_schedule_c2_16_rows_of_two_warps() {
  // expected-error@+1 {{expects query_tile to be 16, 32 or 64 for each of 2 warps, but got 16}}
  %z = arith.constant {schedule = #attn.gpu_schedule<query_tile = 16, key_tile = 64, warps = 4, column_warps = 2>} 0 : i32
  return
}

// -----

func.func @gpu_schedule_c6_no_part() {
  // expected-error@+1 {{expects feature_parts of 1 to 8, and 1 in kind decode, but got 0}}
  %z = arith.constant {schedule = #attn.gpu_schedule<query_tile = 64, key_tile = 64, warps = 4, feature_parts = 0>} 0 : i32
  return
}

// -----

func.func @gpu_schedule_c6_nine_parts() {
  // expected-error@+1 {{expects feature_parts of 1 to 8, and 1 in kind decode, but got 9}}
  %z = arith.constant {schedule = #attn.gpu_schedule<query_tile = 64, key_tile = 64, warps = 4, feature_parts = 9>} 0 : i32
  return
}

// -----

func.func @gpu_schedule_c6_decode() {
  // expected-error@+1 {{expects feature_parts of 1 to 8, and 1 in kind decode, but got 2}}
  %z = arith.constant {schedule = #attn.gpu_schedule<query_tile = 16, key_tile = 32, warps = 1, kind = decode, split_keys = 128, feature_parts = 2>} 0 : i32
  return
}
