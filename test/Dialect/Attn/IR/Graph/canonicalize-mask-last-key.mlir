// RUN: attn-opt %s -canonicalize | FileCheck %s
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A mask that counts from the last key keeps its meaning.
// CHECK-LABEL: @different_last_keys
// CHECK: attn.mask {{.*}} where key_length
// CHECK: attn.mask {{.*}} where causal(bottom_right)
func.func @different_last_keys(%scores: tensor<2x1x4x5xf32>, %n: tensor<2xi32>) -> tensor<2x1x4x5xf32> {
  %0 = attn.mask %scores where key_length(%n : tensor<2xi32>) : tensor<2x1x4x5xf32>
  %1 = attn.mask %0 where causal(bottom_right) : tensor<2x1x4x5xf32>
  return %1 : tensor<2x1x4x5xf32>
}

// So does a mask whose positions count within its own documents.
// CHECK-LABEL: @different_documents
// CHECK: attn.mask {{.*}} where document(cumulative %{{.*}} : tensor<3xi32>) and causal(bottom_right in document)
// CHECK: attn.mask {{.*}} where document
func.func @different_documents(%scores: tensor<2x1x4x4xf32>, %d: tensor<3xi32>, %ids: tensor<4xi32>) -> tensor<2x1x4x4xf32> {
  %0 = attn.mask %scores where document(cumulative %d : tensor<3xi32>) and causal(bottom_right in document) : tensor<2x1x4x4xf32>
  %1 = attn.mask %0 where document(%ids : tensor<4xi32>) : tensor<2x1x4x4xf32>
  return %1 : tensor<2x1x4x4xf32>
}
