// RUN: attn-opt %s | attn-opt | FileCheck %s
// RUN: attn-opt %s --mlir-print-op-generic | attn-opt | FileCheck %s
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A projection with and without bias and schedule.
// CHECK-LABEL: func @without_bias
// CHECK: attn.project %{{.*}}, %{{.*}} : (tensor<?x6xf32>, tensor<6x4xf32>) -> tensor<?x4xf32>
func.func @without_bias(%x: tensor<?x6xf32>, %w: tensor<6x4xf32>) -> tensor<?x4xf32> {
  %y = attn.project %x, %w : (tensor<?x6xf32>, tensor<6x4xf32>) -> tensor<?x4xf32>
  return %y : tensor<?x4xf32>
}

// CHECK-LABEL: func @with_bias_and_schedule
// CHECK: attn.project %{{.*}}, %{{.*}}, %{{.*}} {schedule = #attn.cpu_schedule<lanes = 8, rows = 6, vectors = 2, query_tile = 16, key_tile = 12, unroll = 4, prefetch = 0>}
// CHECK-SAME: : (tensor<2x?x6xf32>, tensor<6x4xf32>, tensor<4xf32>) -> tensor<2x?x4xf32>
func.func @with_bias_and_schedule(%x: tensor<2x?x6xf32>, %w: tensor<6x4xf32>, %b: tensor<4xf32>) -> tensor<2x?x4xf32> {
  %y = attn.project %x, %w, %b {schedule = #attn.cpu_schedule<lanes = 8, rows = 6, vectors = 2, query_tile = 16, key_tile = 12, unroll = 4, prefetch = 0>}
      : (tensor<2x?x6xf32>, tensor<6x4xf32>, tensor<4xf32>) -> tensor<2x?x4xf32>
  return %y : tensor<2x?x4xf32>
}

// CHECK-LABEL: func @transposed
// CHECK: attn.project %arg0, %arg1 transposed, %arg2 : (tensor<2x5x6xf32>, tensor<2x4x6xf32>, tensor<4xf32>) -> tensor<2x5x4xf32>
func.func @transposed(%x: tensor<2x5x6xf32>, %w: tensor<2x4x6xf32>, %b: tensor<4xf32>) -> tensor<2x5x4xf32> {
  %y = attn.project %x, %w transposed, %b : (tensor<2x5x6xf32>, tensor<2x4x6xf32>, tensor<4xf32>) -> tensor<2x5x4xf32>
  return %y : tensor<2x5x4xf32>
}
