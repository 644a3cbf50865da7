// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Batch, head and tile are the three dimensions of the parallel loop.
// RUN: attn-opt %s --attn-tile-queries --canonicalize --cse | FileCheck %s
#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>

// CHECK-LABEL: @f
// CHECK: %[[B:.*]] = tensor.dim %arg0, %c0
// CHECK: scf.forall (%[[N:.*]], %[[H:.*]], %{{.*}}) in (%[[B]], 8, %{{.*}}) shared_outs(%[[OUT:.*]] = %{{.*}})
// CHECK-DAG: tensor.extract_slice %arg0[%[[N]], %[[H]], %[[BEGIN:.*]], 0] [1, 1, %[[ROWS:.*]], 4]
// CHECK-DAG: tensor.extract_slice %arg1[%[[N]], %[[H]], 0, 0] [1, 1, %{{.*}}, 4]
// CHECK-DAG: tensor.extract_slice %arg2[%[[N]], %[[H]], 0, 0] [1, 1, %{{.*}}, 4]
// CHECK: tensor.parallel_insert_slice %{{.*}} into %[[OUT]][%[[N]], %[[H]], %[[BEGIN]], 0] [1, 1, %[[ROWS]], 4]
func.func @f(%q: tensor<?x8x?x4xf32>, %k: tensor<?x8x?x4xf32>, %v: tensor<?x8x?x4xf32>) -> tensor<?x8x?x4xf32> {
  %o = attn.sdpa %q, %k, %v scale 0.5 {schedule = #s} : (tensor<?x8x?x4xf32>, tensor<?x8x?x4xf32>, tensor<?x8x?x4xf32>) -> tensor<?x8x?x4xf32>
  return %o : tensor<?x8x?x4xf32>
}
