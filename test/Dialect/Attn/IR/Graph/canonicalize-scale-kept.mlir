// RUN: attn-opt %s -canonicalize | FileCheck %s
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Scales that stay two: the first has another use, or the product leaves the range of an f64.
// CHECK-LABEL: func @second_use
// CHECK: attn.scale %{{.*}} by 5.000000e-01
// CHECK: attn.scale %{{.*}} by 3.000000e+00
func.func @second_use(%s: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
  %a = attn.scale %s by 0.5 : tensor<2x3xf32>
  %b = attn.scale %a by 3.0 : tensor<2x3xf32>
  return %a, %b : tensor<2x3xf32>, tensor<2x3xf32>
}

// CHECK-LABEL: func @overflow
// CHECK-COUNT-2: attn.scale
func.func @overflow(%s: tensor<2x3xf64>) -> tensor<2x3xf64> {
  %a = attn.scale %s by 1.0e200 : tensor<2x3xf64>
  %b = attn.scale %a by 1.0e200 : tensor<2x3xf64>
  return %b : tensor<2x3xf64>
}

// CHECK-LABEL: func @underflow
// CHECK-COUNT-2: attn.scale
func.func @underflow(%s: tensor<2x3xf64>) -> tensor<2x3xf64> {
  %a = attn.scale %s by 1.0e-200 : tensor<2x3xf64>
  %b = attn.scale %a by 1.0e-200 : tensor<2x3xf64>
  return %b : tensor<2x3xf64>
}
