// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Masks of masks become one mask whose terms keep their own operands.
// RUN: attn-opt %s --attn-normalize | FileCheck %s

// CHECK-LABEL: @two(
// CHECK: attn.mask %{{.*}} where causal(top_left) and %{{.*}} : tensor<3xi1>
// CHECK-NOT: attn.mask
// CHECK: return
func.func @two(%s: tensor<2x3xf32>, %m: tensor<3xi1>) -> tensor<2x3xf32> {
  %a = attn.mask %s where causal(top_left) : tensor<2x3xf32>
  %c = attn.mask %a where %m : tensor<3xi1> : tensor<2x3xf32>
  return %c : tensor<2x3xf32>
}

// CHECK-LABEL: @operands(
// CHECK-SAME: %[[S:.*]]: tensor<2x3xf32>, %[[M:.*]]: tensor<3xi1>, %[[N:.*]]: tensor<2x1xi1>)
// CHECK: attn.mask %[[S]] where %[[M]] : tensor<3xi1> and %[[N]] : tensor<2x1xi1>
func.func @operands(%s: tensor<2x3xf32>, %m: tensor<3xi1>, %n: tensor<2x1xi1>) -> tensor<2x3xf32> {
  %a = attn.mask %s where %m : tensor<3xi1> : tensor<2x3xf32>
  %c = attn.mask %a where %n : tensor<2x1xi1> : tensor<2x3xf32>
  return %c : tensor<2x3xf32>
}

// CHECK-LABEL: @second_user(
// CHECK: %[[A:.*]] = attn.mask %{{.*}} where causal(top_left)
// CHECK: attn.mask %[[A]] where %{{.*}} : tensor<3xi1>
func.func @second_user(%s: tensor<2x3xf32>, %m: tensor<3xi1>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
  %a = attn.mask %s where causal(top_left) : tensor<2x3xf32>
  %c = attn.mask %a where %m : tensor<3xi1> : tensor<2x3xf32>
  return %a, %c : tensor<2x3xf32>, tensor<2x3xf32>
}
