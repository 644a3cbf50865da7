// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A constant weight is packed in panels of the schedule's columns; what is left
// of the last panel is 0. A tile takes the panels of its columns.
// RUN: attn-opt %s --attn-tile-projections --canonicalize --cse | FileCheck %s
#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>

// CHECK-LABEL: @dense
// CHECK: %[[W:.*]] = arith.constant dense<{{\[\[}}[0.000000e+00, 1.000000e+00, 2.000000e+00, 3.000000e+00], [5.000000e+00, 6.000000e+00, 7.000000e+00, 8.000000e+00]],
// CHECK-SAME: {{\[}}[4.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00], [9.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00]]]> : tensor<2x2x4xf32>
// CHECK: attn.project_tile %{{.*}}, %[[W]] outs(
func.func @dense(%x: tensor<?x2xf32>) -> tensor<?x5xf32> {
  %w = arith.constant dense<[[0.0, 1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0, 9.0]]> : tensor<2x5xf32>
  %y = attn.project %x, %w {schedule = #s} : (tensor<?x2xf32>, tensor<2x5xf32>) -> tensor<?x5xf32>
  return %y : tensor<?x5xf32>
}

// CHECK-LABEL: @wide
// CHECK: scf.forall (%{{.*}}, %[[J:.*]]) in (%{{.*}}, 2)
// CHECK: %[[COLUMN:.*]] = arith.muli %[[J]], %c500
// CHECK: %[[COLUMNS:.*]] = arith.minui
// CHECK: %[[PANEL:.*]] = arith.divui %[[COLUMN]], %c4
// CHECK: %[[PANELS:.*]] = arith.ceildivui %[[COLUMNS]], %c4
// CHECK: tensor.extract_slice %{{.*}}[%[[PANEL]], 0, 0] [%[[PANELS]], 2, 4] [1, 1, 1] : tensor<250x2x4xf32> to tensor<?x2x4xf32>
func.func @wide(%x: tensor<?x2xf32>) -> tensor<?x1000xf32> {
  %w = arith.constant dense<3.0> : tensor<2x1000xf32>
  %y = attn.project %x, %w {schedule = #s} : (tensor<?x2xf32>, tensor<2x1000xf32>) -> tensor<?x1000xf32>
  return %y : tensor<?x1000xf32>
}

// CHECK-LABEL: @splat
// CHECK: arith.constant dense<2.000000e+00> : tensor<2x2x4xf32>
func.func @splat(%x: tensor<?x2xf32>) -> tensor<?x5xf32> {
  %w = arith.constant dense<2.0> : tensor<2x5xf32>
  %y = attn.project %x, %w {schedule = #s} : (tensor<?x2xf32>, tensor<2x5xf32>) -> tensor<?x5xf32>
  return %y : tensor<?x5xf32>
}

// CHECK-LABEL: @resource
// CHECK: arith.constant dense_resource<[[NAME:.*]]> : tensor<2x1x4xf16>
// CHECK: [[NAME]]: "0x4000000001000200030004000500000000000000"
func.func @resource(%x: tensor<?x1xf16>) -> tensor<?x5xf16> {
  %w = arith.constant dense_resource<weight> : tensor<1x5xf16>
  %y = attn.project %x, %w {schedule = #s} : (tensor<?x1xf16>, tensor<1x5xf16>) -> tensor<?x5xf16>
  return %y : tensor<?x5xf16>
}

{-#
  dialect_resources: {
    builtin: { weight: "0x0200000001000200030004000500" }
  }
#-}
