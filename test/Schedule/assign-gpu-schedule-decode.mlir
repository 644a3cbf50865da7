// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Few queries on a GPU: the heads of a group are rows of one block, and blocks have 512 keys, or 256 of many features.
// RUN: attn-opt %s -attn-assign-gpu-schedule 2>&1 | FileCheck %s
// RUN: attn-opt %s "-attn-assign-gpu-schedule=split-keys=100" | FileCheck %s --check-prefix=SPLIT
// RUN: attn-opt %s "-attn-assign-gpu-schedule=split-keys=4611686018427387904" | FileCheck %s --check-prefix=HUGE
// RUN: attn-opt %s "-attn-assign-gpu-schedule=split-keys=0" | FileCheck %s --check-prefix=NEVER

// Four heads of one query are padded to 16 rows.
// CHECK-LABEL: @one
// CHECK: decode_schedule = #attn.gpu_schedule<query_tile = 16, key_tile = 128, warps = 1, kind = decode, split_keys = 512>
// CHECK-NOT: schedule
// SPLIT-LABEL: @one
// SPLIT: split_keys = 64>
// HUGE-LABEL: @one
// HUGE: split_keys = 2147483648>
// NEVER-LABEL: @one
// NEVER-NOT: decode_schedule
// NEVER: schedule = #attn.gpu_schedule<query_tile = 128, key_tile = 64, warps = 4>
func.func @one(%q: tensor<?x8x1x64xbf16>, %k: tensor<?x2x?x64xbf16>) -> tensor<?x8x1x64xbf16> {
  %out = attn.sdpa %q, %k, %k scale 0.125 : (tensor<?x8x1x64xbf16>, tensor<?x2x?x64xbf16>, tensor<?x2x?x64xbf16>) -> tensor<?x8x1x64xbf16>
  return %out : tensor<?x8x1x64xbf16>
}

// 3 * 8 rows need two warps.
// CHECK-LABEL: @several
// CHECK: decode_schedule = #attn.gpu_schedule<query_tile = 32, key_tile = 32, warps = 2, kind = decode, split_keys = 256>
func.func @several(%q: tensor<?x8x3x128xf32>, %k: tensor<?x1x?x128xf32>) -> tensor<?x8x3x128xf32> {
  %out = attn.sdpa %q, %k, %k scale 0.125 where causal(bottom_right) : (tensor<?x8x3x128xf32>, tensor<?x1x?x128xf32>, tensor<?x1x?x128xf32>) -> tensor<?x8x3x128xf32>
  return %out : tensor<?x8x3x128xf32>
}

// An unknown number of queries: up to 16 of two heads are few.
// CHECK-LABEL: @unknown
// CHECK: {decode_schedule = #attn.gpu_schedule<query_tile = 32, key_tile = 64, warps = 2, kind = decode, split_keys = 512>, schedule = #attn.gpu_schedule<query_tile = 128, key_tile = 64, warps = 4>}
func.func @unknown(%q: tensor<?x4x?x64xf16>, %k: tensor<?x2x?x64xf16>) -> tensor<?x4x?x64xf16> {
  %out = attn.sdpa %q, %k, %k scale 0.125 : (tensor<?x4x?x64xf16>, tensor<?x2x?x64xf16>, tensor<?x2x?x64xf16>) -> tensor<?x4x?x64xf16>
  return %out : tensor<?x4x?x64xf16>
}

// Of 128 heads that share a key head, 64 fit beside keys of 576 features.
// CHECK-LABEL: @latent
// CHECK: decode_schedule = #attn.gpu_schedule<query_tile = 64, key_tile = 32, warps = 4, kind = decode, split_keys = 256>
func.func @latent(%q: tensor<1x128x1x576xbf16>, %k: tensor<1x1x?x576xbf16>, %v: tensor<1x1x?x256xbf16>) -> tensor<1x128x1x256xbf16> {
  %out = attn.sdpa %q, %k, %v scale 0.125 : (tensor<1x128x1x576xbf16>, tensor<1x1x?x576xbf16>, tensor<1x1x?x256xbf16>) -> tensor<1x128x1x256xbf16>
  return %out : tensor<1x128x1x256xbf16>
}

// One part of the keys would need no second kernel.
// CHECK-LABEL: @short
// CHECK: {schedule = #attn.gpu_schedule<query_tile = 128, key_tile = 64, warps = 4>}
func.func @short(%q: tensor<8x1x64xf16>, %k: tensor<2x512x64xf16>) -> tensor<8x1x64xf16> {
  %out = attn.sdpa %q, %k, %k scale 0.125 : (tensor<8x1x64xf16>, tensor<2x512x64xf16>, tensor<2x512x64xf16>) -> tensor<8x1x64xf16>
  return %out : tensor<8x1x64xf16>
}

// CHECK-LABEL: @many
// CHECK: {schedule = #attn.gpu_schedule<query_tile = 128, key_tile = 64, warps = 4>}
func.func @many(%q: tensor<8x17x64xf16>, %k: tensor<2x?x64xf16>) -> tensor<8x17x64xf16> {
  %out = attn.sdpa %q, %k, %k scale 0.125 : (tensor<8x17x64xf16>, tensor<2x?x64xf16>, tensor<2x?x64xf16>) -> tensor<8x17x64xf16>
  return %out : tensor<8x17x64xf16>
}

// How many documents there are is known when the kernel runs, so that any number of queries may be few.
// CHECK-LABEL: @documents
// CHECK: decode_schedule = #attn.gpu_schedule<query_tile = 64, key_tile = 64, warps = 4, kind = decode, split_keys = 512>
// CHECK-SAME: schedule = #attn.gpu_schedule<query_tile = 128
func.func @documents(%q: tensor<8x40x64xf16>, %k: tensor<2x?x64xf16>, %cq: tensor<?xi32>, %ck: tensor<?xi32>) -> tensor<8x40x64xf16> {
  %out = attn.sdpa %q, %k, %k scale 0.125 where document(cumulative %cq : tensor<?xi32>, %ck : tensor<?xi32>) : (tensor<8x40x64xf16>, tensor<2x?x64xf16>, tensor<2x?x64xf16>) -> tensor<8x40x64xf16>
  return %out : tensor<8x40x64xf16>
}

// What is written by hand stays.
// CHECK-LABEL: @pinned
// CHECK: {decode_schedule = #attn.gpu_schedule<query_tile = 16, key_tile = 16, warps = 1, kind = decode, split_keys = 32>}
func.func @pinned(%q: tensor<2x1x64xf16>, %k: tensor<2x?x64xf16>) -> tensor<2x1x64xf16> {
  %out = attn.sdpa %q, %k, %k scale 0.125 {decode_schedule = #attn.gpu_schedule<query_tile = 16, key_tile = 16, warps = 1, kind = decode, split_keys = 32>} : (tensor<2x1x64xf16>, tensor<2x?x64xf16>, tensor<2x?x64xf16>) -> tensor<2x1x64xf16>
  return %out : tensor<2x1x64xf16>
}
