// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Key k is visible to query q if k <= q. Tiles whose first key lies behind the
// last query are not visited; those whose last key is the first query are full.
// RUN: attn-opt %s --attn-tile-keys --canonicalize --cse | FileCheck %s
#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>

// CHECK-LABEL: @f(
// CHECK-SAME: %[[S:.*]]: !attn.state<16 x 4 x 6, f32>, %[[K:.*]]: tensor<?x4xf32>, %[[V:.*]]: tensor<?x6xf32>, %[[BEGIN:.*]]: index, %[[END:.*]]: index, %[[SQ:.*]]: index, %[[SK:.*]]: index, %[[N:.*]]: index,
// CHECK: %[[TILES:.*]] = arith.ceildivsi %[[SK]], %c8
// CHECK: %[[Q1:.*]] = arith.addi %[[END]], %c-1
// CHECK: %[[D:.*]] = arith.floordivsi %[[Q1]], %c8
// CHECK: %[[D1:.*]] = arith.addi %[[D]], %c1
// CHECK: %[[MIN:.*]] = arith.minsi %[[TILES]], %[[D1]]
// CHECK: %[[LAST:.*]] = arith.maxsi %[[MIN]], %c0
// CHECK: %[[Q0:.*]] = arith.addi %[[BEGIN]], %c-6
// CHECK: %[[EDGE:.*]] = arith.ceildivsi %[[Q0]], %c8
// CHECK: arith.maxsi %[[EDGE]], %c0
// CHECK: %[[FULL:.*]] = arith.maxsi %{{.*}}, %c0 : index
// CHECK-NEXT: scf.for %{{.*}} = %c0 to %[[FULL]]
// CHECK: attn.online {{.*}} mode full
// CHECK: scf.for %{{.*}} = %[[FULL]] to %[[LAST]]
// CHECK: attn.online {{.*}} mode edge
// CHECK-NOT: scf.for
func.func @f(%s: !attn.state<16 x 4 x 6, f32>, %k: tensor<?x4xf32>, %v: tensor<?x6xf32>, %begin: index, %end: index,
    %sq: index, %sk: index, %n: index, %m: tensor<?x?xi1>) -> !attn.state<16 x 4 x 6, f32> {
  %c0 = arith.constant 0 : index
  %r = attn.online %s, %k, %v rows %begin to %end keys from %c0 lengths %sq, %sk where causal(top_left) mode edge {schedule = #s}
      : <16 x 4 x 6, f32>, tensor<?x4xf32>, tensor<?x6xf32>
  return %r : !attn.state<16 x 4 x 6, f32>
}
