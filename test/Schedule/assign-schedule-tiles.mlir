// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products of tiles where the target has them, query, key and value are bf16, and
// padding less than doubles the work. The rest is as without them, in pairs where these are worth it.
// RUN: attn-opt %s --attn-set-target=facts=lanes=16,registers=32,pair_chains=12,l1_bytes=49152,products=amx --attn-assign-schedule="split-keys=0" | FileCheck %s --check-prefixes=CHECK,LARGE
// RUN: attn-opt %s --attn-set-target=facts=lanes=16,registers=32,l1_bytes=32768,products=amx --attn-assign-schedule="split-keys=0" | FileCheck %s --check-prefixes=CHECK,SMALL
#single = #attn.cpu_schedule<lanes = 16, rows = 4, vectors = 4, query_tile = 128, key_tile = 64, unroll = 4, prefetch = 2>
#pairs = #attn.cpu_schedule<lanes = 16, rows = 4, vectors = 4, query_tile = 128, key_tile = 64, unroll = 4, prefetch = 2, products = dot>

// CHECK-LABEL: @unknown
// CHECK: decode_schedule = #attn.cpu_schedule<{{.*}} kind = decode, split_keys = 960>
// LARGE-SAME: schedule = #attn.cpu_schedule<lanes = 16, rows = 32, vectors = 2, query_tile = 256, key_tile = 128, unroll = 1, prefetch = 2, products = amx>
// SMALL-SAME: schedule = #attn.cpu_schedule<lanes = 16, rows = 32, vectors = 2, query_tile = 256, key_tile = 64, unroll = 1, prefetch = 2, products = amx>
func.func @unknown(%q: tensor<?x64xbf16>, %k: tensor<?x64xbf16>) -> tensor<?x64xbf16> {
  %o = attn.sdpa %q, %k, %k scale 0.125 : (tensor<?x64xbf16>, tensor<?x64xbf16>, tensor<?x64xbf16>) -> tensor<?x64xbf16>
  return %o : tensor<?x64xbf16>
}

// A query tile has no query block without a query; the widest rows decide on the keys.
// CHECK-LABEL: @known
// CHECK-NOT: decode_schedule
// LARGE: schedule = #attn.cpu_schedule<{{.*}} query_tile = 64, key_tile = 64, {{.*}} products = amx>
func.func @known(%q: tensor<33x32xbf16>, %k: tensor<?x32xbf16>, %v: tensor<?x128xbf16>) -> tensor<33x128xbf16> {
  %o = attn.sdpa %q, %k, %v scale 0.125 : (tensor<33x32xbf16>, tensor<?x32xbf16>, tensor<?x128xbf16>) -> tensor<33x128xbf16>
  return %o : tensor<33x128xbf16>
}

// 64 + 16 padded is twice 33 + 7.
// CHECK-LABEL: @half_full
// CHECK: products = amx
func.func @half_full(%q: tensor<?x33xbf16>, %v: tensor<?x7xbf16>) -> tensor<?x7xbf16> {
  %o = attn.sdpa %q, %q, %v scale 0.125 : (tensor<?x33xbf16>, tensor<?x33xbf16>, tensor<?x7xbf16>) -> tensor<?x7xbf16>
  return %o : tensor<?x7xbf16>
}

// CHECK-LABEL: @less_than_half_full
// LARGE: rows = 4, {{.*}} products = dot
// SMALL-NOT: products
func.func @less_than_half_full(%q: tensor<?x33xbf16>, %v: tensor<?x6xbf16>) -> tensor<?x6xbf16> {
  %o = attn.sdpa %q, %q, %v scale 0.125 : (tensor<?x33xbf16>, tensor<?x33xbf16>, tensor<?x6xbf16>) -> tensor<?x6xbf16>
  return %o : tensor<?x6xbf16>
}

// CHECK-LABEL: @few
// CHECK-NOT: products = amx
func.func @few(%q: tensor<4x64xbf16>, %k: tensor<?x64xbf16>) -> tensor<4x64xbf16> {
  %o = attn.sdpa %q, %k, %k scale 0.125 : (tensor<4x64xbf16>, tensor<?x64xbf16>, tensor<?x64xbf16>) -> tensor<4x64xbf16>
  return %o : tensor<4x64xbf16>
}

// CHECK-LABEL: @values_of_f32
// CHECK-NOT: products = amx
func.func @values_of_f32(%q: tensor<?x64xbf16>, %v: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %o = attn.sdpa %q, %q, %v scale 0.125 : (tensor<?x64xbf16>, tensor<?x64xbf16>, tensor<?x64xf32>) -> tensor<?x64xf32>
  return %o : tensor<?x64xf32>
}

// CHECK-LABEL: @queries_of_f16
// CHECK-NOT: products = amx
func.func @queries_of_f16(%q: tensor<?x64xf16>, %v: tensor<?x64xbf16>) -> tensor<?x64xbf16> {
  %o = attn.sdpa %q, %q, %v scale 0.125 : (tensor<?x64xf16>, tensor<?x64xf16>, tensor<?x64xbf16>) -> tensor<?x64xbf16>
  return %o : tensor<?x64xbf16>
}

// CHECK-LABEL: @sigmoid
// CHECK-NOT: products
func.func @sigmoid(%q: tensor<?x64xbf16>) -> tensor<?x64xbf16> {
  %o = attn.sdpa %q, %q, %q scale 0.125 {normalization = #attn<normalization sigmoid>} : (tensor<?x64xbf16>, tensor<?x64xbf16>, tensor<?x64xbf16>) -> tensor<?x64xbf16>
  return %o : tensor<?x64xbf16>
}

// A schedule of the user's stays.
// CHECK-LABEL: @pinned_pairs
// CHECK-NOT: products = amx
// CHECK: products = dot
func.func @pinned_pairs(%q: tensor<?x64xbf16>) -> tensor<?x64xbf16> {
  %o = attn.sdpa %q, %q, %q scale 0.125 {schedule = #pairs} : (tensor<?x64xbf16>, tensor<?x64xbf16>, tensor<?x64xbf16>) -> tensor<?x64xbf16>
  return %o : tensor<?x64xbf16>
}

// CHECK-LABEL: @pinned_single
// CHECK-NOT: products
func.func @pinned_single(%q: tensor<?x64xbf16>) -> tensor<?x64xbf16> {
  %o = attn.sdpa %q, %q, %q scale 0.125 {schedule = #single} : (tensor<?x64xbf16>, tensor<?x64xbf16>, tensor<?x64xbf16>) -> tensor<?x64xbf16>
  return %o : tensor<?x64xbf16>
}

// CHECK-LABEL: @project
// CHECK: products = amx
func.func @project(%x: tensor<?x64xbf16>, %w: tensor<64x64xbf16>) -> tensor<?x64xbf16> {
  %y = attn.project %x, %w : (tensor<?x64xbf16>, tensor<64x64xbf16>) -> tensor<?x64xbf16>
  return %y : tensor<?x64xbf16>
}
