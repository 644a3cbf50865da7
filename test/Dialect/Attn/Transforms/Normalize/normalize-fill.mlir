// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// linalg.fill with a constant.
// RUN: attn-opt %s --attn-normalize | FileCheck %s

// CHECK-LABEL: @constant(
// CHECK: attn.scale %{{.*}} by 2.500000e-01 : tensor<?x3xf32>
func.func @constant(%x: tensor<?x3xf32>, %e: tensor<?x3xf32>, %r: f32) -> tensor<?x3xf32> {
  %s = arith.constant 4.0 : f32
  %c = linalg.fill ins(%s : f32) outs(%e : tensor<?x3xf32>) -> tensor<?x3xf32>
  %y = arith.divf %x, %c : tensor<?x3xf32>
  return %y : tensor<?x3xf32>
}

// CHECK-LABEL: @run_time(
// CHECK-NOT: attn.scale
// CHECK: arith.divf
func.func @run_time(%x: tensor<?x3xf32>, %e: tensor<?x3xf32>, %r: f32) -> tensor<?x3xf32> {
  %s = arith.constant 4.0 : f32
  %c = linalg.fill ins(%r : f32) outs(%e : tensor<?x3xf32>) -> tensor<?x3xf32>
  %y = arith.divf %x, %c : tensor<?x3xf32>
  return %y : tensor<?x3xf32>
}
