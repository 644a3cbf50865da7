// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The offset of the diagonal is a value of the call.
// RUN: attn-opt %s --attn-tile-keys --canonicalize --cse | FileCheck %s
#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>

// CHECK-LABEL: @f(
// CHECK-SAME: %[[S:.*]]: !attn.state<16 x 4 x 6, f32>, %[[K:.*]]: tensor<?x4xf32>, %[[V:.*]]: tensor<?x6xf32>, %[[BEGIN:.*]]: index, %[[END:.*]]: index, %[[SQ:.*]]: index, %[[SK:.*]]: index, %[[N:.*]]: index,
// CHECK: %[[TILES:.*]] = arith.ceildivsi %[[SK]], %c8
// CHECK: %[[X:.*]] = arith.addi %[[END]], %[[N]]
// CHECK: %[[Y:.*]] = arith.addi %[[X]], %c-1
// CHECK: %[[D:.*]] = arith.floordivsi %[[Y]], %c8
// CHECK: %[[D1:.*]] = arith.addi %[[D]], %c1
// CHECK: %[[MIN:.*]] = arith.minsi %[[D1]], %[[TILES]]
// CHECK: %[[LAST:.*]] = arith.maxsi %[[MIN]], %c0
// CHECK: scf.for %{{.*}} = %c0 to %[[FULL:.*]] step
// CHECK: where causal(offset = %[[N]] : index) mode full
// CHECK: scf.for %{{.*}} = %[[FULL]] to %[[LAST]]
// CHECK: where causal(offset = %[[N]] : index) mode edge
func.func @f(%s: !attn.state<16 x 4 x 6, f32>, %k: tensor<?x4xf32>, %v: tensor<?x6xf32>, %begin: index, %end: index,
    %sq: index, %sk: index, %n: index, %m: tensor<?x?xi1>) -> !attn.state<16 x 4 x 6, f32> {
  %c0 = arith.constant 0 : index
  %r = attn.online %s, %k, %v rows %begin to %end keys from %c0 lengths %sq, %sk where causal(offset = %n : index) mode edge {schedule = #s}
      : <16 x 4 x 6, f32>, tensor<?x4xf32>, tensor<?x6xf32>
  return %r : !attn.state<16 x 4 x 6, f32>
}
