// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Register tiles of kind decode. 32 registers hold blocks of 8 queries where those
// are as full as blocks of 4, and features of 4 or 2 queries in a vector; 2 to 4 queries of 32 bits wait for memory, and read a
// row at a time.
// RUN: attn-opt %s --attn-set-target=facts=lanes=8 --attn-assign-schedule | FileCheck %s --check-prefixes=CHECK,AVX2
// RUN: attn-opt %s --attn-set-target=facts=lanes=16,registers=32 --attn-assign-schedule | FileCheck %s --check-prefixes=CHECK,AVX512
// RUN: attn-opt %s --attn-set-target=facts=lanes=16,registers=32,chains=4,pair_chains=6 --attn-assign-schedule | FileCheck %s --check-prefixes=CHECK,ONE

// CHECK-LABEL: @eight
// AVX2: decode_schedule = #attn.cpu_schedule<lanes = 8, rows = 3, vectors = 3, query_tile = 8, key_tile = 48, unroll = 1, prefetch = 2, kind = decode, split_keys = 1008>
// AVX512: decode_schedule = #attn.cpu_schedule<lanes = 16, rows = 8, vectors = 2, query_tile = 8, key_tile = 64, unroll = 2, prefetch = 2, kind = decode, split_keys = 1024, block = 8, interleave = 4>
// ONE: decode_schedule = #attn.cpu_schedule<lanes = 16, rows = 8, vectors = 1, query_tile = 8, key_tile = 64, unroll = 2, prefetch = 2, kind = decode, split_keys = 1024, block = 8, interleave = 4>
func.func @eight(%q: tensor<8x1x128xf32>, %k: tensor<1x?x128xf32>) -> tensor<8x1x128xf32> {
  %o = attn.sdpa %q, %k, %k scale 1.0 : (tensor<8x1x128xf32>, tensor<1x?x128xf32>, tensor<1x?x128xf32>) -> tensor<8x1x128xf32>
  return %o : tensor<8x1x128xf32>
}

// Keys of 16 bits are converted each time that they are read, so a vector holds
// features of 2 queries only.
// CHECK-LABEL: @halves
// AVX2: rows = 3, vectors = 3, query_tile = 8, key_tile = 96, unroll = 1,
// AVX512: rows = 4, vectors = 2, query_tile = 8, key_tile = 128, {{.*}} block = 8, interleave = 2>
// ONE: rows = 4, vectors = 1, query_tile = 8, key_tile = 128, {{.*}} block = 8, interleave = 2>
func.func @halves(%q: tensor<8x1x128xf16>, %k: tensor<1x?x128xf16>) -> tensor<8x1x128xf16> {
  %o = attn.sdpa %q, %k, %k scale 1.0 : (tensor<8x1x128xf16>, tensor<1x?x128xf16>, tensor<1x?x128xf16>) -> tensor<8x1x128xf16>
  return %o : tensor<8x1x128xf16>
}

// It is keys that are read into several vectors, not values.
// CHECK-LABEL: @half_values
// AVX512: rows = 8, vectors = 2, query_tile = 8, {{.*}} block = 8, interleave = 4>
func.func @half_values(%q: tensor<8x1x128xf32>, %k: tensor<1x?x128xf32>, %v: tensor<1x?x128xf16>) -> tensor<8x1x128xf16> {
  %o = attn.sdpa %q, %k, %v scale 1.0 : (tensor<8x1x128xf32>, tensor<1x?x128xf32>, tensor<1x?x128xf16>) -> tensor<8x1x128xf16>
  return %o : tensor<8x1x128xf16>
}

// CHECK-LABEL: @pairs
// ONE: rows = 8, vectors = 2, query_tile = 8, key_tile = 96, unroll = 4, {{.*}} products = dot, block = 8, interleave = 4>
func.func @pairs(%q: tensor<8x1x128xbf16>, %k: tensor<1x?x128xbf16>) -> tensor<8x1x128xbf16> {
  %o = attn.sdpa %q, %k, %k scale 1.0 : (tensor<8x1x128xbf16>, tensor<1x?x128xbf16>, tensor<1x?x128xbf16>) -> tensor<8x1x128xbf16>
  return %o : tensor<8x1x128xbf16>
}
// CHECK-LABEL: @four_pairs
// ONE: rows = 4, vectors = 4, query_tile = 4, key_tile = 64, {{.*}} products = dot>
func.func @four_pairs(%q: tensor<4x1x128xbf16>, %k: tensor<1x?x128xbf16>) -> tensor<4x1x128xbf16> {
  %o = attn.sdpa %q, %k, %k scale 1.0 : (tensor<4x1x128xbf16>, tensor<1x?x128xbf16>, tensor<1x?x128xbf16>) -> tensor<4x1x128xbf16>
  return %o : tensor<4x1x128xbf16>
}

