// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Few queries get a small tile: whole panels, one at least.
// RUN: attn-opt %s --attn-assign-schedule | FileCheck %s --check-prefixes=CHECK,AVX2
// RUN: attn-opt %s --attn-assign-schedule="lanes=16 registers=32" | FileCheck %s --check-prefixes=CHECK,AVX512
// RUN: attn-opt %s --attn-assign-schedule="lanes=4 registers=16" | FileCheck %s --check-prefixes=CHECK,SSE

// CHECK-LABEL: @one
// AVX2: query_tile = 16,
// AVX512: query_tile = 64,
// SSE: query_tile = 8,
func.func @one(%q: tensor<1x8xf32>, %k: tensor<?x8xf32>) -> tensor<1x8xf32> {
  %o = attn.sdpa %q, %k, %k scale 1.0 : (tensor<1x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<1x8xf32>
  return %o : tensor<1x8xf32>
}

// CHECK-LABEL: @seventeen
// AVX2: query_tile = 32,
// AVX512: query_tile = 64,
// SSE: query_tile = 24,
func.func @seventeen(%q: tensor<2x17x8xf32>, %k: tensor<2x?x8xf32>) -> tensor<2x17x8xf32> {
  %o = attn.sdpa %q, %k, %k scale 1.0 : (tensor<2x17x8xf32>, tensor<2x?x8xf32>, tensor<2x?x8xf32>) -> tensor<2x17x8xf32>
  return %o : tensor<2x17x8xf32>
}

// Where heads lie behind the sequence, the sequence still counts.
// CHECK-LABEL: @behind
// AVX2: query_tile = 112,
// AVX512: query_tile = 128,
// SSE: query_tile = 104,
func.func @behind(%q: tensor<1x100x2x8xf32>, %k: tensor<1x2x?x8xf32>) -> tensor<1x2x100x8xf32> {
  %o = attn.sdpa %q, %k, %k scale 1.0 {query_layout = #attn<layout bshd>} : (tensor<1x100x2x8xf32>, tensor<1x2x?x8xf32>, tensor<1x2x?x8xf32>) -> tensor<1x2x100x8xf32>
  return %o : tensor<1x2x100x8xf32>
}

// CHECK-LABEL: @many
// CHECK: query_tile = 128,
func.func @many(%q: tensor<1000x8xf32>, %k: tensor<?x8xf32>) -> tensor<1000x8xf32> {
  %o = attn.sdpa %q, %k, %k scale 1.0 : (tensor<1000x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<1000x8xf32>
  return %o : tensor<1000x8xf32>
}
