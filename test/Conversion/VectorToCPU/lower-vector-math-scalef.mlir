// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// scalef replaces clamp, shift and product for 16 f32 and for nothing else: the
// instruction is one of whole registers of AVX-512.
// RUN: attn-opt %s --attn-lower-vector-math=scalef --canonicalize | FileCheck %s --implicit-check-not=math.exp2
// RUN: attn-opt %s --attn-lower-vector-math='f16 bf16' --canonicalize | FileCheck %s --check-prefix=WITHOUT --implicit-check-not=scalef

// CHECK-LABEL: func.func @wide(
// CHECK-SAME: %[[X:.*]]: vector<16xf32>
// CHECK-DAG: %[[ALL:.*]] = arith.constant -1 : i16
// CHECK-DAG: %[[CURRENT:.*]] = arith.constant 4 : i32
// CHECK-NOT: arith.cmpf
// CHECK-NOT: arith.shli
// CHECK: %[[WHOLE:.*]] = math.roundeven %[[X]] : vector<16xf32>
// CHECK-NEXT: %[[F:.*]] = arith.subf %[[X]], %[[WHOLE]] : vector<16xf32>
// CHECK-COUNT-4: vector.fma %{{.*}}, %[[F]], %{{.*}} : vector<16xf32>
// CHECK-NEXT: %[[P:.*]] = vector.fma %{{.*}}, %[[F]], %{{.*}} : vector<16xf32>
// CHECK-NEXT: %[[Y:.*]] = llvm.call_intrinsic "llvm.x86.avx512.mask.scalef.ps.512"(%[[P]], %[[WHOLE]], %[[P]], %[[ALL]], %[[CURRENT]])
// CHECK-NEXT: return %[[Y]]
// WITHOUT-LABEL: func.func @wide(
// WITHOUT: arith.shli {{.*}} : vector<16xi32>
func.func @wide(%x: vector<16xf32>) -> vector<16xf32> {
  %y = math.exp2 %x : vector<16xf32>
  return %y : vector<16xf32>
}

// CHECK-LABEL: func.func @narrow(
// CHECK-NOT: llvm.
// CHECK: arith.shli {{.*}} : vector<8xi32>
func.func @narrow(%x: vector<8xf32>) -> vector<8xf32> {
  %y = math.exp2 %x : vector<8xf32>
  return %y : vector<8xf32>
}

// CHECK-LABEL: func.func @two_registers(
// CHECK-NOT: llvm.
// CHECK: arith.shli {{.*}} : vector<32xi32>
func.func @two_registers(%x: vector<32xf32>) -> vector<32xf32> {
  %y = math.exp2 %x : vector<32xf32>
  return %y : vector<32xf32>
}

// CHECK-LABEL: func.func @double(
// CHECK-NOT: llvm.
// CHECK: arith.shli {{.*}} : vector<16xi64>
func.func @double(%x: vector<16xf64>) -> vector<16xf64> {
  %y = math.exp2 %x : vector<16xf64>
  return %y : vector<16xf64>
}

// CHECK-LABEL: func.func @scalar(
// CHECK-NOT: call_intrinsic
// CHECK: arith.shli {{.*}} : i32
func.func @scalar(%x: f32) -> f32 {
  %y = math.exp2 %x : f32
  return %y : f32
}
