// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A constant that is narrower than a panel is like an argument, but not
// transposed. Other users of a packed constant keep the matrix.
// RUN: attn-opt %s --attn-tile-projections --canonicalize --cse | FileCheck %s
#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>

// CHECK-LABEL: @narrow
// CHECK: attn.project_tile {{.*}} : tensor<?x2xf32>, tensor<2x3xf32> -> tensor<?x3xf32>
// CHECK: attn.pack_panels
func.func @narrow(%x: tensor<?x2xf32>) -> tensor<?x3xf32> {
  %w = arith.constant dense<[[0.0, 1.0, 2.0], [5.0, 6.0, 7.0]]> : tensor<2x3xf32>
  %y = attn.project %x, %w {schedule = #s} : (tensor<?x2xf32>, tensor<2x3xf32>) -> tensor<?x3xf32>
  return %y : tensor<?x3xf32>
}

// CHECK-LABEL: @turned
// CHECK: arith.constant dense<{{\[\[}}0.000000e+00, 1.000000e+00, 2.000000e+00], [5.000000e+00, 6.000000e+00, 7.000000e+00]]> : tensor<2x3xf32>
// CHECK-NOT: transposed
func.func @turned(%x: tensor<?x2xf32>) -> tensor<?x3xf32> {
  %w = arith.constant dense<[[0.0, 5.0], [1.0, 6.0], [2.0, 7.0]]> : tensor<3x2xf32>
  %y = attn.project %x, %w transposed {schedule = #s} : (tensor<?x2xf32>, tensor<3x2xf32>) -> tensor<?x3xf32>
  return %y : tensor<?x3xf32>
}

// CHECK-LABEL: @second_user
// CHECK-DAG: %[[W:.*]] = arith.constant dense<{{.*}}> : tensor<1x4xf32>
// CHECK-DAG: %[[PANELS:.*]] = arith.constant dense<{{.*}}> : tensor<1x1x4xf32>
// CHECK: attn.project_tile %{{.*}}, %[[PANELS]]
// CHECK: return %{{.*}}, %[[W]]
func.func @second_user(%x: tensor<?x1xf32>) -> (tensor<?x4xf32>, tensor<1x4xf32>) {
  %w = arith.constant dense<[[0.0, 1.0, 2.0, 3.0]]> : tensor<1x4xf32>
  %y = attn.project %x, %w {schedule = #s} : (tensor<?x1xf32>, tensor<1x4xf32>) -> tensor<?x4xf32>
  return %y, %w : tensor<?x4xf32>, tensor<1x4xf32>
}
