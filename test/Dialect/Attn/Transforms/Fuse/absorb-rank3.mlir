// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Without a batch: (S, H*D) is (S, H, D).
// RUN: attn-opt %s --attn-absorb-heads | FileCheck %s

// CHECK-LABEL: @split(
// CHECK: tensor.expand_shape %{{.*}} {{\[}}[0], [1, 2]] output_shape [5, 4, 16]
// CHECK: attn.sdpa {{.*}}query_layout = {{[^,]*}}bshd>}
func.func @split(%x: tensor<5x64xf32>, %k: tensor<4x6x16xf32>) -> tensor<4x5x16xf32> {
  %q = attn.split_heads %x into 4 : tensor<5x64xf32> -> tensor<4x5x16xf32>
  %o = attn.sdpa %q, %k, %k scale 1.0 : (tensor<4x5x16xf32>, tensor<4x6x16xf32>, tensor<4x6x16xf32>) -> tensor<4x5x16xf32>
  return %o : tensor<4x5x16xf32>
}

// CHECK-LABEL: @merge(
// CHECK: %[[O:.*]] = attn.sdpa {{.*}}out_layout = {{[^,]*}}bshd>} {{.*}} -> tensor<5x4x16xf32>
// CHECK: tensor.collapse_shape %[[O]] {{\[}}[0], [1, 2]] : tensor<5x4x16xf32> into tensor<5x64xf32>
func.func @merge(%q: tensor<4x5x16xf32>) -> tensor<5x64xf32> {
  %o = attn.sdpa %q, %q, %q scale 1.0 : (tensor<4x5x16xf32>, tensor<4x5x16xf32>, tensor<4x5x16xf32>) -> tensor<4x5x16xf32>
  %y = attn.merge_heads %o : tensor<4x5x16xf32> -> tensor<5x64xf32>
  return %y : tensor<5x64xf32>
}
