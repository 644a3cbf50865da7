// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The leading dimension of rank 3 is the head.
// RUN: attn-opt %s --attn-tile-queries --canonicalize --cse | FileCheck %s
#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>

// CHECK-LABEL: @f
// CHECK: scf.forall (%[[H:.*]], %{{.*}}) in (3, %{{.*}}) shared_outs(%[[OUT:.*]] = %{{.*}})
// CHECK-DAG: tensor.extract_slice %arg0[%[[H]], %[[BEGIN:.*]], 0] [1, %[[ROWS:.*]], 4] [1, 1, 1] : tensor<3x?x4xf32> to tensor<?x4xf32>
// CHECK-DAG: tensor.extract_slice %arg1[%[[H]], 0, 0] [1, %{{.*}}, 4] [1, 1, 1] : tensor<3x?x4xf32> to tensor<?x4xf32>
// CHECK-DAG: tensor.extract_slice %arg2[%[[H]], 0, 0] [1, %{{.*}}, 6] [1, 1, 1] : tensor<3x?x6xf32> to tensor<?x6xf32>
// CHECK: tensor.parallel_insert_slice %{{.*}} into %[[OUT]][%[[H]], %[[BEGIN]], 0] [1, %[[ROWS]], 6]
func.func @f(%q: tensor<3x?x4xf32>, %k: tensor<3x?x4xf32>, %v: tensor<3x?x6xf32>) -> tensor<3x?x6xf32> {
  %o = attn.sdpa %q, %k, %v scale 0.5 {schedule = #s} : (tensor<3x?x4xf32>, tensor<3x?x4xf32>, tensor<3x?x6xf32>) -> tensor<3x?x6xf32>
  return %o : tensor<3x?x6xf32>
}
