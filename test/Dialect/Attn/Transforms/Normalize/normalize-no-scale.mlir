// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What looks like a scale and is none.
// RUN: attn-opt %s --attn-normalize | FileCheck %s

// CHECK-LABEL: @per_element(
// CHECK-NOT: attn.scale
// CHECK: arith.mulf
func.func @per_element(%x: tensor<2xf32>) -> tensor<2xf32> {
  %c = arith.constant dense<[0.5, 0.25]> : tensor<2xf32>
  %y = arith.mulf %x, %c : tensor<2xf32>
  return %y : tensor<2xf32>
}

// CHECK-LABEL: @vector(
// CHECK-NOT: attn.scale
// CHECK: arith.mulf
func.func @vector(%x: vector<2xf32>) -> vector<2xf32> {
  %c = arith.constant dense<0.5> : vector<2xf32>
  %y = arith.mulf %x, %c : vector<2xf32>
  return %y : vector<2xf32>
}

// CHECK-LABEL: @scalar(
// CHECK-NOT: attn.scale
// CHECK: arith.mulf
func.func @scalar(%x: f32) -> f32 {
  %c = arith.constant 0.5 : f32
  %y = arith.mulf %x, %c : f32
  return %y : f32
}

// CHECK-LABEL: @sum(
// CHECK-NOT: attn.scale
// CHECK: arith.addf
func.func @sum(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %c = arith.constant dense<0.5> : tensor<2x3xf32>
  %y = arith.addf %x, %c : tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}

// CHECK-LABEL: @two_tensors(
// CHECK-NOT: attn.scale
// CHECK: arith.mulf
func.func @two_tensors(%x: tensor<2xf32>, %y: tensor<2xf32>) -> tensor<2xf32> {
  %z = arith.mulf %x, %y : tensor<2xf32>
  return %z : tensor<2xf32>
}
