// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: attn-opt %s --split-input-file --attn-lower-columns | FileCheck %s

// Sums of 16 bits are rounded once, behind.
// CHECK-DAG: #[[IK:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-DAG: #[[K:.*]] = affine_map<(d0, d1) -> (d1)>
// CHECK-DAG: #[[I:.*]] = affine_map<(d0, d1) -> (d0)>
// CHECK-LABEL: @bias(
// CHECK-SAME: %[[X:.*]]: tensor<?x64xbf16>, %[[W:.*]]: tensor<64x1xbf16>, %[[B:.*]]: tensor<1xbf16>
// CHECK: %[[V:.*]] = tensor.collapse_shape %[[W]] {{\[}}[0, 1]] : tensor<64x1xbf16> into tensor<64xbf16>
// CHECK: %[[FIRST:.*]] = tensor.extract %[[B]]
// CHECK: %[[WIDE:.*]] = arith.extf %[[FIRST]] : bf16 to f32
// CHECK: %[[START:.*]] = linalg.fill ins(%[[WIDE]] : f32) outs(%{{.*}} : tensor<?xf32>)
// CHECK: %[[SUMS:.*]] = linalg.generic {indexing_maps = [#[[IK]], #[[K]], #[[I]]], iterator_types = ["parallel", "reduction"]} ins(%[[X]], %[[V]] : {{.*}}) outs(%[[START]] : tensor<?xf32>)
// CHECK: arith.mulf %{{.*}}, %{{.*}} : f32
// CHECK: arith.addf %{{.*}}, %{{.*}} : f32
// CHECK: %[[ROUNDED:.*]] = arith.truncf %[[SUMS]] : tensor<?xf32> to tensor<?xbf16>
// CHECK: tensor.expand_shape %[[ROUNDED]] {{\[}}[0, 1]] {{.*}} into tensor<?x1xbf16>
// CHECK-NOT: attn.project
func.func @bias(%x: tensor<?x64xbf16>, %w: tensor<64x1xbf16>, %b: tensor<1xbf16>) -> tensor<?x1xbf16> {
  %y = attn.project %x, %w, %b : (tensor<?x64xbf16>, tensor<64x1xbf16>, tensor<1xbf16>) -> tensor<?x1xbf16>
  return %y : tensor<?x1xbf16>
}

// -----

// A transposed input is read as it lies; a weight per batch entry.
// CHECK-DAG: #[[BKI:.*]] = affine_map<(d0, d1, d2) -> (d0, d2, d1)>
// CHECK-DAG: #[[BK:.*]] = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK-DAG: #[[BI:.*]] = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK-LABEL: @transposes(
// CHECK-SAME: %[[X:.*]]: tensor<2x?x64xf32>, %[[W:.*]]: tensor<2x1x?xf32>
// CHECK: %[[V:.*]] = tensor.collapse_shape %[[W]] {{\[}}[0], [1, 2]]
// CHECK: linalg.generic {indexing_maps = [#[[BKI]], #[[BK]], #[[BI]]], iterator_types = ["parallel", "parallel", "reduction"]} ins(%[[X]], %[[V]] : {{.*}})
// CHECK-NOT: arith.truncf
func.func @transposes(%x: tensor<2x?x64xf32>, %w: tensor<2x1x?xf32>, %e: tensor<2x64x?xf32>) -> tensor<2x64x1xf32> {
  %t = linalg.transpose ins(%x : tensor<2x?x64xf32>) outs(%e : tensor<2x64x?xf32>) permutation = [0, 2, 1]
  %y = attn.project %t, %w {transposed} : (tensor<2x64x?xf32>, tensor<2x1x?xf32>) -> tensor<2x64x1xf32>
  return %y : tensor<2x64x1xf32>
}

// -----

// Two columns, or as many as a call says, are a matrix.
// CHECK-LABEL: @matrix(
// CHECK-COUNT-2: attn.project
func.func @matrix(%x: tensor<5x64xf32>, %w: tensor<64x2xf32>, %v: tensor<64x?xf32>) -> (tensor<5x2xf32>, tensor<5x?xf32>) {
  %y = attn.project %x, %w : (tensor<5x64xf32>, tensor<64x2xf32>) -> tensor<5x2xf32>
  %z = attn.project %x, %v : (tensor<5x64xf32>, tensor<64x?xf32>) -> tensor<5x?xf32>
  return %y, %z : tensor<5x2xf32>, tensor<5x?xf32>
}
