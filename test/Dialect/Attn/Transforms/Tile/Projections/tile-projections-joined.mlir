// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Batch entries of one row each are the rows of one product, which reads the
// weight once.
// RUN: attn-opt %s --attn-tile-projections --canonicalize --cse | FileCheck %s
#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>

// CHECK-LABEL: @shared
// CHECK: tensor.extract_slice %arg0[%[[ROW:.*]], 0, 0] [%[[ROWS:.*]], 1, 4] [1, 1, 1] : tensor<?x1x4xf32> to tensor<?x4xf32>
// CHECK: tensor.extract_slice %arg2[%[[ROW]], 0, 0] [%[[ROWS]], 1, 6] [1, 1, 1] : tensor<?x1x6xf32> to tensor<?x6xf32>
// CHECK: attn.project_tile {{.*}} epilogue
// CHECK: tensor.parallel_insert_slice %{{.*}} into %{{.*}}[%[[ROW]], 0, 0] [%[[ROWS]], 1, 6] [1, 1, 1] : tensor<?x6xf32> into tensor<?x1x6xf32>
func.func @shared(%x: tensor<?x1x4xf32>, %w: tensor<4x6xf32>, %r: tensor<?x1x6xf32>) -> tensor<?x1x6xf32> {
  %y = attn.project %x, %w {schedule = #s} : (tensor<?x1x4xf32>, tensor<4x6xf32>) -> tensor<?x1x6xf32>
  %z = arith.addf %y, %r : tensor<?x1x6xf32>
  return %z : tensor<?x1x6xf32>
}

// With a weight each, entries stay apart.
// CHECK-LABEL: @own
// CHECK: tensor.extract_slice %arg0[%{{.*}}, 0, 0] [1, 1, 4] [1, 1, 1] : tensor<3x1x4xf32> to tensor<1x4xf32>
func.func @own(%x: tensor<3x1x4xf32>, %w: tensor<3x4x6xf32>) -> tensor<3x1x6xf32> {
  %y = attn.project %x, %w {schedule = #s} : (tensor<3x1x4xf32>, tensor<3x4x6xf32>) -> tensor<3x1x6xf32>
  return %y : tensor<3x1x6xf32>
}
