// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Few queries get a small tile: whole query blocks, one at least. From 4 vectors of 128
// bits on, at most 15 queries per head get the kind decode instead, one row each;
// a number that is not known gets both.
// RUN: attn-opt %s --attn-assign-schedule | FileCheck %s --check-prefixes=CHECK,AVX2
// RUN: attn-opt %s --attn-set-target=facts=lanes=16,registers=32 --attn-assign-schedule | FileCheck %s --check-prefixes=CHECK,AVX512
// RUN: attn-opt %s --attn-set-target=facts=lanes=4,registers=16 --attn-assign-schedule | FileCheck %s --check-prefixes=CHECK,SSE

// CHECK-LABEL: @one
// CHECK-NOT: {schedule = #attn.cpu_schedule
// AVX2: {decode_schedule = #attn.cpu_schedule<lanes = 8, rows = 3, vectors = 3, query_tile = 1, key_tile = 1024, unroll = 2, prefetch = 2, kind = decode, split_keys = 1024>}
// AVX512: {decode_schedule = #attn.cpu_schedule<lanes = 16, rows = 4, vectors = 4, query_tile = 1, key_tile = 1024, unroll = 4, prefetch = 2, kind = decode, split_keys = 1024>}
// SSE: {decode_schedule = #attn.cpu_schedule<lanes = 4, rows = 3, vectors = 3, query_tile = 1, key_tile = 1024, unroll = 2, prefetch = 2, kind = decode, split_keys = 1024>}
func.func @one(%q: tensor<1x8xf32>, %k: tensor<?x8xf32>) -> tensor<1x8xf32> {
  %o = attn.sdpa %q, %k, %k scale 1.0 : (tensor<1x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<1x8xf32>
  return %o : tensor<1x8xf32>
}

// CHECK-LABEL: @fifteen
// CHECK: {decode_schedule = {{.*}} query_tile = 15, {{.*}} kind = decode
func.func @fifteen(%q: tensor<15x8xf32>, %k: tensor<?x8xf32>) -> tensor<15x8xf32> {
  %o = attn.sdpa %q, %k, %k scale 1.0 : (tensor<15x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<15x8xf32>
  return %o : tensor<15x8xf32>
}

// CHECK-LABEL: @sixteen
// CHECK-NOT: decode
// AVX2: query_tile = 16,
// AVX512: rows = 6, vectors = 3, query_tile = 48,
// SSE: query_tile = 16,
func.func @sixteen(%q: tensor<16x8xf32>, %k: tensor<?x8xf32>) -> tensor<16x8xf32> {
  %o = attn.sdpa %q, %k, %k scale 1.0 : (tensor<16x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<16x8xf32>
  return %o : tensor<16x8xf32>
}

// CHECK-LABEL: @unknown
// CHECK: decode_schedule = {{.*}} query_tile = 15, {{.*}} kind = decode
// AVX2-SAME: schedule = {{.*}} query_tile = 144,
// AVX512-SAME: schedule = {{.*}} query_tile = 144,
// SSE-SAME: schedule = {{.*}} query_tile = 128,
func.func @unknown(%q: tensor<?x8xf32>, %k: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %o = attn.sdpa %q, %k, %k scale 1.0 : (tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  return %o : tensor<?x8xf32>
}

// A state has at most 128 rows: 12 queries of 10 heads. Of 200 heads there is none.
// CHECK-LABEL: @group
// CHECK: decode_schedule = {{.*}} query_tile = 120, {{.*}} kind = decode
// CHECK-LABEL: @large_group
// CHECK-NOT: decode
// CHECK: attn.sdpa
func.func @group(%q: tensor<10x?x8xf32>, %k: tensor<1x?x8xf32>) -> tensor<10x?x8xf32> {
  %o = attn.sdpa %q, %k, %k scale 1.0 : (tensor<10x?x8xf32>, tensor<1x?x8xf32>, tensor<1x?x8xf32>) -> tensor<10x?x8xf32>
  return %o : tensor<10x?x8xf32>
}
func.func @large_group(%q: tensor<200x?x8xf32>, %k: tensor<1x?x8xf32>) -> tensor<200x?x8xf32> {
  %o = attn.sdpa %q, %k, %k scale 1.0 : (tensor<200x?x8xf32>, tensor<1x?x8xf32>, tensor<1x?x8xf32>) -> tensor<200x?x8xf32>
  return %o : tensor<200x?x8xf32>
}

// Weights need lanes of queries.
// CHECK-LABEL: @weights
// CHECK-NOT: decode
// CHECK: attn.sdpa
func.func @weights(%q: tensor<1x8xf32>, %k: tensor<?x8xf32>) -> (tensor<1x8xf32>, tensor<1x?xf32>) {
  %o, %w = attn.sdpa %q, %k, %k scale 1.0 returning(out, weights) : (tensor<1x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>) -> (tensor<1x8xf32>, tensor<1x?xf32>)
  return %o, %w : tensor<1x8xf32>, tensor<1x?xf32>
}

// CHECK-LABEL: @seventeen
// AVX2: query_tile = 32,
// AVX512: rows = 6, vectors = 3, query_tile = 48,
// SSE: query_tile = 24,
func.func @seventeen(%q: tensor<2x17x8xf32>, %k: tensor<2x?x8xf32>) -> tensor<2x17x8xf32> {
  %o = attn.sdpa %q, %k, %k scale 1.0 : (tensor<2x17x8xf32>, tensor<2x?x8xf32>, tensor<2x?x8xf32>) -> tensor<2x17x8xf32>
  return %o : tensor<2x17x8xf32>
}

// Where heads lie behind the sequence, the sequence still counts.
// CHECK-LABEL: @behind
// AVX2: query_tile = 112,
// AVX512: query_tile = 144,
// SSE: query_tile = 104,
func.func @behind(%q: tensor<1x100x2x8xf32>, %k: tensor<1x2x?x8xf32>) -> tensor<1x2x100x8xf32> {
  %o = attn.sdpa %q, %k, %k scale 1.0 {query_layout = #attn<layout bshd>} : (tensor<1x100x2x8xf32>, tensor<1x2x?x8xf32>, tensor<1x2x?x8xf32>) -> tensor<1x2x100x8xf32>
  return %o : tensor<1x2x100x8xf32>
}

// CHECK-LABEL: @many
// AVX2: query_tile = 144,
// AVX512: query_tile = 128,
// SSE: query_tile = 128,
func.func @many(%q: tensor<1000x8xf32>, %k: tensor<?x8xf32>) -> tensor<1000x8xf32> {
  %o = attn.sdpa %q, %k, %k scale 1.0 : (tensor<1000x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<1000x8xf32>
  return %o : tensor<1000x8xf32>
}

// A known number of queries that is less than a tile of 144 keeps tiles of another size.
// CHECK-LABEL: @less
// AVX2: rows = 6, vectors = 2, query_tile = 128,
// AVX2: rows = 4, vectors = 3, query_tile = 144,
func.func @less(%q: tensor<143x8xf32>, %p: tensor<144x8xf32>, %k: tensor<?x8xf32>) -> (tensor<143x8xf32>, tensor<144x8xf32>) {
  %o = attn.sdpa %q, %k, %k scale 1.0 : (tensor<143x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<143x8xf32>
  %r = attn.sdpa %p, %k, %k scale 1.0 : (tensor<144x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<144x8xf32>
  return %o, %r : tensor<143x8xf32>, tensor<144x8xf32>
}

// Query blocks of 4 vectors, unless they leave vectors without a query.
// CHECK-LABEL: @whole
// AVX512: rows = 4, vectors = 4, query_tile = 64,
func.func @whole(%q: tensor<64x8xf32>, %k: tensor<?x8xf32>) -> tensor<64x8xf32> {
  %o = attn.sdpa %q, %k, %k scale 1.0 : (tensor<64x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<64x8xf32>
  return %o : tensor<64x8xf32>
}

// CHECK-LABEL: @one_more
// AVX512: rows = 6, vectors = 3, query_tile = 96,
func.func @one_more(%q: tensor<65x8xf32>, %k: tensor<?x8xf32>) -> tensor<65x8xf32> {
  %o = attn.sdpa %q, %k, %k scale 1.0 : (tensor<65x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<65x8xf32>
  return %o : tensor<65x8xf32>
}

// Of 1009 queries all have work.
// CHECK-LABEL: @nearly_whole
// AVX512: rows = 4, vectors = 4, query_tile = 128,
func.func @nearly_whole(%q: tensor<1009x8xf32>, %k: tensor<?x8xf32>) -> tensor<1009x8xf32> {
  %o = attn.sdpa %q, %k, %k scale 1.0 : (tensor<1009x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<1009x8xf32>
  return %o : tensor<1009x8xf32>
}
