// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Scores keep their stage; one weigh writes scores and weights.
// RUN: attn-opt %s --attn-tile-queries --canonicalize --cse | FileCheck %s
#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>

// CHECK-LABEL: @alone
// CHECK: attn.weigh {{.*}} scale 5.000000e-01 scores %{{.*}} : tensor<?x?xf32> {{.*}}stage = #attn<scores_stage raw>
func.func @alone(%q: tensor<?x4xf32>, %k: tensor<?x4xf32>) -> (tensor<?x4xf32>, tensor<?x?xf32>) {
  %o, %w = attn.sdpa %q, %k, %k scale 0.5 returning(out, scores) {schedule = #s, scores_stage = #attn<scores_stage raw>} : (tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>) -> (tensor<?x4xf32>, tensor<?x?xf32>)
  return %o, %w : tensor<?x4xf32>, tensor<?x?xf32>
}

// CHECK-LABEL: @both
// CHECK: scf.forall {{.*}} shared_outs(%[[O:.*]] = %{{.*}}, %[[W:.*]] = %{{.*}}, %[[S:.*]] = %{{.*}}) ->
// CHECK: %[[R:.*]]:2 = attn.weigh {{.*}} weights %{{.*}} : tensor<?x?xf32> scores %{{.*}} : tensor<?x?xf32> {{.*}}stage = #attn<scores_stage masked>
// CHECK: tensor.parallel_insert_slice %[[R]]#0 into %[[W]]
// CHECK: tensor.parallel_insert_slice %[[R]]#1 into %[[S]]
func.func @both(%q: tensor<?x4xf32>, %k: tensor<?x4xf32>) -> (tensor<?x4xf32>, tensor<?x?xf32>, tensor<?x?xf32>) {
  %o, %w, %x = attn.sdpa %q, %k, %k scale 0.5 where causal(top_left) returning(out, weights, scores) {schedule = #s, scores_stage = #attn<scores_stage masked>} : (tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>) -> (tensor<?x4xf32>, tensor<?x?xf32>, tensor<?x?xf32>)
  return %o, %w, %x : tensor<?x4xf32>, tensor<?x?xf32>, tensor<?x?xf32>
}
