// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// 16 bits are computed with in f32, in bodies of linalg ops too, which then have no name of their own; what only moves numbers
// stays, and so does f32.
// RUN: attn-opt %s --attn-widen-elements | FileCheck %s

// CHECK-LABEL: func.func @scalars(
// CHECK-SAME: %[[X:.*]]: f16, %[[Y:.*]]: f16
// CHECK: %[[A:.*]] = arith.extf %[[X]] : f16 to f32
// CHECK: %[[B:.*]] = arith.extf %[[Y]] : f16 to f32
// CHECK: %[[S:.*]] = arith.addf %[[A]], %[[B]] fastmath<nnan> : f32
// CHECK: %[[R:.*]] = arith.truncf %[[S]] : f32 to f16
// CHECK: %[[E:.*]] = arith.extf %[[R]] : f16 to f32
// CHECK: %[[Z:.*]] = arith.extf %[[X]] : f16 to f32
// CHECK: arith.cmpf olt, %[[E]], %[[Z]] : f32
// CHECK: arith.select %{{.*}}, %[[X]], %[[R]] : f16
func.func @scalars(%x: f16, %y: f16) -> f16 {
  %s = arith.addf %x, %y fastmath<nnan> : f16
  %c = arith.cmpf olt, %s, %x : f16
  %r = arith.select %c, %x, %s : f16
  return %r : f16
}

// CHECK-LABEL: func.func @bodies(
// CHECK: linalg.generic
// CHECK: arith.extf %{{.*}} : bf16 to f32
// CHECK: math.exp %{{.*}} : f32
// CHECK: arith.truncf %{{.*}} : f32 to bf16
// CHECK: linalg.exp ins(%{{.*}} : tensor<4xf32>)
// CHECK: linalg.transpose ins(%{{.*}} : tensor<4x2xf16>)
func.func @bodies(%x: tensor<4xbf16>, %y: tensor<4xf32>, %z: tensor<4x2xf16>, %t: tensor<2x4xf16>) -> (tensor<4xbf16>, tensor<4xf32>, tensor<2x4xf16>) {
  %0 = linalg.exp ins(%x : tensor<4xbf16>) outs(%x : tensor<4xbf16>) -> tensor<4xbf16>
  %1 = linalg.exp ins(%y : tensor<4xf32>) outs(%y : tensor<4xf32>) -> tensor<4xf32>
  %2 = linalg.transpose ins(%z : tensor<4x2xf16>) outs(%t : tensor<2x4xf16>) permutation = [1, 0]
  return %0, %1, %2 : tensor<4xbf16>, tensor<4xf32>, tensor<2x4xf16>
}

// From f64 by an f32 whose last bit is 1 where it is not exact.
// CHECK-LABEL: func.func @conversions(
// CHECK-SAME: %[[X:.*]]: f64, %[[Y:.*]]: bf16, %[[I:.*]]: i32
// CHECK: %[[N:.*]] = arith.truncf %[[X]] : f64 to f32
// CHECK: %[[BITS:.*]] = arith.bitcast %[[N]] : f32 to i32
// CHECK: arith.cmpf one
// CHECK: %[[LAST:.*]] = arith.andi %[[BITS]]
// CHECK: arith.select
// CHECK: arith.truncf %{{.*}} : f32 to f16
// CHECK: %[[W:.*]] = arith.extf %[[Y]] : bf16 to f32
// CHECK: arith.extf %[[W]] : f32 to f64
// CHECK: arith.sitofp %[[I]] : i32 to f64
// CHECK: arith.truncf %{{.*}} : f32 to f16
func.func @conversions(%x: f64, %y: bf16, %i: i32) -> (f16, f64, f16) {
  %0 = arith.truncf %x : f64 to f16
  %1 = arith.extf %y : bf16 to f64
  %2 = arith.sitofp %i : i32 to f16
  return %0, %1, %2 : f16, f64, f16
}

// CHECK-LABEL: func.func @sign(
// CHECK-NOT: math.copysign
// CHECK: arith.ori %{{.*}} : i32
func.func @sign(%x: f32, %y: f32) -> f32 {
  %r = math.copysign %x, %y : f32
  return %r : f32
}
