// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: attn-opt %s --attn-lower-gpu-maxima | FileCheck %s

// CHECK-LABEL: func.func @f(
// CHECK-NEXT:    %[[M:.*]] = llvm.intr.maxnum(%arg0, %arg1) : (f32, f32) -> f32
// CHECK-NEXT:    %[[N:.*]] = llvm.intr.minnum(%[[M]], %arg1) : (f32, f32) -> f32
// CHECK-NEXT:    llvm.intr.maxnum(%arg2, %arg2) : (f64, f64) -> f64
// What a NaN wins, and what is no f32 or f64, stays.
// CHECK-NEXT:    arith.maximumf %[[N]], %arg1 : f32
// CHECK-NEXT:    arith.maxnumf %arg3, %arg3 : f16
func.func @f(%x: f32, %y: f32, %d: f64, %h: f16) -> (f32, f64, f16) {
  %0 = arith.maxnumf %x, %y : f32
  %1 = arith.minnumf %0, %y : f32
  %2 = arith.maxnumf %d, %d : f64
  %3 = arith.maximumf %1, %y : f32
  %4 = arith.maxnumf %h, %h : f16
  return %3, %2, %4 : f32, f64, f16
}
