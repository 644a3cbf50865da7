// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Dot products of pairs where the target has them and query, key and value are
// bf16, for many queries. 12 chains want no other register tile than 8 do. The
// key tile leaves room for a query block's scores in two thirds of the level-1 cache.
// RUN: attn-opt %s --attn-set-target=facts=lanes=16,registers=32,pair_chains=12 --attn-assign-schedule="split-keys=0" | FileCheck %s --check-prefixes=CHECK,PAIRS
// RUN: attn-opt %s --attn-set-target=facts=lanes=16,registers=32,pair_chains=12,l1_bytes=49152 --attn-assign-schedule="split-keys=0" | FileCheck %s --check-prefixes=CHECK,LARGE
// RUN: attn-opt %s --attn-set-target=facts=lanes=16,registers=32,pair_chains=16 --attn-assign-schedule="split-keys=0" | FileCheck %s --check-prefixes=CHECK,DEEP
// RUN: attn-opt %s --attn-set-target=facts=lanes=16,registers=32,chains=4,pair_chains=6 --attn-assign-schedule="split-keys=0" | FileCheck %s --check-prefixes=CHECK,ONE
// RUN: attn-opt %s --attn-set-target=facts=lanes=16,registers=32 --attn-assign-schedule="split-keys=0" | FileCheck %s --check-prefixes=CHECK,NONE
#pinned = #attn.cpu_schedule<lanes = 16, rows = 4, vectors = 4, query_tile = 128, key_tile = 64, unroll = 4, prefetch = 2>

// CHECK-LABEL: @bf16
// CHECK: decode_schedule = #attn.cpu_schedule<{{.*}} kind = decode, split_keys = 960>
// PAIRS-SAME: schedule = #attn.cpu_schedule<lanes = 16, rows = 4, vectors = 4, query_tile = 192, key_tile = 56, unroll = 4, prefetch = 2, products = dot>
// LARGE-SAME: schedule = #attn.cpu_schedule<lanes = 16, rows = 4, vectors = 4, query_tile = 192, key_tile = 84, unroll = 4, prefetch = 2, products = dot>
// DEEP-SAME: schedule = #attn.cpu_schedule<lanes = 16, rows = 4, vectors = 5, query_tile = 160, key_tile = 48, unroll = 4, prefetch = 2, products = dot>
// ONE-SAME: schedule = #attn.cpu_schedule<lanes = 16, rows = 4, vectors = 4, query_tile = 192, key_tile = 128, unroll = 4, prefetch = 2, products = dot>
// NONE-SAME: schedule = #attn.cpu_schedule<lanes = 16, rows = 6, vectors = 3, query_tile = 192, key_tile = 96, unroll = 4, prefetch = 2>
func.func @bf16(%q: tensor<?x64xbf16>, %k: tensor<?x64xbf16>) -> tensor<?x64xbf16> {
  %o = attn.sdpa %q, %k, %k scale 0.125 : (tensor<?x64xbf16>, tensor<?x64xbf16>, tensor<?x64xbf16>) -> tensor<?x64xbf16>
  return %o : tensor<?x64xbf16>
}

// CHECK-LABEL: @wide
// PAIRS: schedule = #attn.cpu_schedule<{{.*}}key_tile = 48,{{.*}} products = dot>
// LARGE: schedule = #attn.cpu_schedule<{{.*}}key_tile = 64,{{.*}} products = dot>
func.func @wide(%q: tensor<200x128xbf16>, %k: tensor<?x128xbf16>) -> tensor<200x128xbf16> {
  %o = attn.sdpa %q, %k, %k scale 0.125 : (tensor<200x128xbf16>, tensor<?x128xbf16>, tensor<?x128xbf16>) -> tensor<200x128xbf16>
  return %o : tensor<200x128xbf16>
}

// Edges of a mask are finer.
// CHECK-LABEL: @masked
// PAIRS: schedule = #attn.cpu_schedule<lanes = 16, rows = 8, vectors = 2, query_tile = 128, key_tile = 80, unroll = 4, prefetch = 2, products = dot>
// ONE: schedule = #attn.cpu_schedule<lanes = 16, rows = 8, vectors = 2, query_tile = 128, key_tile = 96, unroll = 4, prefetch = 2, products = dot>
func.func @masked(%q: tensor<200x64xbf16>) -> tensor<200x64xbf16> {
  %o = attn.sdpa %q, %q, %q scale 0.125 where causal(top_left) : (tensor<200x64xbf16>, tensor<200x64xbf16>, tensor<200x64xbf16>) -> tensor<200x64xbf16>
  return %o : tensor<200x64xbf16>
}

// CHECK-LABEL: @few
// CHECK-NOT: pairs
func.func @few(%q: tensor<4x64xbf16>, %k: tensor<?x64xbf16>) -> tensor<4x64xbf16> {
  %o = attn.sdpa %q, %k, %k scale 0.125 : (tensor<4x64xbf16>, tensor<?x64xbf16>, tensor<?x64xbf16>) -> tensor<4x64xbf16>
  return %o : tensor<4x64xbf16>
}

// CHECK-LABEL: @values_of_f32
// CHECK-NOT: pairs
func.func @values_of_f32(%q: tensor<?x64xbf16>, %v: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %o = attn.sdpa %q, %q, %v scale 0.125 : (tensor<?x64xbf16>, tensor<?x64xbf16>, tensor<?x64xf32>) -> tensor<?x64xf32>
  return %o : tensor<?x64xf32>
}

// CHECK-LABEL: @queries_of_f16
// CHECK-NOT: pairs
func.func @queries_of_f16(%q: tensor<?x64xf16>, %v: tensor<?x64xbf16>) -> tensor<?x64xbf16> {
  %o = attn.sdpa %q, %q, %v scale 0.125 : (tensor<?x64xf16>, tensor<?x64xf16>, tensor<?x64xbf16>) -> tensor<?x64xbf16>
  return %o : tensor<?x64xbf16>
}

// CHECK-LABEL: @f32
// CHECK-NOT: pairs
func.func @f32(%q: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %o = attn.sdpa %q, %q, %q scale 0.125 : (tensor<?x64xf32>, tensor<?x64xf32>, tensor<?x64xf32>) -> tensor<?x64xf32>
  return %o : tensor<?x64xf32>
}

// A schedule without them turns them off.
// CHECK-LABEL: @pinned
// CHECK-NOT: pairs
func.func @pinned(%q: tensor<?x64xbf16>) -> tensor<?x64xbf16> {
  %o = attn.sdpa %q, %q, %q scale 0.125 {schedule = #pinned} : (tensor<?x64xbf16>, tensor<?x64xbf16>, tensor<?x64xbf16>) -> tensor<?x64xbf16>
  return %o : tensor<?x64xbf16>
}

// A projection has none.
// CHECK-LABEL: @project
// CHECK-NOT: pairs
func.func @project(%x: tensor<?x64xbf16>, %w: tensor<64x64xbf16>) -> tensor<?x64xbf16> {
  %y = attn.project %x, %w : (tensor<?x64xbf16>, tensor<64x64xbf16>) -> tensor<?x64xbf16>
  return %y : tensor<?x64xbf16>
}
