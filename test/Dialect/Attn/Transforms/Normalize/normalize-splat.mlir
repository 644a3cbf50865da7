// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tensor.splat of a constant, also with unknown sizes; a splat of a run-time value is no scale.
// RUN: attn-opt %s --attn-normalize | FileCheck %s

// CHECK-LABEL: @static(
// CHECK: attn.scale %{{.*}} by 5.000000e-01 : tensor<2x3xf32>
func.func @static(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %s = arith.constant 0.5 : f32
  %c = tensor.splat %s : tensor<2x3xf32>
  %y = arith.mulf %x, %c : tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}

// CHECK-LABEL: @dynamic(
// CHECK: attn.scale %{{.*}} by 5.000000e-01 : tensor<?x?xf32>
func.func @dynamic(%x: tensor<?x?xf32>, %n: index, %m: index) -> tensor<?x?xf32> {
  %s = arith.constant 0.5 : f32
  %c = tensor.splat %s[%n, %m] : tensor<?x?xf32>
  %y = arith.mulf %x, %c : tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}

// CHECK-LABEL: @run_time(
// CHECK-NOT: attn.scale
// CHECK: arith.mulf
func.func @run_time(%x: tensor<2x3xf32>, %s: f32) -> tensor<2x3xf32> {
  %c = tensor.splat %s : tensor<2x3xf32>
  %y = arith.mulf %x, %c : tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}
