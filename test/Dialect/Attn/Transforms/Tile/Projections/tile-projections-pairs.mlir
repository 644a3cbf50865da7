// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A row of a panel of pairs has those of two rows of the weight side by side. The
// third row has none beside it; tiles have 16 rows of pairs.
// RUN: attn-opt %s --attn-tile-projections --canonicalize --cse | FileCheck %s
#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0, products = dot>
#t = #attn.cpu_schedule<lanes = 16, rows = 32, vectors = 2, query_tile = 32, key_tile = 64, unroll = 1, prefetch = 0, products = amx>
#f = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>

// CHECK-LABEL: @dense
// CHECK: %[[W:.*]] = arith.constant dense<{{\[\[}}[0.000000e+00, 5.000000e+00, 1.000000e+00, 6.000000e+00, 2.000000e+00, 7.000000e+00, 3.000000e+00, 8.000000e+00],
// CHECK-SAME: [1.000000e+01, 0.000000e+00, 1.100000e+01, 0.000000e+00, 1.200000e+01, 0.000000e+00, 1.300000e+01, 0.000000e+00]],
// CHECK-SAME: {{\[}}[4.000000e+00, 9.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00],
// CHECK-SAME: [1.400000e+01, 0.000000e+00, {{.*}}]]]> : tensor<2x2x8xbf16>
// CHECK: attn.project_tile %{{.*}}, %[[W]] outs(
func.func @dense(%x: tensor<?x3xbf16>) -> tensor<?x5xbf16> {
  %w = arith.constant dense<[[0.0, 1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0, 9.0], [10.0, 11.0, 12.0, 13.0, 14.0]]> : tensor<3x5xbf16>
  %y = attn.project %x, %w {schedule = #s} : (tensor<?x3xbf16>, tensor<3x5xbf16>) -> tensor<?x5xbf16>
  return %y : tensor<?x5xbf16>
}

// CHECK-LABEL: @transposed
// CHECK: arith.constant dense<{{\[\[}}[0.000000e+00, 1.000000e+00, 3.000000e+00, 4.000000e+00, 6.000000e+00, 7.000000e+00, 9.000000e+00, 1.000000e+01],
// CHECK-SAME: [2.000000e+00, 0.000000e+00, 5.000000e+00, 0.000000e+00, 8.000000e+00, 0.000000e+00, 1.100000e+01, 0.000000e+00]]]> : tensor<1x2x8xbf16>
func.func @transposed(%x: tensor<?x3xbf16>) -> tensor<?x4xbf16> {
  %w = arith.constant dense<[[0.0, 1.0, 2.0], [3.0, 4.0, 5.0], [6.0, 7.0, 8.0], [9.0, 10.0, 11.0]]> : tensor<4x3xbf16>
  %y = attn.project %x, %w transposed {schedule = #s} : (tensor<?x3xbf16>, tensor<4x3xbf16>) -> tensor<?x4xbf16>
  return %y : tensor<?x4xbf16>
}

// CHECK-LABEL: @tiles
// CHECK: arith.constant dense<2.000000e+00> : tensor<2x32x64xbf16>
func.func @tiles(%x: tensor<?x33xbf16>) -> tensor<?x40xbf16> {
  %w = arith.constant dense<2.0> : tensor<33x40xbf16>
  %y = attn.project %x, %w {schedule = #t} : (tensor<?x33xbf16>, tensor<33x40xbf16>) -> tensor<?x40xbf16>
  return %y : tensor<?x40xbf16>
}

// A row of zeros behind the weight would not hide an infinite number.
// CHECK-LABEL: @infinite
// CHECK: arith.constant dense<0x7F80> : tensor<3x4xbf16>
// CHECK: attn.project_tile
// CHECK-LABEL: @known
func.func @infinite(%x: tensor<?x3xbf16>) -> tensor<?x4xbf16> {
  %w = arith.constant dense<0x7F80> : tensor<3x4xbf16>
  %y = attn.project %x, %w {schedule = #s} : (tensor<?x3xbf16>, tensor<3x4xbf16>) -> tensor<?x4xbf16>
  return %y : tensor<?x4xbf16>
}

// Weights of many rows are packed in front; panels have the rows of pairs.
// CHECK: %[[P:.*]] = tensor.empty() : tensor<2x32x64xbf16>
// CHECK: attn.pack_panels %{{.*}} outs(%{{.*}} : tensor<2x32x64xbf16>)
func.func @known(%x: tensor<100x33xbf16>, %w: tensor<33x40xbf16>) -> tensor<100x40xbf16> {
  %y = attn.project %x, %w {schedule = #t} : (tensor<100x33xbf16>, tensor<33x40xbf16>) -> tensor<100x40xbf16>
  return %y : tensor<100x40xbf16>
}

// CHECK-LABEL: @unknown
// CHECK: %[[PRODUCTS:.*]] = arith.ceildivui %{{.*}}, %c32
// CHECK: %[[ROWS:.*]] = arith.muli %[[PRODUCTS]], %c16
// CHECK: tensor.empty(%[[ROWS]]) : tensor<2x?x64xbf16>
func.func @unknown(%x: tensor<100x?xbf16>, %w: tensor<?x40xbf16>) -> tensor<100x40xbf16> {
  %y = attn.project %x, %w {schedule = #t} : (tensor<100x?xbf16>, tensor<?x40xbf16>) -> tensor<100x40xbf16>
  return %y : tensor<100x40xbf16>
}

// Few rows, four beside tiles, have a loop of their own, whose code is for no
// more.
// CHECK-LABEL: @few_rows
// CHECK: %[[FEW:[0-9]+]] = arith.cmpi ule, %{{.*}}, %c4
// CHECK: %[[BATCHES:[0-9]+]] = arith.select %[[FEW]], %{{.*}}, %c0
// CHECK: %[[FIRST:[0-9]+]] = scf.forall {{.*}} in (%[[BATCHES]], %{{.*}})
// CHECK: attn.project_tile {{.*}} {attn.few_rows, attn.most_rows = 4 : i64, schedule = #attn.cpu_schedule<lanes = 4, {{.*}}prefetch = 0>
// CHECK: %[[OTHERS:[0-9]+]] = arith.select %[[FEW]], %c0
// CHECK: scf.forall {{.*}} in (%[[OTHERS]], %{{.*}}) shared_outs(%{{.*}} = %[[FIRST]])
// CHECK: attn.project_tile {{.*}}products = amx>
// CHECK: attn.pack_panels
// CHECK: attn.project_tile {{.*}}products = amx>
func.func @few_rows(%x: tensor<?x33xbf16>, %w: tensor<33x40xbf16>) -> tensor<?x40xbf16> {
  %y = attn.project %x, %w {schedule = #t, few_rows_schedule = #f} : (tensor<?x33xbf16>, tensor<33x40xbf16>) -> tensor<?x40xbf16>
  return %y : tensor<?x40xbf16>
}
