// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Without a mask every tile is full: one loop over all of them.
// RUN: attn-opt %s --attn-tile-keys --canonicalize --cse | FileCheck %s
#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>

// CHECK-LABEL: @f(
// CHECK-SAME: %[[S:.*]]: !attn.state<16 x 4 x 6, f32>, %[[K:.*]]: tensor<?x4xf32>, %[[V:.*]]: tensor<?x6xf32>, %[[BEGIN:.*]]: index, %[[END:.*]]: index, %[[SQ:.*]]: index, %[[SK:.*]]: index, %[[N:.*]]: index,
// CHECK: %[[TILES:.*]] = arith.ceildivsi %[[SK]], %c8
// CHECK: %[[LAST:.*]] = arith.maxsi %[[TILES]], %c0
// CHECK: %[[R:.*]] = scf.for %[[T:.*]] = %c0 to %[[LAST]] step %c1 iter_args(%[[STATE:.*]] = %[[S]])
// CHECK: attn.online %[[STATE]], {{.*}} mode full
// CHECK-NOT: attn.online
// CHECK: return %[[R]]
func.func @f(%s: !attn.state<16 x 4 x 6, f32>, %k: tensor<?x4xf32>, %v: tensor<?x6xf32>, %begin: index, %end: index,
    %sq: index, %sk: index, %n: index, %m: tensor<?x?xi1>) -> !attn.state<16 x 4 x 6, f32> {
  %c0 = arith.constant 0 : index
  %r = attn.online %s, %k, %v rows %begin to %end keys from %c0 lengths %sq, %sk mode full {schedule = #s}
      : <16 x 4 x 6, f32>, tensor<?x4xf32>, tensor<?x6xf32>
  return %r : !attn.state<16 x 4 x 6, f32>
}
