// RUN: attn-opt %s -split-input-file -verify-diagnostics -attn-assign-gpu-schedule
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What no kernel of a GPU does is refused by its name.
func.func @f32(%q: tensor<4x16xf32>) -> tensor<4x16xf32> {
  // expected-error@+1 {{'attn.sdpa' op is not built for sm_80: queries and keys of f16 or bf16 are, but got 'f32'}}
  %out = attn.sdpa %q, %q, %q scale 1.0 : (tensor<4x16xf32>, tensor<4x16xf32>, tensor<4x16xf32>) -> tensor<4x16xf32>
  return %out : tensor<4x16xf32>
}

// -----

func.func @values(%q: tensor<4x16xf16>, %v: tensor<4x16xbf16>) -> tensor<4x16xbf16> {
  // expected-error@+1 {{not built for sm_80: values of the queries' type are, but got 'bf16'}}
  %out = attn.sdpa %q, %q, %v scale 1.0 : (tensor<4x16xf16>, tensor<4x16xf16>, tensor<4x16xbf16>) -> tensor<4x16xbf16>
  return %out : tensor<4x16xbf16>
}

// -----

func.func @wide(%q: tensor<4x272xf16>) -> tensor<4x272xf16> {
  // expected-error@+1 {{not built for sm_80: head dimensions up to 256 are, but got 272}}
  %out = attn.sdpa %q, %q, %q scale 1.0 : (tensor<4x272xf16>, tensor<4x272xf16>, tensor<4x272xf16>) -> tensor<4x272xf16>
  return %out : tensor<4x272xf16>
}

// -----

func.func @sigmoid(%q: tensor<4x16xf16>) -> tensor<4x16xf16> {
  // expected-error@+1 {{not built for sm_80: normalization by sigmoid}}
  %out = attn.sdpa %q, %q, %q scale 1.0 {normalization = #attn<normalization sigmoid>} : (tensor<4x16xf16>, tensor<4x16xf16>, tensor<4x16xf16>) -> tensor<4x16xf16>
  return %out : tensor<4x16xf16>
}

// -----

func.func @weights(%q: tensor<4x16xf16>) -> (tensor<4x16xf16>, tensor<4x4xf32>) {
  // expected-error@+1 {{not built for sm_80: weights or scores as results}}
  %out, %w = attn.sdpa %q, %q, %q scale 1.0 returning(out, weights) : (tensor<4x16xf16>, tensor<4x16xf16>, tensor<4x16xf16>) -> (tensor<4x16xf16>, tensor<4x4xf32>)
  return %out, %w : tensor<4x16xf16>, tensor<4x4xf32>
}

// -----

func.func @documents(%q: tensor<4x16xf16>, %ids: tensor<4xi32>) -> tensor<4x16xf16> {
  // expected-error@+1 {{not built for sm_80: the mask term document}}
  %out = attn.sdpa %q, %q, %q scale 1.0 where document(%ids : tensor<4xi32>) : (tensor<4x16xf16>, tensor<4x16xf16>, tensor<4x16xf16>) -> tensor<4x16xf16>
  return %out : tensor<4x16xf16>
}

// -----

func.func @schedule_of_cpu(%q: tensor<4x16xf16>) -> tensor<4x16xf16> {
  // expected-error@+1 {{not built for sm_80: the schedule is one for a CPU}}
  %out = attn.sdpa %q, %q, %q scale 1.0 {schedule = #attn.cpu_schedule<lanes = 8, rows = 6, vectors = 2, query_tile = 16, key_tile = 96, unroll = 4, prefetch = 0>} : (tensor<4x16xf16>, tensor<4x16xf16>, tensor<4x16xf16>) -> tensor<4x16xf16>
  return %out : tensor<4x16xf16>
}

// -----

func.func @schedule(%q: tensor<4x16xf16>) {
  // expected-error@+1 {{expects query_tile to be 16, 32 or 64 for each of 4 warps, but got 32}}
  %out = attn.sdpa %q, %q, %q scale 1.0 {schedule = #attn.gpu_schedule<query_tile = 32, key_tile = 32, warps = 4>} : (tensor<4x16xf16>, tensor<4x16xf16>, tensor<4x16xf16>) -> tensor<4x16xf16>
  return
}
