// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// bf16 is the upper half of an f32: widening is a shift on every target, rounding
// an instruction where there is one. Conversions of f32 and f64 stay everywhere.
// RUN: attn-opt %s --attn-lower-vector-math='scalef f16' --canonicalize | FileCheck %s --check-prefixes=BOTH,CHECK --implicit-check-not='extf {{.*bf16}}' --implicit-check-not=truncf{{.*}}bf16
// RUN: attn-opt %s --attn-lower-vector-math=bf16 --canonicalize | FileCheck %s --check-prefixes=BOTH,KEPT --implicit-check-not='extf {{.*bf16}}'

// BOTH-LABEL: func.func @widen(
// BOTH: arith.constant dense<16> : vector<8xi32>
// BOTH-NEXT: arith.bitcast %{{.*}} : vector<8xbf16> to vector<8xi16>
// BOTH-NEXT: arith.extui %{{.*}} : vector<8xi16> to vector<8xi32>
// BOTH-NEXT: arith.shli
// BOTH-NEXT: arith.bitcast %{{.*}} : vector<8xi32> to vector<8xf32>
// BOTH-NEXT: return
func.func @widen(%x: vector<8xbf16>) -> vector<8xf32> {
  %y = arith.extf %x : vector<8xbf16> to vector<8xf32>
  return %y : vector<8xf32>
}

// BOTH-LABEL: func.func @widen_scalar(
// BOTH: arith.shli {{.*}} : i32
// BOTH-NEXT: arith.bitcast %{{.*}} : i32 to f32
func.func @widen_scalar(%x: bf16) -> f32 {
  %y = arith.extf %x : bf16 to f32
  return %y : f32
}

// BOTH-LABEL: func.func @narrow(
// CHECK: arith.cmpf une
// CHECK: %[[BIAS:.*]] = arith.addi {{.*}} : vector<8xi32>
// CHECK-NEXT: %[[ROUNDED:.*]] = arith.addi %{{.*}}, %[[BIAS]] : vector<8xi32>
// CHECK-NEXT: arith.shrui %[[ROUNDED]]
// CHECK: arith.trunci %{{.*}} : vector<8xi32> to vector<8xi16>
// KEPT-NEXT: arith.truncf %{{.*}} : vector<8xf32> to vector<8xbf16>
// BOTH: return
func.func @narrow(%x: vector<8xf32>) -> vector<8xbf16> {
  %y = arith.truncf %x : vector<8xf32> to vector<8xbf16>
  return %y : vector<8xbf16>
}

// BOTH-LABEL: func.func @narrow_scalar(
// CHECK: arith.trunci %{{.*}} : i32 to i16
// KEPT-NEXT: arith.truncf %{{.*}} : f32 to bf16
// BOTH: return
func.func @narrow_scalar(%x: f32) -> bf16 {
  %y = arith.truncf %x : f32 to bf16
  return %y : bf16
}

// BOTH-LABEL: func.func @other_types(
// BOTH-NEXT: arith.extf %{{.*}} : vector<4xf32> to vector<4xf64>
// BOTH-NEXT: arith.truncf %{{.*}} : vector<4xf64> to vector<4xf32>
func.func @other_types(%x: vector<4xf32>, %z: vector<4xf64>) -> (vector<4xf64>, vector<4xf32>) {
  %y = arith.extf %x : vector<4xf32> to vector<4xf64>
  %w = arith.truncf %z : vector<4xf64> to vector<4xf32>
  return %y, %w : vector<4xf64>, vector<4xf32>
}
