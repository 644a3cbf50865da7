// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Logarithms: MLIR's polynomial for f32; for f64 one step of Halley's iteration
// from that. No math op is left, math.fma neither: it would call the C library
// where the processor has no FMA.
// RUN: attn-opt %s --attn-lower-vector-math --canonicalize | FileCheck %s --implicit-check-not=math. --implicit-check-not=call
// RUN: attn-opt %s --attn-lower-vector-math='scalef f16 bf16' --canonicalize | FileCheck %s --implicit-check-not=math. --implicit-check-not=call

// CHECK-LABEL: func.func @single(
// CHECK: vector.fma {{.*}} : vector<4xf32>
func.func @single(%x: vector<4xf32>) -> vector<4xf32> {
  %y = math.log %x : vector<4xf32>
  return %y : vector<4xf32>
}

// CHECK-LABEL: func.func @single_scalar(
// CHECK: llvm.intr.fmuladd({{.*}} -> f32
func.func @single_scalar(%x: f32) -> f32 {
  %y = math.log %x : f32
  return %y : f32
}

// CHECK-LABEL: func.func @double(
// CHECK-SAME: %[[X:.*]]: vector<2xf64>
// CHECK-DAG: %[[LOG2E:.*]] = arith.constant dense<1.4426950408889634> : vector<2xf64>
// CHECK: %{{.*}} = arith.truncf %[[X]] : vector<2xf64> to vector<2xf32>
// CHECK: vector.fma {{.*}} : vector<2xf32>
// CHECK: %[[ROUGH:.*]] = arith.extf %{{.*}} : vector<2xf32> to vector<2xf64>
// CHECK-NEXT: arith.mulf %[[ROUGH]], %[[LOG2E]]
// CHECK: arith.shli {{.*}} : vector<2xi64>
// CHECK-COUNT-13: vector.fma {{.*}} : vector<2xf64>
// CHECK-NEXT: %[[POWER:.*]] = arith.mulf {{.*}} : vector<2xf64>
// CHECK-NEXT: %[[OFF:.*]] = arith.subf %[[X]], %[[POWER]]
// CHECK-NEXT: %[[SUM:.*]] = arith.addf %[[X]], %[[POWER]]
// CHECK-NEXT: %[[Q:.*]] = arith.divf %[[OFF]], %[[SUM]]
// CHECK-NEXT: %[[Y:.*]] = vector.fma %{{.*}}, %[[Q]], %[[ROUGH]] : vector<2xf64>
// CHECK-NEXT: return %[[Y]]
func.func @double(%x: vector<2xf64>) -> vector<2xf64> {
  %y = math.log %x : vector<2xf64>
  return %y : vector<2xf64>
}

// CHECK-LABEL: func.func @double_scalar(
// CHECK: arith.truncf %{{.*}} : f64 to f32
// CHECK: arith.divf {{.*}} : f64
// CHECK-NEXT: llvm.intr.fmuladd({{.*}} -> f64
// CHECK-NEXT: return
func.func @double_scalar(%x: f64) -> f64 {
  %y = math.log %x : f64
  return %y : f64
}
