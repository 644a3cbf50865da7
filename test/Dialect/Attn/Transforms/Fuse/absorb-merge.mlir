// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A context that is only merged is written with the sequence first.
// RUN: attn-opt %s --attn-absorb-heads | FileCheck %s

// CHECK-LABEL: @once(
// CHECK-NOT: attn.merge_heads
// CHECK: %[[O:.*]] = attn.sdpa {{.*}}out_layout = {{[^,]*}}bshd>} : {{.*}} -> tensor<2x5x4x16xf32>
// CHECK: tensor.collapse_shape %[[O]] {{\[}}[0], [1], [2, 3]] : tensor<2x5x4x16xf32> into tensor<2x5x64xf32>
func.func @once(%q: tensor<2x4x5x16xf32>) -> tensor<2x5x64xf32> {
  %o = attn.sdpa %q, %q, %q scale 1.0 : (tensor<2x4x5x16xf32>, tensor<2x4x5x16xf32>, tensor<2x4x5x16xf32>) -> tensor<2x4x5x16xf32>
  %y = attn.merge_heads %o : tensor<2x4x5x16xf32> -> tensor<2x5x64xf32>
  return %y : tensor<2x5x64xf32>
}

// CHECK-LABEL: @twice(
// CHECK-NOT: linalg.transpose
// CHECK-COUNT-2: tensor.collapse_shape
func.func @twice(%q: tensor<2x4x5x16xf32>) -> (tensor<2x5x64xf32>, tensor<2x5x64xf32>) {
  %o = attn.sdpa %q, %q, %q scale 1.0 : (tensor<2x4x5x16xf32>, tensor<2x4x5x16xf32>, tensor<2x4x5x16xf32>) -> tensor<2x4x5x16xf32>
  %y = attn.merge_heads %o : tensor<2x4x5x16xf32> -> tensor<2x5x64xf32>
  %z = attn.merge_heads %o : tensor<2x4x5x16xf32> -> tensor<2x5x64xf32>
  return %y, %z : tensor<2x5x64xf32>, tensor<2x5x64xf32>
}

// CHECK-LABEL: @with_statistics(
// CHECK: returning(out, lse) {out_layout = {{[^,]*}}bshd>} : {{.*}} -> (tensor<2x5x4x16xf32>, tensor<2x4x5xf32>)
func.func @with_statistics(%q: tensor<2x4x5x16xf32>) -> (tensor<2x5x64xf32>, tensor<2x4x5xf32>) {
  %o, %l = attn.sdpa %q, %q, %q scale 1.0 returning(out, lse) : (tensor<2x4x5x16xf32>, tensor<2x4x5x16xf32>, tensor<2x4x5x16xf32>) -> (tensor<2x4x5x16xf32>, tensor<2x4x5xf32>)
  %y = attn.merge_heads %o : tensor<2x4x5x16xf32> -> tensor<2x5x64xf32>
  return %y, %l : tensor<2x5x64xf32>, tensor<2x4x5xf32>
}
