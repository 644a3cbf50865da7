// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The logarithm of the sum is the second result of finalize: one value per row.
// RUN: attn-opt %s --attn-tile-queries --canonicalize --cse | FileCheck %s
#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>

// CHECK-LABEL: @f
// CHECK: scf.forall (%[[N:.*]], %[[H:.*]], %{{.*}}) in ({{.*}}) shared_outs(%[[OUT:.*]] = %{{.*}}, %[[LSE:.*]] = %{{.*}})
// CHECK: %[[PART:.*]] = tensor.extract_slice %[[LSE]][%[[N]], %[[H]], %[[BEGIN:.*]]] [1, 1, %[[ROWS:.*]]] [1, 1, 1] : tensor<?x8x?xf32> to tensor<?xf32>
// CHECK: %[[R:.*]]:2 = attn.finalize %{{.*}} outs(%{{.*}}, %[[PART]] :
// CHECK-NOT: attn.weigh
// CHECK: tensor.parallel_insert_slice %[[R]]#0 into %[[OUT]]
// CHECK: tensor.parallel_insert_slice %[[R]]#1 into %[[LSE]][%[[N]], %[[H]], %[[BEGIN]]] [1, 1, %[[ROWS]]]
func.func @f(%q: tensor<?x8x?x4xf32>, %k: tensor<?x8x?x4xf32>) -> (tensor<?x8x?x4xf32>, tensor<?x8x?xf32>) {
  %o, %l = attn.sdpa %q, %k, %k scale 0.5 returning(out, lse) {schedule = #s} : (tensor<?x8x?x4xf32>, tensor<?x8x?x4xf32>, tensor<?x8x?x4xf32>) -> (tensor<?x8x?x4xf32>, tensor<?x8x?xf32>)
  return %o, %l : tensor<?x8x?x4xf32>, tensor<?x8x?xf32>
}
