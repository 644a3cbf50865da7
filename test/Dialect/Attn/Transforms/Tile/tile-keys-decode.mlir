// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kind decode: a tile on the edge has the keys between the first and the last
// that a row sees, one at least; where every row sees all of them, it is full.
// RUN: attn-opt %s --attn-tile-keys --canonicalize --cse | FileCheck %s
#s = #attn.cpu_schedule<lanes = 4, rows = 3, vectors = 3, query_tile = 4, key_tile = 8, unroll = 2, prefetch = 0, kind = decode, split_keys = 64>
!state = !attn.state<4 x 4 x 4, f32, decode>

// CHECK-LABEL: @key_length(
// CHECK-SAME: %[[K:[^ ]*]]: tensor<?x4xf32>, %[[SQ:.*]]: index, %[[SK:.*]]: index, %[[N:.*]]: index
// CHECK: scf.for
// CHECK-NOT: scf.if
// CHECK: attn.online {{.*}} where key_length(%[[N]] : index) mode  full
// CHECK: scf.for %[[T:.*]] = %{{.*}} to
// CHECK: %[[FIRST:.*]] = arith.muli %[[T]], %c8
// CHECK: %[[LEFT:.*]] = arith.subi %[[SK]], %[[FIRST]]
// CHECK: %[[SIZE:.*]] = arith.minui %[[LEFT]], %c8
// CHECK: %[[END:.*]] = arith.addi %[[FIRST]], %[[SIZE]]
// CHECK: %[[LAST:.*]] = arith.subi %[[END]], %c1
// CHECK: %[[BEGIN:.*]] = arith.minsi %{{.*}}, %[[LAST]]
// CHECK: %[[NEXT:.*]] = arith.addi %[[BEGIN]], %c1
// CHECK: %[[SEEN:.*]] = arith.minsi %[[END]], %{{.*}}
// CHECK: %[[STOP:.*]] = arith.maxsi %[[SEEN]], %[[NEXT]]
// CHECK: %[[COUNT:.*]] = arith.subi %[[STOP]], %[[BEGIN]]
// CHECK: arith.cmpi sge, %[[BEGIN]], %c0
// CHECK: arith.cmpi sle, %[[STOP]], %{{.*}}
// CHECK: scf.if
// CHECK: tensor.extract_slice %[[K]][%[[BEGIN]], 0] [%[[COUNT]], 4]
// CHECK: attn.online {{.*}} keys from %[[BEGIN]] {{.*}} mode  full
// CHECK: else
// CHECK: tensor.extract_slice %[[K]][%[[BEGIN]], 0] [%[[COUNT]], 4]
// CHECK: attn.online {{.*}} keys from %[[BEGIN]] {{.*}} mode  edge
func.func @key_length(%s: !state, %k: tensor<?x4xf32>, %sq: index, %sk: index, %n: index) -> !state {
  %c0 = arith.constant 0 : index
  %r = attn.online %s, %k, %k rows %c0 to %sq keys from %c0 lengths %sq, %sk where key_length(%n : index) mode edge {schedule = #s}
      : <4 x 4 x 4, f32, decode>, tensor<?x4xf32>, tensor<?x4xf32>
  return %r : !state
}

// Nothing is known of a bitmap: all tiles are on the edge.
// CHECK-LABEL: @bitmap(
// CHECK: scf.for
// CHECK: attn.online {{.*}} mode  edge
// CHECK-NOT: attn.online
// CHECK: return
func.func @bitmap(%s: !state, %k: tensor<?x4xf32>, %sq: index, %sk: index, %m: tensor<?x?xi1>) -> !state {
  %c0 = arith.constant 0 : index
  %r = attn.online %s, %k, %k rows %c0 to %sq keys from %c0 lengths %sq, %sk where %m : tensor<?x?xi1> mode edge {schedule = #s}
      : <4 x 4 x 4, f32, decode>, tensor<?x4xf32>, tensor<?x4xf32>
  return %r : !state
}

// CHECK-LABEL: @no_mask(
// CHECK: scf.for
// CHECK-NOT: scf.if
// CHECK: attn.online {{.*}} mode  full
// CHECK-NOT: attn.online
func.func @no_mask(%s: !state, %k: tensor<?x4xf32>, %sq: index, %sk: index) -> !state {
  %c0 = arith.constant 0 : index
  %r = attn.online %s, %k, %k rows %c0 to %sq keys from %c0 lengths %sq, %sk mode full {schedule = #s}
      : <4 x 4 x 4, f32, decode>, tensor<?x4xf32>, tensor<?x4xf32>
  return %r : !state
}
