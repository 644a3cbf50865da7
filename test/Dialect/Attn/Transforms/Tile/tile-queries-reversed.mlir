// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The first item takes the last tile: causal tiles at the end have most work.
// RUN: attn-opt %s --attn-tile-queries --canonicalize --cse | FileCheck %s
#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>

// CHECK-LABEL: @f
// CHECK: %[[TILES:.*]] = arith.ceildivui
// CHECK: scf.forall (%[[I:.*]]) in (%[[TILES]])
// CHECK: %[[LAST:.*]] = arith.subi %[[TILES]], %c1
// CHECK: %[[TILE:.*]] = arith.subi %[[LAST]], %[[I]]
// CHECK: %[[BEGIN:.*]] = arith.muli %[[TILE]], %c16
// CHECK: attn.online {{.*}} rows %[[BEGIN]] to {{.*}} where causal(top_left) mode edge
func.func @f(%q: tensor<?x4xf32>, %k: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %o = attn.sdpa %q, %k, %k scale 0.5 where causal(top_left) {schedule = #s} : (tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  return %o : tensor<?x4xf32>
}
