// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lengths alone are the same for all rows: they bound the keys of an item, and no
// pair is tested.
// RUN: attn-opt %s --attn-tile-queries --canonicalize --cse | FileCheck %s
// RUN: attn-opt %s --attn-tile-queries --attn-tile-keys --canonicalize --cse | FileCheck %s --check-prefix=KEYS
#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>

// A length may be negative, or more than there are keys.
// CHECK-LABEL: @alone
// CHECK: %[[ALL:.*]] = tensor.dim %arg1, %c2
// CHECK: scf.forall (%[[N:.*]], %[[H:.*]], %{{.*}}) in
// CHECK: %[[X:.*]] = tensor.extract %arg2[%[[N]]] : tensor<?xi32>
// CHECK: %[[LENGTH:.*]] = arith.index_cast %[[X]] : i32 to index
// CHECK: %[[LEAST:.*]] = arith.maxsi %[[LENGTH]], %c0
// CHECK: %[[LEFT:.*]] = arith.minsi %[[LEAST]], %[[ALL]]
// CHECK: %[[COUNT:.*]] = arith.minsi %[[ALL]], %{{.*}}
// CHECK: tensor.extract_slice %arg1[%[[N]], %[[H]], 0, 0] [1, 1, %[[COUNT]], 4]
// CHECK: attn.online {{.*}} keys from %c0 lengths %{{[^,]*}}, %[[LEFT]] mode {{ *}}full
// KEYS-LABEL: @alone
// KEYS: attn.online {{.*}} mode {{ *}}full
// KEYS-NOT: edge
func.func @alone(%q: tensor<?x8x?x4xf32>, %k: tensor<?x8x?x4xf32>, %n: tensor<?xi32>) -> tensor<?x8x?x4xf32> {
  %o = attn.sdpa %q, %k, %k scale 0.5 where key_length(%n : tensor<?xi32>) {schedule = #s} : (tensor<?x8x?x4xf32>, tensor<?x8x?x4xf32>, tensor<?x8x?x4xf32>) -> tensor<?x8x?x4xf32>
  return %o : tensor<?x8x?x4xf32>
}

// Beside another term they stay one.
// CHECK-LABEL: @and_causal
// CHECK: attn.online {{.*}} where causal(bottom_right) and key_length(%{{.*}} : index) mode {{ *}}edge
// KEYS-LABEL: @and_causal
// KEYS: mode {{ *}}edge
func.func @and_causal(%q: tensor<?x8x?x4xf32>, %k: tensor<?x8x?x4xf32>, %n: tensor<?xi32>) -> tensor<?x8x?x4xf32> {
  %o = attn.sdpa %q, %k, %k scale 0.5 where causal(bottom_right) and key_length(%n : tensor<?xi32>) {schedule = #s} : (tensor<?x8x?x4xf32>, tensor<?x8x?x4xf32>, tensor<?x8x?x4xf32>) -> tensor<?x8x?x4xf32>
  return %o : tensor<?x8x?x4xf32>
}

// Weights show the keys behind the lengths, too.
// CHECK-LABEL: @weights
// CHECK: attn.online {{.*}} where key_length(%{{.*}} : index) mode {{ *}}edge
// CHECK: attn.weigh {{.*}} where key_length(%{{.*}} : index)
// KEYS-LABEL: @weights
func.func @weights(%q: tensor<?x4xf32>, %k: tensor<?x4xf32>, %n: tensor<i32>) -> (tensor<?x4xf32>, tensor<?x?xf32>) {
  %o, %w = attn.sdpa %q, %k, %k scale 0.5 where key_length(%n : tensor<i32>) returning(out, weights) {schedule = #s} : (tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>) -> (tensor<?x4xf32>, tensor<?x?xf32>)
  return %o, %w : tensor<?x4xf32>, tensor<?x?xf32>
}
