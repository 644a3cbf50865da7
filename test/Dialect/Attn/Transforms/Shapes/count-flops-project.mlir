// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A projection counts 2 * rows * inputs * outputs; the sum goes over all ops.
// RUN: attn-opt %s --attn-count-flops --canonicalize --cse | FileCheck %s

// CHECK: func.func private @two.flops(
// CHECK-DAG: %[[OUT:.*]] = arith.constant 6.000000e+00 : f64
// CHECK-DAG: %[[IN4:.*]] = arith.constant 8.000000e+00 : f64
// CHECK-DAG: %[[IN6:.*]] = arith.constant 1.200000e+01 : f64
// CHECK: %[[A:.*]] = arith.mulf %{{.*}}, %[[IN4]] : f64
// CHECK-NEXT: arith.mulf %[[A]], %[[OUT]] : f64
// CHECK: %[[B:.*]] = arith.mulf %{{.*}}, %[[IN6]] : f64
// CHECK-NEXT: %[[C:.*]] = arith.mulf %[[B]], %[[OUT]] : f64
// CHECK-NEXT: %[[SUM:.*]] = arith.addf %{{.*}}, %[[C]] : f64
// CHECK-NEXT: return %[[SUM]] : f64
func.func @two(%x: tensor<?x4xf32>, %w: tensor<4x6xf32>, %u: tensor<6x6xf32>) -> tensor<?x6xf32> {
  %y = attn.project %x, %w : (tensor<?x4xf32>, tensor<4x6xf32>) -> tensor<?x6xf32>
  %z = attn.project %y, %u : (tensor<?x6xf32>, tensor<6x6xf32>) -> tensor<?x6xf32>
  return %z : tensor<?x6xf32>
}

// CHECK: func.func private @constant.flops(
// CHECK: %[[N:.*]] = arith.constant 9.600000e+01 : f64
// CHECK-NEXT: return %[[N]]
func.func @constant(%x: tensor<2x4xf32>, %w: tensor<4x6xf32>) -> tensor<2x6xf32> {
  %y = attn.project %x, %w : (tensor<2x4xf32>, tensor<4x6xf32>) -> tensor<2x6xf32>
  return %y : tensor<2x6xf32>
}
