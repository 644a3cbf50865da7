// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A scaled query or key with other uses stays for them; attn.sdpa reads the unscaled one.
// RUN: attn-opt %s --attn-fuse | FileCheck %s

// CHECK-LABEL: @query(
// CHECK-SAME: %[[Q:[^:]*]]: tensor
// CHECK: attn.scale %[[Q]] by 5.000000e-01
// CHECK: attn.sdpa %[[Q]], %{{.*}} scale 5.000000e-01
func.func @query(%q: tensor<2x4xf32>, %k: tensor<3x4xf32>, %v: tensor<3x5xf32>) -> (tensor<2x5xf32>, tensor<2x4xf32>) {
  %x = attn.scale %q by 0.5 : tensor<2x4xf32>
  %s = attn.scores %x, %k : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<2x3xf32>
  %w = attn.softmax %s : tensor<2x3xf32>
  %o = attn.context %w, %v : (tensor<2x3xf32>, tensor<3x5xf32>) -> tensor<2x5xf32>
  return %o, %x : tensor<2x5xf32>, tensor<2x4xf32>
}

// CHECK-LABEL: @key_is_value(
// CHECK-SAME: %[[K:[^:]*]]: tensor<3x4xf32>)
// CHECK: %[[X:.*]] = attn.scale %[[K]] by 5.000000e-01
// CHECK: attn.sdpa %{{.*}}, %[[K]], %[[X]] scale 5.000000e-01
func.func @key_is_value(%q: tensor<2x4xf32>, %k: tensor<3x4xf32>) -> tensor<2x4xf32> {
  %x = attn.scale %k by 0.5 : tensor<3x4xf32>
  %s = attn.scores %q, %x : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<2x3xf32>
  %w = attn.softmax %s : tensor<2x3xf32>
  %o = attn.context %w, %x : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  return %o : tensor<2x4xf32>
}
