// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Blocks of chips with less shared memory, such as sm_86, have smaller tiles where those of sm_80 do not fit.
// RUN: attn-opt %s --split-input-file -attn-assign-gpu-schedule | FileCheck %s
// RUN: attn-opt %s --split-input-file "-attn-set-target=facts=shared_bytes=101376" -attn-assign-gpu-schedule | FileCheck %s --check-prefix=LESS
// RUN: attn-opt %s --split-input-file '--attn-set-target=facts=processor="sm_90",shared_bytes=232448' -attn-assign-gpu-schedule | FileCheck %s --check-prefix=HOPPER
// RUN: not attn-opt %s --split-input-file "-attn-set-target=facts=shared_bytes=67583" -attn-assign-gpu-schedule 2>&1 | FileCheck %s --check-prefix=LEAST

// 192 rows of 64 features fit everywhere.
// CHECK-LABEL: @narrow
// CHECK: schedule = #attn.gpu_schedule<query_tile = 128, key_tile = 64, warps = 4>
// LESS-LABEL: @narrow
// LESS: schedule = #attn.gpu_schedule<query_tile = 128, key_tile = 64, warps = 4>
// HOPPER-LABEL: @narrow
// HOPPER: schedule = #attn.gpu_schedule<query_tile = 128, key_tile = 96, warps = 4>
func.func @narrow(%q: tensor<8x?x64xbf16>, %k: tensor<8x?x64xbf16>) -> tensor<8x?x64xbf16> {
  %out = attn.sdpa %q, %k, %k scale 0.125 : (tensor<8x?x64xbf16>, tensor<8x?x64xbf16>, tensor<8x?x64xbf16>) -> tensor<8x?x64xbf16>
  return %out : tensor<8x?x64xbf16>
}

// -----

// 256 rows of 96 numbers of f32 and 16 bytes are 100 KB, one more than there are.
// CHECK-LABEL: @f32
// CHECK: {schedule = #attn.gpu_schedule<query_tile = 128, key_tile = 64, warps = 8>
// LESS-LABEL: @f32
// LESS: {schedule = #attn.gpu_schedule<query_tile = 64, key_tile = 32, warps = 4>
func.func @f32(%q: tensor<8x64x96xf32>, %k: tensor<8x?x96xf32>) -> tensor<8x64x96xf32> {
  %out = attn.sdpa %q, %k, %k scale 0.125 : (tensor<8x64x96xf32>, tensor<8x?x96xf32>, tensor<8x?x96xf32>) -> tensor<8x64x96xf32>
  return %out : tensor<8x64x96xf32>
}

// -----

// One by hand that does not fit is refused.
// LEAST: error: 'attn.sdpa' op is not built for a GPU: a block of the schedule takes 67584 bytes of shared memory, and has 67583
func.func @pinned(%q: tensor<8x64x128xf32>, %k: tensor<8x?x128xf32>) -> tensor<8x64x128xf32> {
  %out = attn.sdpa %q, %k, %k scale 0.125 {schedule = #attn.gpu_schedule<query_tile = 64, key_tile = 32, warps = 4>} : (tensor<8x64x128xf32>, tensor<8x?x128xf32>, tensor<8x?x128xf32>) -> tensor<8x64x128xf32>
  return %out : tensor<8x64x128xf32>
}

// -----

// Of 128 heads that share a key head, half as many fit.
// CHECK-LABEL: @latent
// CHECK: decode_schedule = #attn.gpu_schedule<query_tile = 64, key_tile = 32, warps = 4, kind = decode, split_keys = 256>
// LESS-LABEL: @latent
// LESS: decode_schedule = #attn.gpu_schedule<query_tile = 32, key_tile = 32, warps = 2, kind = decode, split_keys = 256>
func.func @latent(%q: tensor<1x128x1x640xbf16>, %k: tensor<1x1x?x640xbf16>, %v: tensor<1x1x?x256xbf16>) -> tensor<1x128x1x256xbf16> {
  %out = attn.sdpa %q, %k, %v scale 0.125 : (tensor<1x128x1x640xbf16>, tensor<1x1x?x640xbf16>, tensor<1x1x?x256xbf16>) -> tensor<1x128x1x256xbf16>
  return %out : tensor<1x128x1x256xbf16>
}

// -----

// A score that reads in tensors of pairs has fewer keys, for registers of addresses.
// CHECK-LABEL: @bias
// CHECK: schedule = #attn.gpu_schedule<query_tile = 128, key_tile = 64, warps = 4>
// HOPPER-LABEL: @bias
// HOPPER: schedule = #attn.gpu_schedule<query_tile = 128, key_tile = 64, warps = 4>
func.func @bias(%q: tensor<8x?x64xbf16>, %k: tensor<8x?x64xbf16>, %b: tensor<?x?xf32>) -> tensor<8x?x64xbf16> {
  %out = attn.sdpa %q, %k, %k bias %b : tensor<?x?xf32> scale 0.125 : (tensor<8x?x64xbf16>, tensor<8x?x64xbf16>, tensor<8x?x64xbf16>) -> tensor<8x?x64xbf16>
  return %out : tensor<8x?x64xbf16>
}

// -----

// CHECK-LABEL: @bias_and_mask
// CHECK: schedule = #attn.gpu_schedule<query_tile = 128, key_tile = 32, warps = 4>
func.func @bias_and_mask(%q: tensor<8x?x64xbf16>, %k: tensor<8x?x64xbf16>, %b: tensor<?x?xf32>, %m: tensor<?x?xi1>) -> tensor<8x?x64xbf16> {
  %out = attn.sdpa %q, %k, %k bias %b : tensor<?x?xf32> scale 0.125 where %m : tensor<?x?xi1> : (tensor<8x?x64xbf16>, tensor<8x?x64xbf16>, tensor<8x?x64xbf16>) -> tensor<8x?x64xbf16>
  return %out : tensor<8x?x64xbf16>
}

// -----

// Two blocks of 101 KB are faster than one of 8 warps, where there is room for two.
// CHECK-LABEL: @wide
// CHECK: schedule = #attn.gpu_schedule<query_tile = 128, key_tile = 64, warps = 8>
// HOPPER-LABEL: @wide
// HOPPER: schedule = #attn.gpu_schedule<query_tile = 64, key_tile = 64, warps = 4>
func.func @wide(%q: tensor<8x?x256xbf16>, %k: tensor<8x?x256xbf16>) -> tensor<8x?x256xbf16> {
  %out = attn.sdpa %q, %k, %k scale 0.125 : (tensor<8x?x256xbf16>, tensor<8x?x256xbf16>, tensor<8x?x256xbf16>) -> tensor<8x?x256xbf16>
  return %out : tensor<8x?x256xbf16>
}
