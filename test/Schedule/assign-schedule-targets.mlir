// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The register tile follows from lanes, registers and the latency of an FMA, and, of 16 registers, from the mask.
// RUN: attn-opt %s --attn-assign-schedule="split-keys=0" | FileCheck %s --check-prefix=AVX2
// RUN: attn-opt %s --attn-set-target=facts=lanes=4,registers=16,chains=8 --attn-assign-schedule="split-keys=0" | FileCheck %s --check-prefix=SSE
// RUN: attn-opt %s --attn-set-target=facts=lanes=4,registers=32,chains=16 --attn-assign-schedule="split-keys=0" | FileCheck %s --check-prefix=NEON
// RUN: attn-opt %s --attn-set-target=facts=lanes=16,registers=32,chains=8 --attn-assign-schedule="split-keys=0" | FileCheck %s --check-prefix=AVX512
// RUN: attn-opt %s --attn-set-target=facts=lanes=16,registers=32,chains=16 --attn-assign-schedule="split-keys=0" | FileCheck %s --check-prefix=DEEP
// RUN: attn-opt %s --attn-set-target=facts=lanes=16,registers=32,chains=4 --attn-assign-schedule="split-keys=0" | FileCheck %s --check-prefix=ONE

// Query tiles are the whole query blocks (lanes * vectors) in 128 queries; key tiles whole rows.
// AVX2: attn.sdpa {{.*}}#attn.cpu_schedule<lanes = 8, rows = 4, vectors = 3, query_tile = 144, key_tile = 128, unroll = 8, prefetch = 2>
// SSE: attn.sdpa {{.*}}#attn.cpu_schedule<lanes = 4, rows = 6, vectors = 2, query_tile = 128, key_tile = 96, unroll = 1, prefetch = 2>
// NEON: attn.sdpa {{.*}}#attn.cpu_schedule<lanes = 4, rows = 4, vectors = 5, query_tile = 120, key_tile = 96, unroll = 4, prefetch = 2>
// AVX512: attn.sdpa {{.*}}#attn.cpu_schedule<lanes = 16, rows = 6, vectors = 3, query_tile = 144, key_tile = 96, unroll = 4, prefetch = 2>
// DEEP: attn.sdpa {{.*}}#attn.cpu_schedule<lanes = 16, rows = 4, vectors = 5, query_tile = 80, key_tile = 96, unroll = 4, prefetch = 2>
// ONE: attn.sdpa {{.*}}#attn.cpu_schedule<lanes = 16, rows = 8, vectors = 1, query_tile = 128, key_tile = 128, unroll = 4, prefetch = 2>
func.func @f(%q: tensor<?x64xf32>, %k: tensor<?x64xf32>, %v: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %o = attn.sdpa %q, %k, %v scale 0.125 : (tensor<?x64xf32>, tensor<?x64xf32>, tensor<?x64xf32>) -> tensor<?x64xf32>
  return %o : tensor<?x64xf32>
}

// AVX2: attn.sdpa {{.*}}#attn.cpu_schedule<lanes = 8, rows = 6, vectors = 2, query_tile = 128, key_tile = 96, unroll = 4, prefetch = 2>
// SSE: attn.sdpa {{.*}}#attn.cpu_schedule<lanes = 4, rows = 6, vectors = 2, query_tile = 128, key_tile = 96, unroll = 1, prefetch = 2>
// NEON: attn.sdpa {{.*}}#attn.cpu_schedule<lanes = 4, rows = 4, vectors = 5, query_tile = 120, key_tile = 96, unroll = 4, prefetch = 2>
// AVX512: attn.sdpa {{.*}}#attn.cpu_schedule<lanes = 16, rows = 8, vectors = 2, query_tile = 128, key_tile = 96, unroll = 4, prefetch = 2>
// DEEP: attn.sdpa {{.*}}#attn.cpu_schedule<lanes = 16, rows = 4, vectors = 5, query_tile = 80, key_tile = 96, unroll = 4, prefetch = 2>
// ONE: attn.sdpa {{.*}}#attn.cpu_schedule<lanes = 16, rows = 8, vectors = 1, query_tile = 128, key_tile = 128, unroll = 4, prefetch = 2>
func.func @masked(%q: tensor<?x64xf32>, %k: tensor<?x64xf32>, %v: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %o = attn.sdpa %q, %k, %v scale 0.125 where causal(top_left) : (tensor<?x64xf32>, tensor<?x64xf32>, tensor<?x64xf32>) -> tensor<?x64xf32>
  return %o : tensor<?x64xf32>
}

// Key tiles of 4 x 3 are multiples of the turns, 8: three quarters of the cache hold 76 keys of 80.
// AVX2: attn.sdpa {{.*}}#attn.cpu_schedule<lanes = 8, rows = 4, vectors = 3, query_tile = 144, key_tile = 72,
// AVX2: attn.sdpa {{.*}}#attn.cpu_schedule<lanes = 4, rows = 4, vectors = 3, query_tile = 144, key_tile = 48,
// ONE: attn.sdpa {{.*}}#attn.cpu_schedule<lanes = 16, rows = 8, vectors = 1, query_tile = 128, key_tile = 128,
// ONE: attn.sdpa {{.*}}#attn.cpu_schedule<lanes = 8, rows = 8, vectors = 1, query_tile = 128, key_tile = 128,
func.func @wider(%q: tensor<?x80xf32>, %d: tensor<?x80xf64>) -> (tensor<?x80xf32>, tensor<?x80xf64>) {
  %o = attn.sdpa %q, %q, %q scale 0.125 : (tensor<?x80xf32>, tensor<?x80xf32>, tensor<?x80xf32>) -> tensor<?x80xf32>
  %p = attn.sdpa %d, %d, %d scale 0.125 : (tensor<?x80xf64>, tensor<?x80xf64>, tensor<?x80xf64>) -> tensor<?x80xf64>
  return %o, %p : tensor<?x80xf32>, tensor<?x80xf64>
}
