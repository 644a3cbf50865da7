// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Weights of excluded pairs are written too, as 0: weigh visits all tiles,
// whatever the mask, and every tile writes its columns.
// RUN: attn-opt %s --attn-tile-keys --canonicalize --cse | FileCheck %s
#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>

// CHECK-LABEL: @f(
// CHECK-SAME: %[[SK:[^ ]*]]: index, %[[W:[^ ]*]]: tensor<?x?xf32>, %[[X:[^ ]*]]: tensor<?x?xf32>)
// CHECK: %[[TILES:.*]] = arith.ceildivui %[[SK]], %c8
// CHECK: %[[R:.*]]:2 = scf.for %[[T:.*]] = %c0 to %[[TILES]] step %c1 iter_args(%[[IW:.*]] = %[[W]], %[[IX:.*]] = %[[X]])
// CHECK: %[[FIRST:.*]] = arith.muli %[[T]], %c8
// CHECK: %[[WT:.*]] = tensor.extract_slice %[[IW]][0, %[[FIRST]]] [%{{.*}}, %[[COUNT:.*]]] [1, 1]
// CHECK: %[[XT:.*]] = tensor.extract_slice %[[IX]][0, %[[FIRST]]] [%{{.*}}, %[[COUNT]]] [1, 1]
// CHECK: %[[N:.*]]:2 = attn.weigh {{.*}} keys from %[[FIRST]] {{.*}} weights %[[WT]] : tensor<?x?xf32> scores %[[XT]] :
// CHECK: tensor.insert_slice %[[N]]#0 into %[[IW]][0, %[[FIRST]]]
// CHECK: tensor.insert_slice %[[N]]#1 into %[[IX]][0, %[[FIRST]]]
// CHECK: return %[[R]]#0, %[[R]]#1
func.func @f(%s: !attn.state<16 x 4 x 6, f32>, %k: tensor<?x4xf32>, %begin: index, %end: index,
    %sq: index, %sk: index, %w: tensor<?x?xf32>, %x: tensor<?x?xf32>) -> (tensor<?x?xf32>, tensor<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %r:2 = attn.weigh %s, %k rows %begin to %end keys from %c0 lengths %sq, %sk scale 0.5 where causal(top_left)
      weights %w : tensor<?x?xf32> scores %x : tensor<?x?xf32> {schedule = #s, stage = #attn<scores_stage masked>}
      : <16 x 4 x 6, f32>, tensor<?x4xf32> -> tensor<?x?xf32>, tensor<?x?xf32>
  return %r#0, %r#1 : tensor<?x?xf32>, tensor<?x?xf32>
}
