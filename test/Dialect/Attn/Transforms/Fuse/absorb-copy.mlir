// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A split or merge that no attn.sdpa absorbs is a view and a transposing copy.
// RUN: attn-opt %s --attn-absorb-heads | FileCheck %s

// CHECK-LABEL: @split(
// CHECK: %[[V:.*]] = tensor.expand_shape %{{.*}} into tensor<2x5x4x16xf32>
// CHECK: %[[E:.*]] = tensor.empty() : tensor<2x4x5x16xf32>
// CHECK: %[[T:.*]] = linalg.transpose ins(%[[V]] : tensor<2x5x4x16xf32>) outs(%[[E]] : tensor<2x4x5x16xf32>) permutation = [0, 2, 1, 3]
// CHECK: return %[[T]]
func.func @split(%x: tensor<2x5x64xf32>) -> tensor<2x4x5x16xf32> {
  %q = attn.split_heads %x into 4 : tensor<2x5x64xf32> -> tensor<2x4x5x16xf32>
  return %q : tensor<2x4x5x16xf32>
}

// CHECK-LABEL: @merge(
// CHECK: %[[T:.*]] = linalg.transpose ins(%{{.*}} : tensor<2x4x5x16xf32>) outs(%{{.*}} : tensor<2x5x4x16xf32>) permutation = [0, 2, 1, 3]
// CHECK: %[[C:.*]] = tensor.collapse_shape %[[T]] {{\[}}[0], [1], [2, 3]]
// CHECK: return %[[C]]
func.func @merge(%o: tensor<2x4x5x16xf32>) -> tensor<2x5x64xf32> {
  %y = attn.merge_heads %o : tensor<2x4x5x16xf32> -> tensor<2x5x64xf32>
  return %y : tensor<2x5x64xf32>
}

// CHECK-LABEL: @dynamic(
// CHECK: tensor.empty(%{{.*}}, %{{.*}}) : tensor<?x4x?x16xf32>
// CHECK: linalg.transpose
func.func @dynamic(%x: tensor<?x?x64xf32>) -> tensor<?x4x?x16xf32> {
  %q = attn.split_heads %x into 4 : tensor<?x?x64xf32> -> tensor<?x4x?x16xf32>
  return %q : tensor<?x4x?x16xf32>
}

// CHECK-LABEL: @dynamic_merge(
// CHECK: tensor.empty(%{{.*}}, %{{.*}}) : tensor<?x?x4x16xf32>
// CHECK: linalg.transpose
// CHECK: tensor.collapse_shape
func.func @dynamic_merge(%o: tensor<?x4x?x16xf32>) -> tensor<?x?x64xf32> {
  %y = attn.merge_heads %o : tensor<?x4x?x16xf32> -> tensor<?x?x64xf32>
  return %y : tensor<?x?x64xf32>
}

// CHECK-LABEL: @rank3(
// CHECK: linalg.transpose {{.*}} permutation = [1, 0, 2]
func.func @rank3(%x: tensor<5x64xf32>) -> tensor<4x5x16xf32> {
  %q = attn.split_heads %x into 4 : tensor<5x64xf32> -> tensor<4x5x16xf32>
  return %q : tensor<4x5x16xf32>
}

// CHECK-LABEL: @forgotten_sizes(
// CHECK: linalg.transpose
// CHECK: tensor.cast %{{.*}} : tensor<2x4x5x16xf32> to tensor<?x4x?x16xf32>
func.func @forgotten_sizes(%x: tensor<2x5x64xf32>) -> tensor<?x4x?x16xf32> {
  %q = attn.split_heads %x into 4 : tensor<2x5x64xf32> -> tensor<?x4x?x16xf32>
  return %q : tensor<?x4x?x16xf32>
}
