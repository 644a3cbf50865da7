// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Unknown batch and sequence; sizes that only one side of a split or merge knows.
// RUN: attn-opt %s --attn-absorb-heads | FileCheck %s

// CHECK-LABEL: @whole(
// CHECK: tensor.dim
// CHECK: tensor.expand_shape %{{.*}} output_shape [%{{.*}}, %{{.*}}, 4, 16] : tensor<?x?x64xf32> into tensor<?x?x4x16xf32>
// CHECK: attn.sdpa
// CHECK: tensor.collapse_shape %{{.*}} : tensor<?x?x4x16xf32> into tensor<?x?x64xf32>
// CHECK-NOT: linalg.transpose
func.func @whole(%x: tensor<?x?x64xf32>) -> tensor<?x?x64xf32> {
  %q = attn.split_heads %x into 4 : tensor<?x?x64xf32> -> tensor<?x4x?x16xf32>
  %o = attn.sdpa %q, %q, %q scale 1.0 : (tensor<?x4x?x16xf32>, tensor<?x4x?x16xf32>, tensor<?x4x?x16xf32>) -> tensor<?x4x?x16xf32>
  %y = attn.merge_heads %o : tensor<?x4x?x16xf32> -> tensor<?x?x64xf32>
  return %y : tensor<?x?x64xf32>
}

// CHECK-LABEL: @unknown_model_size(
// CHECK: %[[C:.*]] = tensor.cast %{{.*}} : tensor<?x?x?xf32> to tensor<?x?x64xf32>
// CHECK: tensor.expand_shape %[[C]]
func.func @unknown_model_size(%x: tensor<?x?x?xf32>, %k: tensor<?x4x?x16xf32>) -> tensor<?x4x?x16xf32> {
  %q = attn.split_heads %x into 4 : tensor<?x?x?xf32> -> tensor<?x4x?x16xf32>
  %o = attn.sdpa %q, %k, %k scale 1.0 : (tensor<?x4x?x16xf32>, tensor<?x4x?x16xf32>, tensor<?x4x?x16xf32>) -> tensor<?x4x?x16xf32>
  return %o : tensor<?x4x?x16xf32>
}

// CHECK-LABEL: @known_before(
// CHECK: tensor.expand_shape %{{.*}} : tensor<2x5x64xf32> into tensor<2x5x4x16xf32>
// CHECK: attn.sdpa {{.*}} : (tensor<2x5x4x16xf32>, tensor<?x4x?x16xf32>
func.func @known_before(%x: tensor<2x5x64xf32>, %k: tensor<?x4x?x16xf32>) -> tensor<?x4x?x16xf32> {
  %q = attn.split_heads %x into 4 : tensor<2x5x64xf32> -> tensor<?x4x?x16xf32>
  %o = attn.sdpa %q, %k, %k scale 1.0 : (tensor<?x4x?x16xf32>, tensor<?x4x?x16xf32>, tensor<?x4x?x16xf32>) -> tensor<?x4x?x16xf32>
  return %o : tensor<?x4x?x16xf32>
}

// CHECK-LABEL: @known_after(
// CHECK: tensor.cast %{{.*}} : tensor<?x?x64xf32> to tensor<2x5x64xf32>
// CHECK: tensor.expand_shape
func.func @known_after(%x: tensor<?x?x64xf32>, %k: tensor<?x4x?x16xf32>) -> tensor<2x4x5x16xf32> {
  %q = attn.split_heads %x into 4 : tensor<?x?x64xf32> -> tensor<2x4x5x16xf32>
  %o = attn.sdpa %q, %k, %k scale 1.0 : (tensor<2x4x5x16xf32>, tensor<?x4x?x16xf32>, tensor<?x4x?x16xf32>) -> tensor<2x4x5x16xf32>
  return %o : tensor<2x4x5x16xf32>
}

// CHECK-LABEL: @merge_forgets(
// CHECK: %[[C:.*]] = tensor.collapse_shape
// CHECK: tensor.cast %[[C]] : tensor<2x5x64xf32> to tensor<?x?x?xf32>
func.func @merge_forgets(%q: tensor<2x4x5x16xf32>) -> tensor<?x?x?xf32> {
  %o = attn.sdpa %q, %q, %q scale 1.0 : (tensor<2x4x5x16xf32>, tensor<2x4x5x16xf32>, tensor<2x4x5x16xf32>) -> tensor<2x4x5x16xf32>
  %y = attn.merge_heads %o : tensor<2x4x5x16xf32> -> tensor<?x?x?xf32>
  return %y : tensor<?x?x?xf32>
}
