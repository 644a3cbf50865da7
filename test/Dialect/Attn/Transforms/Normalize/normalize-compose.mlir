// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Scales of scales become one, a scale by 1 becomes none; a second user keeps what it reads.
// RUN: attn-opt %s --attn-normalize | FileCheck %s

// CHECK-LABEL: @twice(
// CHECK: attn.scale %{{.*}} by 1.250000e-01
// CHECK-NOT: attn.scale
// CHECK: return
func.func @twice(%s: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %a = attn.scale %s by 0.5 : tensor<2x3xf32>
  %b = attn.scale %a by 0.25 : tensor<2x3xf32>
  return %b : tensor<2x3xf32>
}

// CHECK-LABEL: @by_one(
// CHECK-SAME: %[[S:.*]]: tensor
// CHECK-NEXT: return %[[S]]
func.func @by_one(%s: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %a = attn.scale %s by 1.0 : tensor<2x3xf32>
  return %a : tensor<2x3xf32>
}

// CHECK-LABEL: @second_user(
// CHECK: %[[A:.*]] = attn.scale %{{.*}} by 5.000000e-01
// CHECK: %[[B:.*]] = attn.scale %[[A]] by 2.500000e-01
// CHECK: return %[[A]], %[[B]]
func.func @second_user(%s: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
  %a = attn.scale %s by 0.5 : tensor<2x3xf32>
  %b = attn.scale %a by 0.25 : tensor<2x3xf32>
  return %a, %b : tensor<2x3xf32>, tensor<2x3xf32>
}

// CHECK-LABEL: @product_and_quotient(
// CHECK: attn.scale %{{.*}} by 2.500000e-01
// CHECK-NOT: attn.scale
// CHECK: return
func.func @product_and_quotient(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %c = arith.constant dense<2.0> : tensor<2x3xf32>
  %d = arith.constant dense<8.0> : tensor<2x3xf32>
  %a = arith.mulf %x, %c : tensor<2x3xf32>
  %b = arith.divf %a, %d : tensor<2x3xf32>
  return %b : tensor<2x3xf32>
}
