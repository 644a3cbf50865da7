// RUN: attn-opt %s -split-input-file -verify-diagnostics
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What attn.sdpa rejects about dropout; the numbers are those of docs/Spec.md.

func.func @sdpa_c24_everything(%q: tensor<5x8xf32>, %x: tensor<i64>) {
  // expected-error@+1 {{expects a probability of at least 0 and below 1, but got 1.500000e+00}}
  %o = attn.sdpa %q, %q, %q scale 0.5 dropout 1.5 seed %x : tensor<i64> : (tensor<5x8xf32>, tensor<5x8xf32>, tensor<5x8xf32>) -> tensor<5x8xf32>
  return
}

// -----

func.func @sdpa_c24_state(%q: tensor<5x8xf32>, %x: tensor<i64>) {
  // expected-error@+1 {{expects no state with dropout}}
  %o, %m, %l, %a = attn.sdpa %q, %q, %q scale 0.5 dropout 0.5 seed %x : tensor<i64> returning(out, state)
      : (tensor<5x8xf32>, tensor<5x8xf32>, tensor<5x8xf32>) -> (tensor<5x8xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5x8xf32>)
  return
}

// -----

func.func @sdpa_c24_decode(%q: tensor<5x8xf32>, %x: tensor<i64>) {
  // expected-error@+1 {{expects no decode_schedule with dropout}}
  %o = attn.sdpa %q, %q, %q scale 0.5 dropout 0.5 seed %x : tensor<i64>
      {decode_schedule = #attn.cpu_schedule<lanes = 8, rows = 3, vectors = 2, query_tile = 14, key_tile = 7, unroll = 1, prefetch = 1, kind = decode, split_keys = 21>}
      : (tensor<5x8xf32>, tensor<5x8xf32>, tensor<5x8xf32>) -> tensor<5x8xf32>
  return
}

// -----

func.func @sdpa_c24_pairs(%q: tensor<5x8xbf16>, %x: tensor<i64>) {
  // expected-error@+1 {{expects no products of pairs with dropout}}
  %o = attn.sdpa %q, %q, %q scale 0.5 dropout 0.5 seed %x : tensor<i64>
      {schedule = #attn.cpu_schedule<lanes = 8, rows = 4, vectors = 1, query_tile = 32, key_tile = 8, unroll = 1, prefetch = 0, products = dot>}
      : (tensor<5x8xbf16>, tensor<5x8xbf16>, tensor<5x8xbf16>) -> tensor<5x8xbf16>
  return
}

// -----

func.func @sdpa_c24_no_seed(%q: tensor<5x8xf32>) {
  // expected-error@+1 {{'dropout' has a place of its own in the syntax}}
  %o = attn.sdpa %q, %q, %q scale 0.5 {dropout = 0.5} : (tensor<5x8xf32>, tensor<5x8xf32>, tensor<5x8xf32>) -> tensor<5x8xf32>
  return
}
