// RUN: attn-opt %s -split-input-file -verify-diagnostics
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What attn.sdpa rejects about schedules and normalization; the numbers are those of docs/Spec.md.

func.func @sdpa_c13_schedule_of_decode(%q: tensor<2x4x1x8xf32>, %k: tensor<2x2x6x8xf32>, %v: tensor<2x2x6x3xf32>) {
  // expected-error@+1 {{expects schedule to have kind prefill, but got decode}}
  %r = attn.sdpa %q, %k, %v scale 0.5 {schedule = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 2, key_tile = 8, unroll = 1, prefetch = 0, kind = decode, split_keys = 64>}
      : (tensor<2x4x1x8xf32>, tensor<2x2x6x8xf32>, tensor<2x2x6x3xf32>) -> tensor<2x4x1x3xf32>
  return
}

// -----

func.func @sdpa_c13_decode_schedule_of_prefill(%q: tensor<2x4x1x8xf32>, %k: tensor<2x2x6x8xf32>, %v: tensor<2x2x6x3xf32>) {
  // expected-error@+1 {{expects decode_schedule to have kind decode, but got prefill}}
  %r = attn.sdpa %q, %k, %v scale 0.5 {decode_schedule = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>}
      : (tensor<2x4x1x8xf32>, tensor<2x2x6x8xf32>, tensor<2x2x6x3xf32>) -> tensor<2x4x1x3xf32>
  return
}

// -----

func.func @sdpa_c14_weights(%q: tensor<2x4x1x8xf32>, %k: tensor<2x2x6x8xf32>, %v: tensor<2x2x6x3xf32>) {
  // expected-error@+1 {{expects no decode_schedule where weights or scores are returned}}
  %r0, %r1 = attn.sdpa %q, %k, %v scale 0.5 returning(out, weights) {decode_schedule = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 2, key_tile = 8, unroll = 1, prefetch = 0, kind = decode, split_keys = 64>}
      : (tensor<2x4x1x8xf32>, tensor<2x2x6x8xf32>, tensor<2x2x6x3xf32>) -> (tensor<2x4x1x3xf32>, tensor<2x4x1x6xf32>)
  return
}

// -----

