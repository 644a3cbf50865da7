// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A window of the past: the first tile is that of the first row's oldest key, begin - 20, so
// ceil((begin - 27) / 8); full are the tiles between both borders of all rows.
// RUN: attn-opt %s --attn-tile-keys --canonicalize --cse | FileCheck %s
#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>

// CHECK-LABEL: @f(
// CHECK-SAME: %[[S:.*]]: !attn.state<16 x 4 x 6, f32>, %[[K:.*]]: tensor<?x4xf32>, %[[V:.*]]: tensor<?x6xf32>, %[[BEGIN:.*]]: index, %[[END:.*]]: index, %[[SQ:.*]]: index, %[[SK:[^ ]*]]: index)
// CHECK: %[[TILES:.*]] = arith.ceildivsi %[[SK]], %c8
// CHECK: %[[OLDEST:.*]] = arith.addi %[[BEGIN]], %c-27
// CHECK: arith.ceildivsi %[[OLDEST]], %c8
// CHECK: %[[FIRST:.*]] = arith.maxsi %{{.*}}, %c0
// CHECK: %[[NEWEST:.*]] = arith.addi %[[END]], %c-1
// CHECK: arith.floordivsi %[[NEWEST]], %c8
// CHECK: arith.minsi %[[TILES]], %{{.*}}
// CHECK: %[[LAST:.*]] = arith.maxsi %{{.*}}, %[[FIRST]]
// CHECK: arith.addi %[[END]], %c-22
// CHECK: arith.addi %[[BEGIN]], %c-6
// CHECK: scf.for %{{.*}} = %[[FIRST]] to %[[A:[^ ]*]] step
// CHECK: mode edge
// CHECK: scf.for %{{.*}} = %[[A]] to %[[B:[^ ]*]] step
// CHECK: mode full
// CHECK: scf.for %{{.*}} = %[[B]] to %[[LAST]] step
// CHECK: mode edge
func.func @f(%s: !attn.state<16 x 4 x 6, f32>, %k: tensor<?x4xf32>, %v: tensor<?x6xf32>, %begin: index, %end: index,
    %sq: index, %sk: index) -> !attn.state<16 x 4 x 6, f32> {
  %c0 = arith.constant 0 : index
  %r = attn.online %s, %k, %v rows %begin to %end keys from %c0 lengths %sq, %sk where causal(top_left) and window(left = 20) mode edge {schedule = #s}
      : <16 x 4 x 6, f32>, tensor<?x4xf32>, tensor<?x6xf32>
  return %r : !attn.state<16 x 4 x 6, f32>
}
