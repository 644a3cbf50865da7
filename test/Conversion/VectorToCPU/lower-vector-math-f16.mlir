// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// f16 and f32: instructions where the target has them, integer arithmetic
// elsewhere (LLVM would call the C library once per element).
// RUN: attn-opt %s --attn-lower-vector-math='scalef bf16' --canonicalize | FileCheck %s --implicit-check-not=extf --implicit-check-not=truncf
// RUN: attn-opt %s --attn-lower-vector-math=f16 --canonicalize | FileCheck %s --check-prefix=KEPT --implicit-check-not=bitcast

// CHECK-LABEL: func.func @widen(
// CHECK-DAG: %[[REBIAS:.*]] = arith.constant dense<5.19229686E+33> : vector<8xf32>
// CHECK-DAG: %[[INF:.*]] = arith.constant dense<31744> : vector<8xi32>
// CHECK: arith.bitcast %{{.*}} : vector<8xf16> to vector<8xi16>
// CHECK: %[[N:.*]] = arith.mulf %{{.*}}, %[[REBIAS]] : vector<8xf32>
// CHECK: %[[FINITE:.*]] = arith.cmpi ult, %{{.*}}, %[[INF]] : vector<8xi32>
// CHECK: arith.select %[[FINITE]]
// CHECK: return %{{.*}} : vector<8xf32>
// KEPT-LABEL: func.func @widen(
// KEPT-NEXT: arith.extf {{.*}} : vector<8xf16> to vector<8xf32>
func.func @widen(%x: vector<8xf16>) -> vector<8xf32> {
  %y = arith.extf %x : vector<8xf16> to vector<8xf32>
  return %y : vector<8xf32>
}

// CHECK-LABEL: func.func @widen_scalar(
// CHECK: arith.bitcast %{{.*}} : f16 to i16
// CHECK: return %{{.*}} : f32
// KEPT-LABEL: func.func @widen_scalar(
// KEPT-NEXT: arith.extf {{.*}} : f16 to f32
func.func @widen_scalar(%x: f16) -> f32 {
  %y = arith.extf %x : f16 to f32
  return %y : f32
}

// Ties go to even: the lowest bit that stays is added to half of it less one.
// CHECK-LABEL: func.func @narrow(
// CHECK-DAG: %[[THIRTEEN:.*]] = arith.constant dense<13> : vector<8xi32>
// CHECK-DAG: %[[LAST:.*]] = arith.constant dense<1> : vector<8xi32>
// CHECK-DAG: %[[REBIAS:.*]] = arith.constant dense<-939520001> : vector<8xi32>
// CHECK-DAG: %[[HALF:.*]] = arith.constant dense<5.000000e-01> : vector<8xf32>
// CHECK: %[[CUT:.*]] = arith.shrui %[[M:.*]], %[[THIRTEEN]] : vector<8xi32>
// CHECK-NEXT: %[[ODD:.*]] = arith.andi %[[CUT]], %[[LAST]]
// CHECK-NEXT: %[[MOVED:.*]] = arith.addi %[[M]], %[[REBIAS]]
// CHECK-NEXT: %[[ROUNDED:.*]] = arith.addi %[[MOVED]], %[[ODD]]
// CHECK-NEXT: arith.shrui %[[ROUNDED]], %[[THIRTEEN]]
// CHECK: arith.addf %{{.*}}, %[[HALF]]
// CHECK: arith.trunci %{{.*}} : vector<8xi32> to vector<8xi16>
// CHECK-NEXT: arith.bitcast %{{.*}} : vector<8xi16> to vector<8xf16>
// KEPT-LABEL: func.func @narrow(
// KEPT-NEXT: arith.truncf {{.*}} : vector<8xf32> to vector<8xf16>
func.func @narrow(%x: vector<8xf32>) -> vector<8xf16> {
  %y = arith.truncf %x : vector<8xf32> to vector<8xf16>
  return %y : vector<8xf16>
}

// CHECK-LABEL: func.func @narrow_scalar(
// CHECK: arith.trunci %{{.*}} : i32 to i16
// CHECK-NEXT: arith.bitcast %{{.*}} : i16 to f16
// KEPT-LABEL: func.func @narrow_scalar(
// KEPT-NEXT: arith.truncf {{.*}} : f32 to f16
func.func @narrow_scalar(%x: f32) -> f16 {
  %y = arith.truncf %x : f32 to f16
  return %y : f16
}
