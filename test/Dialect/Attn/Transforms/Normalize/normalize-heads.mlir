// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A scale of the joined tensor moves below split_heads, to where attn-fuse looks.
// RUN: attn-opt %s --attn-normalize | FileCheck %s

// CHECK-LABEL: @scale(
// CHECK: %[[H:.*]] = attn.split_heads %{{.*}} into 4
// CHECK: %[[S:.*]] = attn.scale %[[H]] by 2.500000e-01 : tensor<4x?x16xf32>
// CHECK: return %[[S]]
func.func @scale(%x: tensor<?x64xf32>) -> tensor<4x?x16xf32> {
  %a = attn.scale %x by 0.25 : tensor<?x64xf32>
  %h = attn.split_heads %a into 4 : tensor<?x64xf32> -> tensor<4x?x16xf32>
  return %h : tensor<4x?x16xf32>
}

// CHECK-LABEL: @second_user(
// CHECK: %[[A:.*]] = attn.scale %[[X:.*]] by 2.500000e-01 : tensor<?x64xf32>
// CHECK: %[[H:.*]] = attn.split_heads %[[X]] into 4
// CHECK: %[[S:.*]] = attn.scale %[[H]] by 2.500000e-01
// CHECK: return %[[A]], %[[S]]
func.func @second_user(%x: tensor<?x64xf32>) -> (tensor<?x64xf32>, tensor<4x?x16xf32>) {
  %a = attn.scale %x by 0.25 : tensor<?x64xf32>
  %h = attn.split_heads %a into 4 : tensor<?x64xf32> -> tensor<4x?x16xf32>
  return %a, %h : tensor<?x64xf32>, tensor<4x?x16xf32>
}