func.func @sdpa_c19_sigmoid_lse(%q: tensor<4x5x8xf32>, %k: tensor<2x6x8xf32>, %v: tensor<2x6x3xf32>) {
  // expected-error@+1 {{expects no lse with normalization sigmoid}}
  %r:2 = attn.sdpa %q, %k, %v scale 0.5 returning(out, lse) {normalization = #attn<normalization sigmoid>}
      : (tensor<4x5x8xf32>, tensor<2x6x8xf32>, tensor<2x6x3xf32>) -> (tensor<4x5x3xf32>, tensor<4x5xf32>)
  return
}

// -----

func.func @sdpa_c19_sigmoid_state(%q: tensor<4x5x8xf32>, %k: tensor<2x6x8xf32>, %v: tensor<2x6x3xf32>) {
  // expected-error@+1 {{expects no state with normalization sigmoid}}
  %r:4 = attn.sdpa %q, %k, %v scale 0.5 returning(out, state) {normalization = #attn<normalization sigmoid>}
      : (tensor<4x5x8xf32>, tensor<2x6x8xf32>, tensor<2x6x3xf32>) -> (tensor<4x5x3xf32>, tensor<4x5xf32>, tensor<4x5xf32>, tensor<4x5x3xf32>)
  return
}

// -----

func.func @sdpa_c19_sigmoid_sinks(%q: tensor<4x5x8xf32>, %k: tensor<2x6x8xf32>, %v: tensor<2x6x3xf32>, %s: tensor<4xf32>) {
  // expected-error@+1 {{expects no sinks with normalization sigmoid}}
  %r:1 = attn.sdpa %q, %k, %v scale 0.5 sinks %s : tensor<4xf32> {normalization = #attn<normalization sigmoid>}
      : (tensor<4x5x8xf32>, tensor<2x6x8xf32>, tensor<2x6x3xf32>) -> tensor<4x5x3xf32>
  return
}

// -----

func.func @sdpa_c19_sigmoid_decode(%q: tensor<4x5x8xf32>, %k: tensor<2x6x8xf32>, %v: tensor<2x6x3xf32>) {
  // expected-error@+1 {{expects no decode_schedule with normalization sigmoid}}
  %r:1 = attn.sdpa %q, %k, %v scale 0.5 {normalization = #attn<normalization sigmoid>, decode_schedule = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0, kind = decode, split_keys = 64>}
      : (tensor<4x5x8xf32>, tensor<2x6x8xf32>, tensor<2x6x3xf32>) -> tensor<4x5x3xf32>
  return
}

// -----

func.func @sdpa_c20_query_of_f32(%q: tensor<?x8xf32>, %v: tensor<?x3xbf16>) {
  // expected-error@+1 {{expects elements of bf16 for products = dot, but got 'tensor<?x8xf32>'}}
  %r = attn.sdpa %q, %q, %v scale 0.5 {schedule = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0, products = dot>}
      : (tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x3xbf16>) -> tensor<?x3xbf16>
  return
}

// -----

func.func @sdpa_c20_value_of_f16(%q: tensor<?x8xbf16>, %v: tensor<?x3xf16>) {
  // expected-error@+1 {{expects elements of bf16 for products = dot, but got 'tensor<?x3xf16>'}}
  %r = attn.sdpa %q, %q, %v scale 0.5 {schedule = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0, products = dot>}
      : (tensor<?x8xbf16>, tensor<?x8xbf16>, tensor<?x3xf16>) -> tensor<?x3xf16>
  return
}

// -----

func.func @sdpa_c20_decode_of_f32(%q: tensor<4x1x32xf32>, %k: tensor<2x?x32xf32>) {
  // expected-error@+1 {{expects elements of bf16 for products = dot, but got 'tensor<4x1x32xf32>'}}
  %r = attn.sdpa %q, %k, %k scale 0.5 {decode_schedule = #attn.cpu_schedule<lanes = 8, rows = 2, vectors = 2, query_tile = 8, key_tile = 8, unroll = 1, prefetch = 0, kind = decode, split_keys = 64, products = dot>}
      : (tensor<4x1x32xf32>, tensor<2x?x32xf32>, tensor<2x?x32xf32>) -> tensor<4x1x32xf32>
  return
}

// -----

func.func @sdpa_c20_decode_of_part_of_a_vector(%q: tensor<4x1x32xbf16>, %k: tensor<2x?x32xbf16>, %v: tensor<2x?x40xbf16>) {
  // expected-error@+1 {{expects head dimensions to be multiples of 16 for its schedule, but got 32 and 40}}
  %r = attn.sdpa %q, %k, %v scale 0.5 {decode_schedule = #attn.cpu_schedule<lanes = 8, rows = 2, vectors = 2, query_tile = 8, key_tile = 8, unroll = 1, prefetch = 0, kind = decode, split_keys = 64, products = dot>}
      : (tensor<4x1x32xbf16>, tensor<2x?x32xbf16>, tensor<2x?x40xbf16>) -> tensor<4x1x40xbf16>
  return
}

// -----

func.func @sdpa_c20_sigmoid(%q: tensor<?x8xbf16>, %v: tensor<?x3xbf16>) {
  // expected-error@+1 {{expects no products = dot with normalization sigmoid}}
  %r = attn.sdpa %q, %q, %v scale 0.5 {normalization = #attn<normalization sigmoid>, schedule = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0, products = dot>}
      : (tensor<?x8xbf16>, tensor<?x8xbf16>, tensor<?x3xbf16>) -> tensor<?x3xbf16>
  return
}

// -----

func.func @sdpa_c20_tiles_of_f32(%q: tensor<?x8xf32>, %v: tensor<?x3xbf16>) {
  // expected-error@+1 {{expects elements of bf16 for products = amx, but got 'tensor<?x8xf32>'}}
  %r = attn.sdpa %q, %q, %v scale 0.5 {schedule = #attn.cpu_schedule<lanes = 16, rows = 32, vectors = 2, query_tile = 32, key_tile = 64, unroll = 1, prefetch = 0, products = amx>}
      : (tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x3xbf16>) -> tensor<?x3xbf16>
  return
}

// -----

func.func @sdpa_c20_tiles_by_sigmoid(%q: tensor<?x8xbf16>, %v: tensor<?x3xbf16>) {
  // expected-error@+1 {{expects no products = amx with normalization sigmoid}}
  %r = attn.sdpa %q, %q, %v scale 0.5 {normalization = #attn<normalization sigmoid>, schedule = #attn.cpu_schedule<lanes = 16, rows = 32, vectors = 2, query_tile = 32, key_tile = 64, unroll = 1, prefetch = 0, products = amx>}
      : (tensor<?x8xbf16>, tensor<?x8xbf16>, tensor<?x3xbf16>) -> tensor<?x3xbf16>
  return
}

// -----

func.func @sdpa_c23_split_weights(%q: tensor<4x8xf32>, %k: tensor<6x8xf32>, %v: tensor<6x3xf32>) {
  // expected-error@+1 {{expects a schedule without split_keys: weights and scores need the sum over all keys}}
  %o, %w = attn.sdpa %q, %k, %v scale 0.5 returning(out, weights) {schedule = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0, split_keys = 16, split_queries = 8>}
      : (tensor<4x8xf32>, tensor<6x8xf32>, tensor<6x3xf32>) -> (tensor<4x3xf32>, tensor<4x6xf32>)
  return
}

// -----

func.func @sdpa_c23_split_maps(%q: tensor<4x8xf32>, %k: tensor<6x8xf32>, %v: tensor<6x3xf32>, %l: tensor<f32>) {
  // expected-error@+1 {{expects a schedule without split_keys: the difference of two maps needs their sums over all keys}}
  %o = attn.sdpa %q, %k, %v minus %q, %k by %l : tensor<f32> scale 0.5 {schedule = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0, split_keys = 16, split_queries = 64>}
      : (tensor<4x8xf32>, tensor<6x8xf32>, tensor<6x3xf32>) -> tensor<4x3xf32>
  return
}

// -----

func.func @sdpa_c23_split_sigmoid(%q: tensor<4x8xf32>, %k: tensor<6x8xf32>, %v: tensor<6x3xf32>) {
  // expected-error@+1 {{expects a schedule without split_keys: weights by sigmoid have no sums to merge}}
  %o = attn.sdpa %q, %k, %v scale 0.5 {normalization = #attn<normalization sigmoid>, schedule = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0, split_keys = 16, split_queries = 8>}
      : (tensor<4x8xf32>, tensor<6x8xf32>, tensor<6x3xf32>) -> tensor<4x3xf32>
  return
}

// -----

func.func @sdpa_c23_split_documents(%q: tensor<4x8xf32>, %k: tensor<6x8xf32>, %v: tensor<6x3xf32>, %i: tensor<4xi32>, %j: tensor<6xi32>) {
  // expected-error@+1 {{expects a schedule without split_keys: rows see few of all keys, those of their documents}}
  %o = attn.sdpa %q, %k, %v scale 0.5 where document(%i : tensor<4xi32>, %j : tensor<6xi32>) {schedule = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0, split_keys = 16, split_queries = 8>}
      : (tensor<4x8xf32>, tensor<6x8xf32>, tensor<6x3xf32>) -> tensor<4x3xf32>
  return
}
