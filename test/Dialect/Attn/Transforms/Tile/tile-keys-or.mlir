// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One of two terms: the larger of both bounds.
// RUN: attn-opt %s --attn-tile-keys --canonicalize --cse | FileCheck %s
#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>

// CHECK-LABEL: @f(
// CHECK-SAME: %[[S:.*]]: !attn.state<16 x 4 x 6, f32>, %[[K:.*]]: tensor<?x4xf32>, %[[V:.*]]: tensor<?x6xf32>, %[[BEGIN:.*]]: index, %[[END:.*]]: index, %[[SQ:.*]]: index, %[[SK:.*]]: index, %[[N:.*]]: index,
// CHECK: %[[TILES:.*]] = arith.ceildivsi %[[SK]], %c8
// CHECK: arith.addi %[[END]], %c-1
// CHECK: %[[A:.*]] = arith.minsi %[[TILES]], %{{.*}}
// CHECK: arith.addi %[[N]], %c-1
// CHECK: %[[B:.*]] = arith.minsi %[[TILES]], %{{.*}}
// CHECK: %[[MAX:.*]] = arith.maxsi %[[A]], %[[B]]
// CHECK: %[[LAST:.*]] = arith.maxsi %[[MAX]], %c0
// CHECK: scf.for %{{.*}} = %c0 to %[[FULL:.*]] step
// CHECK: mode full
// CHECK: scf.for %{{.*}} = %[[FULL]] to %[[LAST]]
// CHECK: mode edge
func.func @f(%s: !attn.state<16 x 4 x 6, f32>, %k: tensor<?x4xf32>, %v: tensor<?x6xf32>, %begin: index, %end: index,
    %sq: index, %sk: index, %n: index, %m: tensor<?x?xi1>) -> !attn.state<16 x 4 x 6, f32> {
  %c0 = arith.constant 0 : index
  %r = attn.online %s, %k, %v rows %begin to %end keys from %c0 lengths %sq, %sk where causal(top_left) or key_length(%n : index) mode edge {schedule = #s}
      : <16 x 4 x 6, f32>, tensor<?x4xf32>, tensor<?x6xf32>
  return %r : !attn.state<16 x 4 x 6, f32>
}
