// RUN: attn-opt %s -verify-diagnostics
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What #attn.gpu_schedule accepts; the numbers are those of docs/SpecTiles.md.

func.func @gpu_schedule_c1_one_warp() {
  %z = arith.constant {schedule = #attn.gpu_schedule<query_tile = 16, key_tile = 16, warps = 1>} 0 : i32
  return
}

func.func @gpu_schedule_c1_sixteen_warps() {
  %z = arith.constant {schedule = #attn.gpu_schedule<query_tile = 256, key_tile = 32, warps = 16>} 0 : i32
  return
}

func.func @gpu_schedule_c2_64_queries_of_a_warp() {
  %z = arith.constant {schedule = #attn.gpu_schedule<query_tile = 256, key_tile = 32, warps = 4>} 0 : i32
  return
}

func.func @gpu_schedule_c3_256_keys() {
  %z = arith.constant {schedule = #attn.gpu_schedule<query_tile = 64, key_tile = 256, warps = 4>} 0 : i32
  return
}

func.func @gpu_schedule_c3_48_keys() {
  %z = arith.constant {schedule = #attn.gpu_schedule<query_tile = 64, key_tile = 48, warps = 4>} 0 : i32
  return
}

func.func @gpu_schedule_c4_decode() {
  %z = arith.constant {schedule = #attn.gpu_schedule<query_tile = 16, key_tile = 32, warps = 1, kind = decode, split_keys = 128>} 0 : i32
  return
}

func.func @gpu_schedule_c5_warps_side_by_side() {
  %z = arith.constant {schedule = #attn.gpu_schedule<query_tile = 64, key_tile = 256, warps = 8, column_warps = 8>} 0 : i32
  return
}

func.func @gpu_schedule_c6_eight_parts() {
  %z = arith.constant {schedule = #attn.gpu_schedule<query_tile = 16, key_tile = 32, warps = 1, feature_parts = 8>} 0 : i32
  return
}
