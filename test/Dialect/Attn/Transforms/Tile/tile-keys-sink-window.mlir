// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sinks and a window: two runs of tiles with a gap between them, found at run time.
// RUN: attn-opt %s --attn-tile-keys --canonicalize --cse | FileCheck %s
#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>

// CHECK-LABEL: @f(
// CHECK-SAME: %[[S:.*]]: !attn.state<16 x 4 x 6, f32>, %[[K:.*]]: tensor<?x4xf32>, %[[V:.*]]: tensor<?x6xf32>, %[[BEGIN:.*]]: index, %[[END:.*]]: index, %[[SQ:.*]]: index, %[[SK:[^ ]*]]: index)
// CHECK: %[[TILES:.*]] = arith.ceildivsi %[[SK]], %c8
// CHECK: arith.minsi %[[TILES]], %c1
// CHECK: %[[OLDEST:.*]] = arith.addi %[[BEGIN]], %c-27
// CHECK: arith.ceildivsi %[[OLDEST]], %c8
// CHECK: scf.while
// CHECK: scf.condition
// CHECK: scf.if
// CHECK: scf.if
// CHECK: mode edge
// CHECK: } else {
// CHECK: mode full
func.func @f(%s: !attn.state<16 x 4 x 6, f32>, %k: tensor<?x4xf32>, %v: tensor<?x6xf32>, %begin: index, %end: index,
    %sq: index, %sk: index) -> !attn.state<16 x 4 x 6, f32> {
  %c0 = arith.constant 0 : index
  %r = attn.online %s, %k, %v rows %begin to %end keys from %c0 lengths %sq, %sk where (sink(4) or window(left = 20)) and causal(top_left) mode edge {schedule = #s}
      : <16 x 4 x 6, f32>, tensor<?x4xf32>, tensor<?x6xf32>
  return %r : !attn.state<16 x 4 x 6, f32>
}
