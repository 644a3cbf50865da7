// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An item sees its head's matrix of a bias; sizes of 1 are read at 0.
// RUN: attn-opt %s --attn-tile-queries --canonicalize --cse | FileCheck %s
#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>

// CHECK-LABEL: @full
// CHECK: scf.forall (%[[N:.*]], %[[H:.*]], %{{.*}}) in
// CHECK: %[[B:.*]] = tensor.extract_slice %arg2[%[[N]], %[[H]], 0, 0] [1, 1, {{.*}}] [1, 1, 1, 1] : tensor<?x8x?x?xf32> to tensor<?x?xf32>
// CHECK: attn.online {{.*}} bias %[[B]] : tensor<?x?xf32> mode full
func.func @full(%q: tensor<?x8x?x4xf32>, %k: tensor<?x8x?x4xf32>, %b: tensor<?x8x?x?xf32>) -> tensor<?x8x?x4xf32> {
  %o = attn.sdpa %q, %k, %k bias %b : tensor<?x8x?x?xf32> scale 0.5 {schedule = #s} : (tensor<?x8x?x4xf32>, tensor<?x8x?x4xf32>, tensor<?x8x?x4xf32>) -> tensor<?x8x?x4xf32>
  return %o : tensor<?x8x?x4xf32>
}

// CHECK-LABEL: @per_head
// CHECK: scf.forall (%{{.*}}, %[[H:.*]], %{{.*}}) in
// CHECK: tensor.extract_slice %arg2[%[[H]], 0, 0] [1, 1, {{.*}}] [1, 1, 1] : tensor<8x1x?xf32> to tensor<1x?xf32>
func.func @per_head(%q: tensor<?x8x?x4xf32>, %k: tensor<?x8x?x4xf32>, %b: tensor<8x1x?xf32>) -> tensor<?x8x?x4xf32> {
  %o = attn.sdpa %q, %k, %k bias %b : tensor<8x1x?xf32> scale 0.5 {schedule = #s} : (tensor<?x8x?x4xf32>, tensor<?x8x?x4xf32>, tensor<?x8x?x4xf32>) -> tensor<?x8x?x4xf32>
  return %o : tensor<?x8x?x4xf32>
}

// CHECK-LABEL: @per_batch
// CHECK: scf.forall (%[[N:.*]], %{{.*}}, %{{.*}}) in
// CHECK: tensor.extract_slice %arg2[%[[N]], 0, 0, 0] [1, 1, %{{.*}}, 1] [1, 1, 1, 1] : tensor<?x1x?x1xf32> to tensor<?x1xf32>
func.func @per_batch(%q: tensor<?x8x?x4xf32>, %k: tensor<?x8x?x4xf32>, %b: tensor<?x1x?x1xf32>) -> tensor<?x8x?x4xf32> {
  %o = attn.sdpa %q, %k, %k bias %b : tensor<?x1x?x1xf32> scale 0.5 {schedule = #s} : (tensor<?x8x?x4xf32>, tensor<?x8x?x4xf32>, tensor<?x8x?x4xf32>) -> tensor<?x8x?x4xf32>
  return %o : tensor<?x8x?x4xf32>
}

// A row of keys gets the dimension that is missing.
// CHECK-LABEL: @row
// CHECK: tensor.expand_shape %arg2 {{.*}} : tensor<?xf32> into tensor<1x?xf32>
func.func @row(%q: tensor<?x8x?x4xf32>, %k: tensor<?x8x?x4xf32>, %b: tensor<?xf32>) -> tensor<?x8x?x4xf32> {
  %o = attn.sdpa %q, %k, %k bias %b : tensor<?xf32> scale 0.5 {schedule = #s} : (tensor<?x8x?x4xf32>, tensor<?x8x?x4xf32>, tensor<?x8x?x4xf32>) -> tensor<?x8x?x4xf32>
  return %o : tensor<?x8x?x4xf32>
}

// CHECK-LABEL: @number
// CHECK: tensor.expand_shape %arg2 {{.*}} : tensor<f32> into tensor<1x1xf32>
func.func @number(%q: tensor<?x4xf32>, %k: tensor<?x4xf32>, %b: tensor<f32>) -> tensor<?x4xf32> {
  %o = attn.sdpa %q, %k, %k bias %b : tensor<f32> scale 0.5 {schedule = #s} : (tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  return %o : tensor<?x4xf32>
}
