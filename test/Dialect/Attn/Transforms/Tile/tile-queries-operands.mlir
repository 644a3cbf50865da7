// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Integers of a mask become this item's index: one per batch entry, or one for all.
// RUN: attn-opt %s --attn-tile-queries --canonicalize --cse | FileCheck %s
#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>

// CHECK-LABEL: @per_batch
// CHECK: scf.forall (%[[N:.*]], %{{.*}}, %{{.*}}) in
// CHECK: %[[X:.*]] = tensor.extract %arg2[%[[N]]] : tensor<?xi32>
// CHECK: %[[LEN:.*]] = arith.index_cast %[[X]] : i32 to index
// CHECK: attn.online {{.*}} where causal(top_left) and key_length(%[[LEN]] : index) mode edge
func.func @per_batch(%q: tensor<?x8x?x4xf32>, %k: tensor<?x8x?x4xf32>, %n: tensor<?xi32>) -> tensor<?x8x?x4xf32> {
  %o = attn.sdpa %q, %k, %k scale 0.5 where causal(top_left) and key_length(%n : tensor<?xi32>) {schedule = #s} : (tensor<?x8x?x4xf32>, tensor<?x8x?x4xf32>, tensor<?x8x?x4xf32>) -> tensor<?x8x?x4xf32>
  return %o : tensor<?x8x?x4xf32>
}

// A tensor of one element serves every batch entry.
// CHECK-LABEL: @one
// CHECK: tensor.extract %arg2[%c0] : tensor<1xi64>
func.func @one(%q: tensor<1x8x?x4xf32>, %k: tensor<1x8x?x4xf32>, %n: tensor<1xi64>) -> tensor<1x8x?x4xf32> {
  %o = attn.sdpa %q, %k, %k scale 0.5 where key_length(%n : tensor<1xi64>) {schedule = #s} : (tensor<1x8x?x4xf32>, tensor<1x8x?x4xf32>, tensor<1x8x?x4xf32>) -> tensor<1x8x?x4xf32>
  return %o : tensor<1x8x?x4xf32>
}

// CHECK-LABEL: @scalar
// CHECK: %[[X:.*]] = tensor.extract %arg2[] : tensor<i64>
// CHECK: %[[WIDE:.*]] = arith.index_cast %[[X]] : i64 to index
// CHECK: %[[MOST:.*]] = arith.minsi %[[WIDE]], %c1099511627776 : index
// CHECK: %[[OFF:.*]] = arith.maxsi %[[MOST]], %c-1099511627776 : index
// CHECK: attn.online {{.*}} where causal(offset = %[[OFF]] : index)
func.func @scalar(%q: tensor<?x4xf32>, %k: tensor<?x4xf32>, %n: tensor<i64>) -> tensor<?x4xf32> {
  %o = attn.sdpa %q, %k, %k scale 0.5 where causal(offset = %n : tensor<i64>) {schedule = #s} : (tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  return %o : tensor<?x4xf32>
}
