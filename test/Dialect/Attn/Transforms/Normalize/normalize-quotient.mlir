// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A quotient by a constant is a scale by the reciprocal; the other way round it is not.
// RUN: attn-opt %s --attn-normalize | FileCheck %s

// CHECK-LABEL: @by_eight(
// CHECK-NOT: arith.divf
// CHECK: attn.scale %{{.*}} by 1.250000e-01
func.func @by_eight(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %c = arith.constant dense<8.0> : tensor<2x3xf32>
  %y = arith.divf %x, %c : tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}

// CHECK-LABEL: @by_splat(
// CHECK: attn.scale %{{.*}} by 2.500000e-01
func.func @by_splat(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %s = arith.constant 4.0 : f32
  %c = tensor.splat %s : tensor<2x3xf32>
  %y = arith.divf %x, %c : tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}

// CHECK-LABEL: @of_constant(
// CHECK-NOT: attn.scale
// CHECK: arith.divf
func.func @of_constant(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %c = arith.constant dense<8.0> : tensor<2x3xf32>
  %y = arith.divf %c, %x : tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}
