// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: attn-opt %s --attn-assign-gpu-schedule --split-input-file --verify-diagnostics

func.func @warps_of_columns(%q: tensor<5x16xf16>) -> tensor<5x16xf16> {
  // expected-error@+1 {{'attn.sdpa' op is not built for a GPU: column_warps and feature_parts are for products}}
  %out = attn.sdpa %q, %q, %q scale 0.25 {schedule = #attn.gpu_schedule<query_tile = 64, key_tile = 32, warps = 4, column_warps = 2>}
      : (tensor<5x16xf16>, tensor<5x16xf16>, tensor<5x16xf16>) -> tensor<5x16xf16>
  return %out : tensor<5x16xf16>
}

// -----

func.func @parts_of_features(%q: tensor<5x16xf16>) -> tensor<5x16xf16> {
  // expected-error@+1 {{'attn.sdpa' op is not built for a GPU: column_warps and feature_parts are for products}}
  %out = attn.sdpa %q, %q, %q scale 0.25 {schedule = #attn.gpu_schedule<query_tile = 64, key_tile = 32, warps = 4, feature_parts = 2>}
      : (tensor<5x16xf16>, tensor<5x16xf16>, tensor<5x16xf16>) -> tensor<5x16xf16>
  return %out : tensor<5x16xf16>
}

// -----

func.func @uneven_parts(%x: tensor<5x96xf16>, %w: tensor<96x32xf16>) -> tensor<5x32xf16> {
  // expected-error@+1 {{'attn.project' op is not built for a GPU: feature_parts of a multiple of 64 are, but there are 96 features}}
  %0 = attn.project %x, %w {schedule = #attn.gpu_schedule<query_tile = 16, key_tile = 32, warps = 1, kind = prefill, feature_parts = 2>} : (tensor<5x96xf16>, tensor<96x32xf16>) -> tensor<5x32xf16>
  return %0 : tensor<5x32xf16>
}

// -----

func.func @of_a_cpu(%x: tensor<5x96xf16>, %w: tensor<96x32xf16>) -> tensor<5x32xf16> {
  // expected-error@+1 {{'attn.project' op is not built for a GPU: the schedule is one for a CPU}}
  %0 = attn.project %x, %w {schedule = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>} : (tensor<5x96xf16>, tensor<96x32xf16>) -> tensor<5x32xf16>
  return %0 : tensor<5x32xf16>
}
