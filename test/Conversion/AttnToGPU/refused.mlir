// RUN: attn-opt %s -split-input-file -verify-diagnostics -attn-assign-gpu-schedule
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What no kernel of a GPU does is refused by its name.
func.func @f64(%q: tensor<4x16xf64>) -> tensor<4x16xf64> {
  // expected-error@+1 {{'attn.sdpa' op is not built for a GPU: queries and keys of f16, bf16 or f32 are, but got 'f64'}}
  %out = attn.sdpa %q, %q, %q scale 1.0 : (tensor<4x16xf64>, tensor<4x16xf64>, tensor<4x16xf64>) -> tensor<4x16xf64>
  return %out : tensor<4x16xf64>
}

// -----

func.func @values(%q: tensor<4x16xf16>, %v: tensor<4x16xbf16>) -> tensor<4x16xbf16> {
  // expected-error@+1 {{not built for a GPU: values of the queries' type are, but got 'bf16'}}
  %out = attn.sdpa %q, %q, %v scale 1.0 : (tensor<4x16xf16>, tensor<4x16xf16>, tensor<4x16xbf16>) -> tensor<4x16xbf16>
  return %out : tensor<4x16xbf16>
}

// -----

func.func @wide(%q: tensor<4x656xf16>) -> tensor<4x656xf16> {
  // expected-error@+1 {{not built for a GPU: keys of up to 640 features are, but got 656}}
  %out = attn.sdpa %q, %q, %q scale 1.0 : (tensor<4x656xf16>, tensor<4x656xf16>, tensor<4x656xf16>) -> tensor<4x656xf16>
  return %out : tensor<4x656xf16>
}

// -----

func.func @state(%q: tensor<4x16xf16>, %v: tensor<4x272xf16>) -> tensor<4x272xf32> {
  // expected-error@+1 {{a state of values of up to 256 features is, but got 272}}
  %out, %m, %l, %a = attn.sdpa %q, %q, %v scale 1.0 returning(out, state) : (tensor<4x16xf16>, tensor<4x16xf16>, tensor<4x272xf16>) -> (tensor<4x272xf16>, tensor<4xf32>, tensor<4xf32>, tensor<4x272xf32>)
  return %a : tensor<4x272xf32>
}

// -----

func.func @schedule_of_cpu(%q: tensor<4x16xf16>) -> tensor<4x16xf16> {
  // expected-error@+1 {{not built for a GPU: the schedule is one for a CPU}}
  %out = attn.sdpa %q, %q, %q scale 1.0 {schedule = #attn.cpu_schedule<lanes = 8, rows = 6, vectors = 2, query_tile = 16, key_tile = 96, unroll = 4, prefetch = 0>} : (tensor<4x16xf16>, tensor<4x16xf16>, tensor<4x16xf16>) -> tensor<4x16xf16>
  return %out : tensor<4x16xf16>
}

// -----

func.func @schedule(%q: tensor<4x16xf16>) {
  // expected-error@+1 {{expects query_tile to be 16, 32 or 64 for each of 4 warps, but got 32}}
  %out = attn.sdpa %q, %q, %q scale 1.0 {schedule = #attn.gpu_schedule<query_tile = 32, key_tile = 32, warps = 4>} : (tensor<4x16xf16>, tensor<4x16xf16>, tensor<4x16xf16>) -> tensor<4x16xf16>
  return
}

// -----

func.func @product_of_cpu(%x: tensor<4x16xf32>, %w: tensor<16x16xf32>) -> tensor<4x16xf32> {
  // expected-error@+1 {{'attn.project' op is not built for a GPU: the schedule is one for a CPU}}
  %0 = attn.project %x, %w {schedule = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>}
      : (tensor<4x16xf32>, tensor<16x16xf32>) -> tensor<4x16xf32>
  return %0 : tensor<4x16xf32>
}

// -----

func.func @product_f64(%x: tensor<4x16xf64>, %w: tensor<16x16xf64>) -> tensor<4x16xf64> {
  // expected-error@+1 {{is not built for a GPU with a schedule: f16, bf16 or f32 with at least 16 features and columns, which are known, are}}
  %0 = attn.project %x, %w {schedule = #attn.gpu_schedule<query_tile = 16, key_tile = 16, warps = 1, kind = prefill>}
      : (tensor<4x16xf64>, tensor<16x16xf64>) -> tensor<4x16xf64>
  return %0 : tensor<4x16xf64>
}
