// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// exp2 without a feature: x is held at the smallest exponent (NaN passes, so the
// comparison is one that NaN fails), the power of two comes from the bits, and a
// polynomial gives the fraction: of degree 5 for f32, 13 for f64.
// RUN: attn-opt %s --attn-lower-vector-math --canonicalize | FileCheck %s --implicit-check-not=math. --implicit-check-not=call
// RUN: attn-opt %s --attn-lower-vector-math='f16 bf16' --canonicalize | FileCheck %s --implicit-check-not=math. --implicit-check-not=call

// CHECK-LABEL: func.func @single(
// CHECK-SAME: %[[X:.*]]: vector<4xf32>
// CHECK-DAG: %[[ONE:.*]] = arith.constant dense<1.000000e+00> : vector<4xf32>
// CHECK-DAG: %[[C1:.*]] = arith.constant dense<6.931470e-01> : vector<4xf32>
// CHECK-DAG: %[[C2:.*]] = arith.constant dense<0.240222424> : vector<4xf32>
// CHECK-DAG: %[[C3:.*]] = arith.constant dense<0.0555073358> : vector<4xf32>
// CHECK-DAG: %[[C4:.*]] = arith.constant dense<0.00967151299> : vector<4xf32>
// CHECK-DAG: %[[C5:.*]] = arith.constant dense<0.00132647273> : vector<4xf32>
// CHECK-DAG: %[[LOWEST:.*]] = arith.constant dense<-1.270000e+02> : vector<4xf32>
// CHECK-DAG: %[[MAGIC:.*]] = arith.constant dense<0x4B40007F> : vector<4xf32>
// CHECK-DAG: %[[BITS:.*]] = arith.constant dense<23> : vector<4xi32>
// CHECK: %[[LESS:.*]] = arith.cmpf ogt, %[[LOWEST]], %[[X]] : vector<4xf32>
// CHECK-NEXT: %[[HELD:.*]] = arith.select %[[LESS]], %[[LOWEST]], %[[X]]
// CHECK-NEXT: %[[SUM:.*]] = arith.addf %[[HELD]], %[[MAGIC]]
// CHECK-NEXT: %[[WHOLE:.*]] = arith.subf %[[SUM]], %[[MAGIC]]
// CHECK-NEXT: %[[F:.*]] = arith.subf %[[HELD]], %[[WHOLE]]
// CHECK-NEXT: %[[B:.*]] = arith.bitcast %[[SUM]] : vector<4xf32> to vector<4xi32>
// CHECK-NEXT: %[[E:.*]] = arith.shli %[[B]], %[[BITS]] : vector<4xi32>
// CHECK-NEXT: %[[POWER:.*]] = arith.bitcast %[[E]] : vector<4xi32> to vector<4xf32>
// CHECK-NEXT: %[[P4:.*]] = vector.fma %[[C5]], %[[F]], %[[C4]] : vector<4xf32>
// CHECK-NEXT: %[[P3:.*]] = vector.fma %[[P4]], %[[F]], %[[C3]] : vector<4xf32>
// CHECK-NEXT: %[[P2:.*]] = vector.fma %[[P3]], %[[F]], %[[C2]] : vector<4xf32>
// CHECK-NEXT: %[[P1:.*]] = vector.fma %[[P2]], %[[F]], %[[C1]] : vector<4xf32>
// CHECK-NEXT: %[[P0:.*]] = vector.fma %[[P1]], %[[F]], %[[ONE]] : vector<4xf32>
// CHECK-NEXT: %[[Y:.*]] = arith.mulf %[[P0]], %[[POWER]] : vector<4xf32>
// CHECK-NEXT: return %[[Y]]
func.func @single(%x: vector<4xf32>) -> vector<4xf32> {
  %y = math.exp2 %x : vector<4xf32>
  return %y : vector<4xf32>
}

// CHECK-LABEL: func.func @double(
// CHECK-SAME: %[[X:.*]]: vector<2xf64>
// CHECK-DAG: %[[LOWEST:.*]] = arith.constant dense<-1.023000e+03> : vector<2xf64>
// CHECK-DAG: %[[MAGIC:.*]] = arith.constant dense<0x43380000000003FF> : vector<2xf64>
// CHECK-DAG: %[[BITS:.*]] = arith.constant dense<52> : vector<2xi64>
// CHECK: %[[LESS:.*]] = arith.cmpf ogt, %[[LOWEST]], %[[X]] : vector<2xf64>
// CHECK-NEXT: %[[HELD:.*]] = arith.select %[[LESS]], %[[LOWEST]], %[[X]]
// CHECK-NEXT: %[[SUM:.*]] = arith.addf %[[HELD]], %[[MAGIC]]
// CHECK: arith.shli %{{.*}}, %[[BITS]] : vector<2xi64>
// CHECK-NEXT: arith.bitcast {{.*}} : vector<2xi64> to vector<2xf64>
// CHECK-COUNT-13: vector.fma {{.*}} : vector<2xf64>
// CHECK-NEXT: arith.mulf
// CHECK-NEXT: return
func.func @double(%x: vector<2xf64>) -> vector<2xf64> {
  %y = math.exp2 %x : vector<2xf64>
  return %y : vector<2xf64>
}

// CHECK-LABEL: func.func @scalar(
// CHECK: arith.shli %{{.*}}, %c23_i32 : i32
// CHECK-COUNT-5: llvm.intr.fmuladd({{.*}} -> f32
// CHECK-NEXT: arith.mulf
// CHECK-NEXT: return
func.func @scalar(%x: f32) -> f32 {
  %y = math.exp2 %x : f32
  return %y : f32
}
