// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A product with a constant is a scale, whichever side the constant is on.
// RUN: attn-opt %s --attn-normalize | FileCheck %s

// CHECK-LABEL: @right(
// CHECK-NOT: arith.mulf
// CHECK: attn.scale %{{.*}} by 1.250000e-01 : tensor<2x3xf32>
func.func @right(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %c = arith.constant dense<0.125> : tensor<2x3xf32>
  %y = arith.mulf %x, %c : tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}

// CHECK-LABEL: @left(
// CHECK-NOT: arith.mulf
// CHECK: attn.scale %{{.*}} by 1.250000e-01 : tensor<2x3xf32>
func.func @left(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %c = arith.constant dense<0.125> : tensor<2x3xf32>
  %y = arith.mulf %c, %x : tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}

// CHECK-LABEL: @negative(
// CHECK: attn.scale %{{.*}} by -2.000000e+00
func.func @negative(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %c = arith.constant dense<-2.0> : tensor<2x3xf32>
  %y = arith.mulf %x, %c : tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}

// CHECK-LABEL: @half(
// CHECK: attn.scale %{{.*}} by 5.000000e-01 : tensor<4xf16>
func.func @half(%x: tensor<4xf16>) -> tensor<4xf16> {
  %c = arith.constant dense<0.5> : tensor<4xf16>
  %y = arith.mulf %x, %c : tensor<4xf16>
  return %y : tensor<4xf16>
}

// CHECK-LABEL: @bfloat(
// CHECK: attn.scale %{{.*}} by 5.000000e-01 : tensor<4xbf16>
func.func @bfloat(%x: tensor<4xbf16>) -> tensor<4xbf16> {
  %c = arith.constant dense<0.5> : tensor<4xbf16>
  %y = arith.mulf %x, %c : tensor<4xbf16>
  return %y : tensor<4xbf16>
}

// CHECK-LABEL: @double(
// CHECK: attn.scale %{{.*}} by 1.000000e-01 : tensor<4xf64>
func.func @double(%x: tensor<4xf64>) -> tensor<4xf64> {
  %c = arith.constant dense<0.1> : tensor<4xf64>
  %y = arith.mulf %x, %c : tensor<4xf64>
  return %y : tensor<4xf64>
}
