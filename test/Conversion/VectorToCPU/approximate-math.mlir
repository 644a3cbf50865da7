// RUN: attn-opt %s --attn-approximate-math | FileCheck %s --implicit-check-not='math.{{tanh|exp|log|fma|trunc|floor|round|pow|erf|sin|cos}}'
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Scalars and vectors become arithmetic; what is an instruction everywhere stays.

// CHECK-LABEL: func @gone
// CHECK: arith.divf
func.func @gone(%v: vector<8xf32>, %s: f32) -> (vector<8xf32>, f32) {
  %0 = math.tanh %v : vector<8xf32>
  %1 = math.exp %0 : vector<8xf32>
  %2 = math.log1p %1 : vector<8xf32>
  %3 = math.fma %2, %v, %1 : vector<8xf32>
  %4 = math.exp %s : f32
  return %3, %4 : vector<8xf32>, f32
}

// CHECK-LABEL: func @double
// CHECK-NOT: f32
func.func @double(%v: vector<4xf64>, %s: f64) -> (vector<4xf64>, f64) {
  %0 = math.tanh %v : vector<4xf64>
  %1 = math.exp %0 : vector<4xf64>
  %2 = math.log1p %1 : vector<4xf64>
  %3 = math.powf %2, %v : vector<4xf64>
  %4 = math.erf %3 : vector<4xf64>
  %5 = math.sin %4 : vector<4xf64>
  %6 = math.cos %5 : vector<4xf64>
  %7 = math.log %6 : vector<4xf64>
  %8 = math.log2 %7 : vector<4xf64>
  %9 = math.expm1 %8 : vector<4xf64>
  %10 = math.fma %9, %v, %1 : vector<4xf64>
  %11 = math.floor %10 : vector<4xf64>
  %12 = math.exp %s : f64
  return %11, %12 : vector<4xf64>, f64
}

// CHECK-LABEL: func @steps
// CHECK: math.absf
// CHECK: math.copysign
func.func @steps(%v: vector<8xf32>) -> vector<8xf32> {
  %0 = math.trunc %v : vector<8xf32>
  return %0 : vector<8xf32>
}

// CHECK-LABEL: func @kept
// CHECK: math.sqrt
func.func @kept(%v: vector<8xf32>) -> vector<8xf32> {
  %0 = math.sqrt %v : vector<8xf32>
  return %0 : vector<8xf32>
}