// Eight of f64 are added up as they were.
// CHECK-LABEL: @doubles
// AVX512: lanes = 8, rows = 2, vectors = 2, query_tile = 8, {{.*}} block = 8>
func.func @doubles(%q: tensor<8x1x128xf64>, %k: tensor<1x?x128xf64>) -> tensor<8x1x128xf64> {
  %o = attn.sdpa %q, %k, %k scale 1.0 : (tensor<8x1x128xf64>, tensor<1x?x128xf64>, tensor<1x?x128xf64>) -> tensor<8x1x128xf64>
  return %o : tensor<8x1x128xf64>
}

// Six queries fill no more of two blocks of 4 than of one of 8; twelve would leave
// half of a second block of 8 empty.
// CHECK-LABEL: @six
// AVX512: rows = 8, vectors = 2, query_tile = 6, {{.*}} block = 8, interleave = 4>
func.func @six(%q: tensor<3x2x128xf32>, %k: tensor<1x?x128xf32>) -> tensor<3x2x128xf32> {
  %o = attn.sdpa %q, %k, %k scale 1.0 : (tensor<3x2x128xf32>, tensor<1x?x128xf32>, tensor<1x?x128xf32>) -> tensor<3x2x128xf32>
  return %o : tensor<3x2x128xf32>
}
// CHECK-LABEL: @twelve
// AVX2: rows = 3, vectors = 3, query_tile = 12, key_tile = 48,
// AVX512: rows = 4, vectors = 4, query_tile = 12, key_tile = 48, {{.*}} kind = decode, split_keys = 1008>
func.func @twelve(%q: tensor<12x1x128xf32>, %k: tensor<1x?x128xf32>) -> tensor<12x1x128xf32> {
  %o = attn.sdpa %q, %k, %k scale 1.0 : (tensor<12x1x128xf32>, tensor<1x?x128xf32>, tensor<1x?x128xf32>) -> tensor<12x1x128xf32>
  return %o : tensor<12x1x128xf32>
}

// Where the number of queries is unknown, one per head is the usual one.
// CHECK-LABEL: @unknown
// AVX512: rows = 8, vectors = 2, query_tile = 120, {{.*}} block = 8, interleave = 4>
func.func @unknown(%q: tensor<8x?x128xf32>, %k: tensor<1x?x128xf32>) -> tensor<8x?x128xf32> {
  %o = attn.sdpa %q, %k, %k scale 1.0 : (tensor<8x?x128xf32>, tensor<1x?x128xf32>, tensor<1x?x128xf32>) -> tensor<8x?x128xf32>
  return %o : tensor<8x?x128xf32>
}

// CHECK-LABEL: @four
// AVX2: rows = 3, vectors = 3, query_tile = 4, key_tile = 48,
// AVX512: rows = 1, vectors = 1, query_tile = 4, key_tile = 16, unroll = 4, {{.*}} split_keys = 1024>
func.func @four(%q: tensor<4x1x128xf32>, %k: tensor<1x?x128xf32>) -> tensor<4x1x128xf32> {
  %o = attn.sdpa %q, %k, %k scale 1.0 : (tensor<4x1x128xf32>, tensor<1x?x128xf32>, tensor<1x?x128xf32>) -> tensor<4x1x128xf32>
  return %o : tensor<4x1x128xf32>
}
// CHECK-LABEL: @four_wide
// AVX2: rows = 2, vectors = 2, query_tile = 4, key_tile = 48,
// AVX512: rows = 1, vectors = 1, query_tile = 4, key_tile = 16,
func.func @four_wide(%q: tensor<4x1x256xf32>, %k: tensor<1x?x256xf32>) -> tensor<4x1x256xf32> {
  %o = attn.sdpa %q, %k, %k scale 1.0 : (tensor<4x1x256xf32>, tensor<1x?x256xf32>, tensor<1x?x256xf32>) -> tensor<4x1x256xf32>
  return %o : tensor<4x1x256xf32>
}
// CHECK-LABEL: @four_halves
// AVX2: rows = 3, vectors = 3, query_tile = 4, key_tile = 96, unroll = 1,
// AVX512: rows = 4, vectors = 4, query_tile = 4, key_tile = 96,
func.func @four_halves(%q: tensor<4x1x128xf16>, %k: tensor<1x?x128xf16>) -> tensor<4x1x128xf16> {
  %o = attn.sdpa %q, %k, %k scale 1.0 : (tensor<4x1x128xf16>, tensor<1x?x128xf16>, tensor<1x?x128xf16>) -> tensor<4x1x128xf16>
  return %o : tensor<4x1x128xf16>
}

// A single head with an unknown number of queries may have one: no tile of 16 keys.
// CHECK-LABEL: @alone
// AVX512: decode_schedule = {{.*}} rows = 4, vectors = 4, query_tile = 15, key_tile = 48,
func.func @alone(%q: tensor<?x128xf32>, %k: tensor<?x128xf32>) -> tensor<?x128xf32> {
  %o = attn.sdpa %q, %k, %k scale 1.0 : (tensor<?x128xf32>, tensor<?x128xf32>, tensor<?x128xf32>) -> tensor<?x128xf32>
  return %o : tensor<?x128xf32>
}
