// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Weights are written from the final state, behind the loop over keys.
// RUN: attn-opt %s --attn-tile-queries --canonicalize --cse | FileCheck %s
#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>

// CHECK-LABEL: @f
// CHECK: %[[SK:.*]] = tensor.dim %arg1, %c0
// CHECK: scf.forall {{.*}} shared_outs(%{{.*}} = %{{.*}}, %[[W:.*]] = %{{.*}})
// CHECK: %[[PART:.*]] = tensor.extract_slice %[[W]][%[[BEGIN:.*]], 0] [%[[ROWS:.*]], %[[SK]]]
// CHECK: %[[STATE:.*]] = attn.online
// CHECK: attn.finalize %[[STATE]]
// CHECK: %[[R:.*]] = attn.weigh %[[STATE]], {{.*}} scale 5.000000e-01 where causal(top_left) weights %[[PART]] : tensor<?x?xf32>
// CHECK: tensor.parallel_insert_slice %[[R]] into %[[W]][%[[BEGIN]], 0] [%[[ROWS]], %[[SK]]]
func.func @f(%q: tensor<?x4xf32>, %k: tensor<?x4xf32>) -> (tensor<?x4xf32>, tensor<?x?xf32>) {
  %o, %w = attn.sdpa %q, %k, %k scale 0.5 where causal(top_left) returning(out, weights) {schedule = #s} : (tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>) -> (tensor<?x4xf32>, tensor<?x?xf32>)
  return %o, %w : tensor<?x4xf32>, tensor<?x?xf32>
}
