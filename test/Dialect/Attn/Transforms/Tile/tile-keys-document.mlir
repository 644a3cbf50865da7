// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Documents and causal: from the first key of the rows' documents to the last one or the diagonal. What the
// documents span are operands, computed by attn-tile-queries.
// RUN: attn-opt %s --attn-tile-keys --canonicalize --cse | FileCheck %s
#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>

// CHECK-LABEL: @f(
// CHECK-SAME: %[[S:.*]]: !attn.state<16 x 4 x 6, f32>, %[[K:.*]]: tensor<?x4xf32>, %[[V:.*]]: tensor<?x6xf32>, %[[BEGIN:.*]]: index, %[[END:.*]]: index, %[[SQ:.*]]: index, %[[SK:[^ ]*]]: index, %{{.*}}: tensor<?xi32>, %{{.*}}: tensor<?xi32>, %[[LO:.*]]: index, %[[HI:.*]]: index, %[[FULL:.*]]: index)
// CHECK: %[[TILES:.*]] = arith.ceildivsi %[[SK]], %c8
// CHECK: %[[FROM:.*]] = arith.addi %[[LO]], %c-7
// CHECK: arith.ceildivsi %[[FROM]], %c8
// CHECK: %[[FIRST:.*]] = arith.maxsi %{{.*}}, %c0
// CHECK: %[[TO:.*]] = arith.addi %[[HI]], %c-1
// CHECK: arith.floordivsi %[[TO]], %c8
// CHECK: arith.addi %[[END]], %c-1
// CHECK: %[[LAST:.*]] = arith.maxsi %{{.*}}, %[[FIRST]]
// CHECK: arith.addi %[[FULL]], %c-7
// CHECK: scf.for %{{.*}} = %[[FIRST]] to %[[A:[^ ]*]] step
// CHECK: mode edge
// CHECK: scf.for %{{.*}} = %[[A]] to %[[B:[^ ]*]] step
// CHECK: mode full
// CHECK: scf.for %{{.*}} = %[[B]] to %[[LAST]] step
// CHECK: mode edge
func.func @f(%s: !attn.state<16 x 4 x 6, f32>, %k: tensor<?x4xf32>, %v: tensor<?x6xf32>, %begin: index, %end: index,
    %sq: index, %sk: index, %i: tensor<?xi32>, %j: tensor<?xi32>, %lo: index, %hi: index, %full: index) -> !attn.state<16 x 4 x 6, f32> {
  %c0 = arith.constant 0 : index
  %r = attn.online %s, %k, %v rows %begin to %end keys from %c0 lengths %sq, %sk where document(%i : tensor<?xi32>, %j : tensor<?xi32> bounds %lo : index, %hi : index, %full : index) and causal(top_left) mode edge {schedule = #s}
      : <16 x 4 x 6, f32>, tensor<?x4xf32>, tensor<?x6xf32>
  return %r : !attn.state<16 x 4 x 6, f32>
}
