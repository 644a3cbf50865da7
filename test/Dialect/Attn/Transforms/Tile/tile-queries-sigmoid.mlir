// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The normalization is in the type of the state, and so reaches every op of it.
// RUN: attn-opt %s --attn-tile-queries --canonicalize --cse | FileCheck %s
#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>

// CHECK-LABEL: @f
// CHECK: attn.init_state {{.*}} -> <16 x 4 x 4, f32 by sigmoid>
// CHECK: %[[S:.*]] = attn.online {{.*}} where causal(top_left) mode edge {{.*}} : <16 x 4 x 4, f32 by sigmoid>
// CHECK: attn.finalize %[[S]] {{.*}} : <16 x 4 x 4, f32 by sigmoid>
// CHECK: attn.weigh %[[S]], {{.*}} : <16 x 4 x 4, f32 by sigmoid>
func.func @f(%q: tensor<?x8x?x4xf32>, %k: tensor<?x8x?x4xf32>) -> (tensor<?x8x?x4xf32>, tensor<?x8x?x?xf32>) {
  %o, %w = attn.sdpa %q, %k, %k scale 0.5 where causal(top_left) returning(out, weights) {schedule = #s, normalization = #attn<normalization sigmoid>}
      : (tensor<?x8x?x4xf32>, tensor<?x8x?x4xf32>, tensor<?x8x?x4xf32>) -> (tensor<?x8x?x4xf32>, tensor<?x8x?x?xf32>)
  return %o, %w : tensor<?x8x?x4xf32>, tensor<?x8x?x?xf32>
}
