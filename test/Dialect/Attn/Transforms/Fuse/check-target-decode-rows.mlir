// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A decode_schedule that stands alone must have a row for every query.
// RUN: attn-opt %s -split-input-file -verify-diagnostics --attn-check-target
#d = #attn.cpu_schedule<lanes = 4, rows = 3, vectors = 3, query_tile = 8, key_tile = 16, unroll = 2, prefetch = 0, kind = decode, split_keys = 64>

func.func @unknown(%q: tensor<?x8xf32>, %k: tensor<?x8xf32>) -> tensor<?x8xf32> {
  // expected-error@+1 {{expects at most 8 queries per head where decode_schedule stands alone, but got an unknown number}}
  %o = attn.sdpa %q, %k, %k scale 0.5 {decode_schedule = #d} : (tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  return %o : tensor<?x8xf32>
}

// -----

#d = #attn.cpu_schedule<lanes = 4, rows = 3, vectors = 3, query_tile = 8, key_tile = 16, unroll = 2, prefetch = 0, kind = decode, split_keys = 64>

func.func @group(%q: tensor<4x3x8xf32>, %k: tensor<1x?x8xf32>) -> tensor<4x3x8xf32> {
  // expected-error@+1 {{expects at most 2 queries per head where decode_schedule stands alone, but got 3}}
  %o = attn.sdpa %q, %k, %k scale 0.5 {decode_schedule = #d} : (tensor<4x3x8xf32>, tensor<1x?x8xf32>, tensor<1x?x8xf32>) -> tensor<4x3x8xf32>
  return %o : tensor<4x3x8xf32>
}
