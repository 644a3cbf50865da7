// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The batch is the first dimension of the loop; the weight has none.
// RUN: attn-opt %s --attn-tile-projections --canonicalize --cse | FileCheck %s
#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>

// CHECK-LABEL: @f
// CHECK-NOT: attn.project %
// CHECK: scf.forall (%[[N:.*]], %{{.*}}) in (%{{.*}}, %{{.*}}) shared_outs(%[[O:.*]] = %{{.*}})
// CHECK: tensor.extract_slice %arg0[%[[N]], %[[ROW:.*]], 0] [1, %[[ROWS:.*]], 4] [1, 1, 1] : tensor<?x?x4xf32> to tensor<?x4xf32>
// CHECK: attn.project_tile
// CHECK: tensor.parallel_insert_slice %{{.*}} into %[[O]][%[[N]], %[[ROW]], 0] [1, %[[ROWS]], 6]
func.func @f(%x: tensor<?x?x4xf32>, %w: tensor<4x6xf32>) -> tensor<?x?x6xf32> {
  %y = attn.project %x, %w {schedule = #s} : (tensor<?x?x4xf32>, tensor<4x6xf32>) -> tensor<?x?x6xf32>
  return %y : tensor<?x?x6xf32>
}
