// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A schedule that is already there stays, whatever the target.
// RUN: attn-opt %s --attn-set-target=facts=lanes=16,registers=32 --attn-assign-schedule | FileCheck %s
#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>

// CHECK-LABEL: @f
// CHECK: attn.project {{.*}}schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>
// CHECK: attn.sdpa {{.*}}schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>
// CHECK: attn.sdpa {{.*}}schedule<lanes = 16, rows = 4,
func.func @f(%q: tensor<?x4xf32>, %w: tensor<4x4xf32>) -> tensor<?x4xf32> {
  %k = attn.project %q, %w {schedule = #s} : (tensor<?x4xf32>, tensor<4x4xf32>) -> tensor<?x4xf32>
  %o = attn.sdpa %q, %k, %k scale 0.5 {schedule = #s} : (tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  %p = attn.sdpa %q, %o, %o scale 0.5 : (tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  return %p : tensor<?x4xf32>
}
