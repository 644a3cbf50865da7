// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Raw scores of a scaled query: the query keeps its scale, so that the scores are what was read.
// RUN: attn-opt %s --attn-fuse | FileCheck %s

// CHECK-LABEL: @query(
// CHECK: %[[X:.*]] = attn.scale %{{.*}} by 5.000000e-01
// CHECK: attn.sdpa %[[X]], %{{.*}} scale 2.500000e-01 returning(out, scores) {{.*}}raw>
func.func @query(%q: tensor<2x4xf32>, %k: tensor<3x4xf32>, %v: tensor<3x5xf32>) -> (tensor<2x5xf32>, tensor<2x3xf32>) {
  %x = attn.scale %q by 0.5 : tensor<2x4xf32>
  %s = attn.scores %x, %k : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<2x3xf32>
  %t = attn.scale %s by 0.25 : tensor<2x3xf32>
  %w = attn.softmax %t : tensor<2x3xf32>
  %o = attn.context %w, %v : (tensor<2x3xf32>, tensor<3x5xf32>) -> tensor<2x5xf32>
  return %o, %s : tensor<2x5xf32>, tensor<2x3xf32>
}

// CHECK-LABEL: @key(
// CHECK: %[[X:.*]] = attn.scale %{{.*}} by 5.000000e-01
// CHECK: attn.sdpa %{{.*}}, %[[X]], %{{.*}} scale 2.500000e-01 returning(out, scores) {{.*}}raw>
func.func @key(%q: tensor<2x4xf32>, %k: tensor<3x4xf32>, %v: tensor<3x5xf32>) -> (tensor<2x5xf32>, tensor<2x3xf32>) {
  %x = attn.scale %k by 0.5 : tensor<3x4xf32>
  %s = attn.scores %q, %x : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<2x3xf32>
  %t = attn.scale %s by 0.25 : tensor<2x3xf32>
  %w = attn.softmax %t : tensor<2x3xf32>
  %o = attn.context %w, %v : (tensor<2x3xf32>, tensor<3x5xf32>) -> tensor<2x5xf32>
  return %o, %s : tensor<2x5xf32>, tensor<2x3xf32>
}
