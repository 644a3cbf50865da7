// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: attn-opt %s --attn-raise-heads --canonicalize --split-input-file | FileCheck %s

// CHECK-LABEL: @layer
// CHECK: %[[Q:.*]] = attn.split_heads %arg0 into 4 : tensor<?x?x64xf32> -> tensor<?x4x?x16xf32>
// CHECK: %[[O:.*]] = attn.sdpa %[[Q]], %arg1
// CHECK: %[[M:.*]] = attn.merge_heads %[[O]] : tensor<?x4x?x16xf32> -> tensor<?x?x64xf32>
// CHECK-NEXT: return %[[M]]
func.func @layer(%x: tensor<?x?x64xf32>, %k: tensor<?x4x?x16xf32>, %v: tensor<?x4x?x16xf32>, %b: index, %s: index) -> tensor<?x?x64xf32> {
  %split = tensor.expand_shape %x [[0], [1], [2, 3]] output_shape [%b, %s, 4, 16] : tensor<?x?x64xf32> into tensor<?x?x4x16xf32>
  %e = tensor.empty(%b, %s) : tensor<?x4x?x16xf32>
  %q = linalg.transpose ins(%split : tensor<?x?x4x16xf32>) outs(%e : tensor<?x4x?x16xf32>) permutation = [0, 2, 1, 3]
  %out = attn.sdpa %q, %k, %v scale 0.25 : (tensor<?x4x?x16xf32>, tensor<?x4x?x16xf32>, tensor<?x4x?x16xf32>) -> tensor<?x4x?x16xf32>
  %f = tensor.empty(%b, %s) : tensor<?x?x4x16xf32>
  %back = linalg.transpose ins(%out : tensor<?x4x?x16xf32>) outs(%f : tensor<?x?x4x16xf32>) permutation = [0, 2, 1, 3]
  %merged = tensor.collapse_shape %back [[0], [1], [2, 3]] : tensor<?x?x4x16xf32> into tensor<?x?x64xf32>
  return %merged : tensor<?x?x64xf32>
}

// -----

// Another reader needs the transposed tensor, and another order is none of heads.
// CHECK-LABEL: @others
// CHECK-COUNT-2: linalg.transpose
// CHECK-NOT: attn.split_heads
func.func @others(%x: tensor<5x4x16xf32>, %y: tensor<5x4x16xf32>, %v: tensor<4x5x16xf32>) -> (tensor<4x5x16xf32>, tensor<4x5x16xf32>) {
  %e = tensor.empty() : tensor<4x5x16xf32>
  %q = linalg.transpose ins(%x : tensor<5x4x16xf32>) outs(%e : tensor<4x5x16xf32>) permutation = [1, 0, 2]
  %f = tensor.empty() : tensor<4x16x5xf32>
  %k = linalg.transpose ins(%y : tensor<5x4x16xf32>) outs(%f : tensor<4x16x5xf32>) permutation = [1, 2, 0]
  %kk = tensor.collapse_shape %k [[0], [1, 2]] : tensor<4x16x5xf32> into tensor<4x80xf32>
  %kkk = tensor.expand_shape %kk [[0], [1, 2]] output_shape [4, 5, 16] : tensor<4x80xf32> into tensor<4x5x16xf32>
  %out = attn.sdpa %q, %kkk, %v scale 0.25 : (tensor<4x5x16xf32>, tensor<4x5x16xf32>, tensor<4x5x16xf32>) -> tensor<4x5x16xf32>
  return %out, %q : tensor<4x5x16xf32>, tensor<4x5x16xf32>
}
