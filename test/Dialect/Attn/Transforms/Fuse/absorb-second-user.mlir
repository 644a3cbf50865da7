// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Heads with another user: attn.sdpa reads the joined tensor, the other user a copy.
// RUN: attn-opt %s --attn-absorb-heads | FileCheck %s

// CHECK-LABEL: @split(
// CHECK: %[[T:.*]] = linalg.transpose
// CHECK: %[[O:.*]] = attn.sdpa {{.*}}query_layout = {{[^,]*}}bshd>
// CHECK: return %[[O]], %[[T]]
func.func @split(%x: tensor<2x5x64xf32>) -> (tensor<2x4x5x16xf32>, tensor<2x4x5x16xf32>) {
  %q = attn.split_heads %x into 4 : tensor<2x5x64xf32> -> tensor<2x4x5x16xf32>
  %o = attn.sdpa %q, %q, %q scale 1.0 : (tensor<2x4x5x16xf32>, tensor<2x4x5x16xf32>, tensor<2x4x5x16xf32>) -> tensor<2x4x5x16xf32>
  return %o, %q : tensor<2x4x5x16xf32>, tensor<2x4x5x16xf32>
}

// CHECK-LABEL: @merge(
// CHECK: %[[O:.*]] = attn.sdpa
// CHECK-NOT: out_layout
// CHECK: linalg.transpose ins(%[[O]]
// CHECK: tensor.collapse_shape
func.func @merge(%q: tensor<2x4x5x16xf32>) -> (tensor<2x4x5x16xf32>, tensor<2x5x64xf32>) {
  %o = attn.sdpa %q, %q, %q scale 1.0 : (tensor<2x4x5x16xf32>, tensor<2x4x5x16xf32>, tensor<2x4x5x16xf32>) -> tensor<2x4x5x16xf32>
  %y = attn.merge_heads %o : tensor<2x4x5x16xf32> -> tensor<2x5x64xf32>
  return %o, %y : tensor<2x4x5x16xf32>, tensor<2x5x64xf32>
}
