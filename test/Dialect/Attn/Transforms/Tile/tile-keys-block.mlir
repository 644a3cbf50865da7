// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A bitmap known at run time: a tile is computed if one of the blocks that it touches is allowed.
// RUN: attn-opt %s --attn-tile-keys --canonicalize --cse | FileCheck %s
#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>

// CHECK-LABEL: @f(
// CHECK-SAME: %[[BEGIN:[^ ,]*]]: index, %[[END:[^ ,]*]]: index, %{{[^ ,]*}}: index, %{{[^ ,]*}}: index, %[[BITS:[^ ,]*]]: tensor<?x?xi1>)
// CHECK: scf.for %[[TILE:.*]] = %c0 to %{{.*}} iter_args(%[[STATE:.*]] = %{{.*}})
// CHECK: %[[FIRST:.*]] = arith.muli %[[TILE]], %c8
// CHECK: %[[ROW:.*]] = arith.divui %[[BEGIN]], %c16
// CHECK: %[[SEEN:.*]] = scf.for %[[I:.*]] = %[[ROW]] to
// CHECK: %[[COLUMN:.*]] = arith.divui %[[FIRST]], %c4
// CHECK: scf.for %[[J:.*]] = %[[COLUMN]] to
// CHECK: tensor.extract %[[BITS]][%[[I]], %[[J]]]
// CHECK: arith.ori
// CHECK: scf.if %[[SEEN]]
// CHECK: attn.online %[[STATE]]
// CHECK: } else {
// CHECK-NEXT: scf.yield %[[STATE]]
func.func @f(%s: !attn.state<16 x 4 x 6, f32>, %k: tensor<?x4xf32>, %v: tensor<?x6xf32>, %begin: index, %end: index,
    %sq: index, %sk: index, %bits: tensor<?x?xi1>) -> !attn.state<16 x 4 x 6, f32> {
  %c0 = arith.constant 0 : index
  %r = attn.online %s, %k, %v rows %begin to %end keys from %c0 lengths %sq, %sk where block(16, 4, %bits : tensor<?x?xi1>) and causal(top_left) mode edge {schedule = #s}
      : <16 x 4 x 6, f32>, tensor<?x4xf32>, tensor<?x6xf32>
  return %r : !attn.state<16 x 4 x 6, f32>
}

// Under `or` another term may see the pair.
// CHECK-LABEL: @g(
// CHECK-NOT: scf.if
func.func @g(%s: !attn.state<16 x 4 x 6, f32>, %k: tensor<?x4xf32>, %v: tensor<?x6xf32>, %begin: index, %end: index,
    %sq: index, %sk: index, %bits: tensor<?x?xi1>) -> !attn.state<16 x 4 x 6, f32> {
  %c0 = arith.constant 0 : index
  %r = attn.online %s, %k, %v rows %begin to %end keys from %c0 lengths %sq, %sk where block(16, 4, %bits : tensor<?x?xi1>) or causal(top_left) mode edge {schedule = #s}
      : <16 x 4 x 6, f32>, tensor<?x4xf32>, tensor<?x6xf32>
  return %r : !attn.state<16 x 4 x 6, f32>
}
