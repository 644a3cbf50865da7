// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Chunks of 32 keys and causal: from the first tile of the rows' chunk, 4*floor(begin / 32), to the diagonal.
// RUN: attn-opt %s --attn-tile-keys --canonicalize --cse | FileCheck %s
#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>

// CHECK-LABEL: @f(
// CHECK-SAME: %[[S:.*]]: !attn.state<16 x 4 x 6, f32>, %[[K:.*]]: tensor<?x4xf32>, %[[V:.*]]: tensor<?x6xf32>, %[[BEGIN:.*]]: index, %[[END:.*]]: index, %[[SQ:.*]]: index, %[[SK:[^ ]*]]: index)
// CHECK: %[[TILES:.*]] = arith.ceildivsi %[[SK]], %c8
// CHECK: %[[CHUNK:.*]] = arith.floordivsi %[[BEGIN]], %c32
// CHECK: %[[CHUNK4:.*]] = arith.muli %[[CHUNK]], %c4
// CHECK: %[[FIRST:.*]] = arith.maxsi %[[CHUNK4]], %c0
// CHECK: arith.addi %[[END]], %c-1
// CHECK: %[[NEXT:.*]] = arith.addi %[[CHUNK4]], %c4
// CHECK: %[[MIN:.*]] = arith.minsi %{{.*}}, %[[NEXT]]
// CHECK: %[[LAST:.*]] = arith.maxsi %[[MIN]], %[[FIRST]]
// CHECK: scf.for %{{.*}} = %[[FIRST]] to %[[FULL:[^ ]*]] step
// CHECK: mode full
// CHECK: scf.for %{{.*}} = %[[FULL]] to %[[LAST]] step
// CHECK: mode edge
// CHECK-NOT: scf.for
func.func @f(%s: !attn.state<16 x 4 x 6, f32>, %k: tensor<?x4xf32>, %v: tensor<?x6xf32>, %begin: index, %end: index,
    %sq: index, %sk: index) -> !attn.state<16 x 4 x 6, f32> {
  %c0 = arith.constant 0 : index
  %r = attn.online %s, %k, %v rows %begin to %end keys from %c0 lengths %sq, %sk where chunked(32) and causal(top_left) mode edge {schedule = #s}
      : <16 x 4 x 6, f32>, tensor<?x4xf32>, tensor<?x6xf32>
  return %r : !attn.state<16 x 4 x 6, f32>
}
