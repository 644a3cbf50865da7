// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A schedule that a user has written has lanes that the kernels have.
// RUN: attn-opt %s --attn-check-target --split-input-file --verify-diagnostics

func.func @one_lane(%q: tensor<5x8xf32>) -> tensor<5x8xf32> {
  // expected-error @below {{expects schedule to have 2, 4, 8 or 16 lanes on this target, but got 1}}
  %o = attn.sdpa %q, %q, %q scale 1.0 {schedule = #attn.cpu_schedule<lanes = 1, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>}
      : (tensor<5x8xf32>, tensor<5x8xf32>, tensor<5x8xf32>) -> tensor<5x8xf32>
  return %o : tensor<5x8xf32>
}

// -----

func.func @decode_of_32_lanes(%q: tensor<2x1x8xf32>, %k: tensor<2x?x8xf32>) -> tensor<2x1x8xf32> {
  // expected-error @below {{expects decode_schedule to have 2, 4, 8 or 16 lanes on this target, but got 32}}
  %o = attn.sdpa %q, %k, %k scale 1.0 {decode_schedule = #attn.cpu_schedule<lanes = 32, rows = 2, vectors = 1, query_tile = 8, key_tile = 8, unroll = 1, prefetch = 0, kind = decode, split_keys = 64>}
      : (tensor<2x1x8xf32>, tensor<2x?x8xf32>, tensor<2x?x8xf32>) -> tensor<2x1x8xf32>
  return %o : tensor<2x1x8xf32>
}

// -----

func.func @finalize(%m: tensor<8x?xf32>, %a: tensor<8x?x64xf32>) -> tensor<8x?x64xf32> {
  // expected-error @below {{expects schedule to have 2, 4, 8 or 16 lanes on this target, but got 1}}
  %p = attn.finalize_state %m, %m, %a {schedule = #attn.cpu_schedule<lanes = 1, rows = 2, vectors = 1, query_tile = 4, key_tile = 2, unroll = 1, prefetch = 0>}
      : (tensor<8x?xf32>, tensor<8x?xf32>, tensor<8x?x64xf32>) -> tensor<8x?x64xf32>
  return %p : tensor<8x?x64xf32>
}

// -----

// The narrowest and the widest that there are.
func.func @two_and_sixteen(%q: tensor<5x8xf64>) -> tensor<5x8xf64> {
  %a = attn.sdpa %q, %q, %q scale 1.0 {schedule = #attn.cpu_schedule<lanes = 2, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>}
      : (tensor<5x8xf64>, tensor<5x8xf64>, tensor<5x8xf64>) -> tensor<5x8xf64>
  %b = attn.sdpa %a, %q, %q scale 1.0 {schedule = #attn.cpu_schedule<lanes = 16, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>}
      : (tensor<5x8xf64>, tensor<5x8xf64>, tensor<5x8xf64>) -> tensor<5x8xf64>
  return %b : tensor<5x8xf64>
}
