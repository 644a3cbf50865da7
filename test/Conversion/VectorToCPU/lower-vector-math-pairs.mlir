// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Dot products of bf16 pairs, and two vectors rounded to bf16 in turn: an
// instruction for whole registers where the target has it, two FMA and integer
// rounding elsewhere. Other contractions and interleavings stay.
// RUN: attn-opt %s --attn-lower-vector-math=bf16 --canonicalize | FileCheck %s --check-prefixes=BOTH,CHECK
// RUN: attn-opt %s --attn-lower-vector-math='scalef f16' --canonicalize | FileCheck %s --check-prefixes=BOTH,PLAIN --implicit-check-not=call_intrinsic
#pair = affine_map<(l, w) -> (l, w)>
#lane = affine_map<(l, w) -> (l)>
#turned = affine_map<(l, w) -> (w, l)>

// BOTH-LABEL: func.func @dot(
// BOTH-SAME: %[[A:.*]]: vector<32xbf16>, %[[B:.*]]: vector<32xbf16>, %[[C:.*]]: vector<16xf32>
// CHECK-NEXT: %[[R:.*]] = llvm.call_intrinsic "llvm.x86.avx512bf16.dpbf16ps.512"(%[[C]], %[[A]], %[[B]]) : (vector<16xf32>, vector<32xbf16>, vector<32xbf16>) -> vector<16xf32>
// CHECK-NEXT: return %[[R]]
// PLAIN-DAG: %[[UPPER:.*]] = arith.constant dense<-65536> : vector<16xi32>
// PLAIN-DAG: %[[SIXTEEN:.*]] = arith.constant dense<16> : vector<16xi32>
// PLAIN: %[[AI:.*]] = vector.bitcast %[[A]] : vector<32xbf16> to vector<16xi32>
// PLAIN-NEXT: %[[BI:.*]] = vector.bitcast %[[B]] : vector<32xbf16> to vector<16xi32>
// PLAIN-NEXT: %[[X:.*]] = arith.shli %[[AI]], %[[SIXTEEN]] : vector<16xi32>
// PLAIN-NEXT: %[[XF:.*]] = arith.bitcast %[[X]]
// PLAIN-NEXT: %[[Y:.*]] = arith.shli %[[BI]], %[[SIXTEEN]] : vector<16xi32>
// PLAIN-NEXT: %[[YF:.*]] = arith.bitcast %[[Y]]
// PLAIN-NEXT: %[[SUM:.*]] = vector.fma %[[XF]], %[[YF]], %[[C]] : vector<16xf32>
// PLAIN-NEXT: %[[U:.*]] = arith.andi %[[AI]], %[[UPPER]] : vector<16xi32>
// PLAIN-NEXT: %[[UF:.*]] = arith.bitcast %[[U]]
// PLAIN-NEXT: %[[V:.*]] = arith.andi %[[BI]], %[[UPPER]] : vector<16xi32>
// PLAIN-NEXT: %[[VF:.*]] = arith.bitcast %[[V]]
// PLAIN-NEXT: %[[R:.*]] = vector.fma %[[UF]], %[[VF]], %[[SUM]] : vector<16xf32>
// PLAIN-NEXT: return %[[R]]
func.func @dot(%a: vector<32xbf16>, %b: vector<32xbf16>, %c: vector<16xf32>) -> vector<16xf32> {
  %x = vector.shape_cast %a : vector<32xbf16> to vector<16x2xbf16>
  %y = vector.shape_cast %b : vector<32xbf16> to vector<16x2xbf16>
  %r = vector.contract {indexing_maps = [#pair, #pair, #lane], iterator_types = ["parallel", "reduction"], kind = #vector.kind<add>} %x, %y, %c
      : vector<16x2xbf16>, vector<16x2xbf16> into vector<16xf32>
  return %r : vector<16xf32>
}

// BOTH-LABEL: func.func @dot_of_256_bits(
// CHECK: "llvm.x86.avx512bf16.dpbf16ps.256"
// PLAIN-COUNT-2: vector.fma {{.*}} : vector<8xf32>
func.func @dot_of_256_bits(%x: vector<8x2xbf16>, %y: vector<8x2xbf16>, %c: vector<8xf32>) -> vector<8xf32> {
  %r = vector.contract {indexing_maps = [#pair, #pair, #lane], iterator_types = ["parallel", "reduction"], kind = #vector.kind<add>} %x, %y, %c
      : vector<8x2xbf16>, vector<8x2xbf16> into vector<8xf32>
  return %r : vector<8xf32>
}

// No register has 1024 bits.
// BOTH-LABEL: func.func @dot_of_two_registers(
// BOTH-NOT: call_intrinsic
// BOTH-COUNT-2: vector.fma {{.*}} : vector<32xf32>
func.func @dot_of_two_registers(%x: vector<32x2xbf16>, %y: vector<32x2xbf16>, %c: vector<32xf32>) -> vector<32xf32> {
  %r = vector.contract {indexing_maps = [#pair, #pair, #lane], iterator_types = ["parallel", "reduction"], kind = #vector.kind<add>} %x, %y, %c
      : vector<32x2xbf16>, vector<32x2xbf16> into vector<32xf32>
  return %r : vector<32xf32>
}

// BOTH-LABEL: func.func @other_contractions(
// BOTH-COUNT-3: vector.contract
func.func @other_contractions(%x: vector<16x2xbf16>, %t: vector<2x16xbf16>, %f: vector<16x2xf32>, %c: vector<16xf32>) -> (vector<16xf32>, vector<16xf32>, vector<16xf32>) {
  %maximum = vector.contract {indexing_maps = [#pair, #pair, #lane], iterator_types = ["parallel", "reduction"], kind = #vector.kind<maxnumf>} %x, %x, %c
      : vector<16x2xbf16>, vector<16x2xbf16> into vector<16xf32>
  %transposed = vector.contract {indexing_maps = [#turned, #pair, #lane], iterator_types = ["parallel", "reduction"], kind = #vector.kind<add>} %t, %x, %c
      : vector<2x16xbf16>, vector<16x2xbf16> into vector<16xf32>
  %wide = vector.contract {indexing_maps = [#pair, #pair, #lane], iterator_types = ["parallel", "reduction"], kind = #vector.kind<add>} %f, %f, %c
      : vector<16x2xf32>, vector<16x2xf32> into vector<16xf32>
  return %maximum, %transposed, %wide : vector<16xf32>, vector<16xf32>, vector<16xf32>
}

// BOTH-LABEL: func.func @pack(
// BOTH-SAME: %[[A:.*]]: vector<16xf32>, %[[B:.*]]: vector<16xf32>
// CHECK-NEXT: %[[H:.*]] = llvm.call_intrinsic "llvm.x86.avx512bf16.cvtne2ps2bf16.512"(%[[B]], %[[A]]) : (vector<16xf32>, vector<16xf32>) -> vector<32xbf16>
// CHECK-NEXT: %[[P:.*]] = vector.shuffle %[[H]], %[[H]] [0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31] : vector<32xbf16>, vector<32xbf16>
// CHECK-NEXT: return %[[P]]
// PLAIN: arith.trunci {{.*}} : vector<16xi32> to vector<16xi16>
// PLAIN: arith.trunci {{.*}} : vector<16xi32> to vector<16xi16>
// PLAIN: vector.interleave %{{.*}}, %{{.*}} : vector<16xbf16> -> vector<32xbf16>
func.func @pack(%a: vector<16xf32>, %b: vector<16xf32>) -> vector<32xbf16> {
  %x = arith.truncf %a : vector<16xf32> to vector<16xbf16>
  %y = arith.truncf %b : vector<16xf32> to vector<16xbf16>
  %p = vector.interleave %x, %y : vector<16xbf16> -> vector<32xbf16>
  return %p : vector<32xbf16>
}

// BOTH-LABEL: func.func @other_interleavings(
// BOTH-NOT: call_intrinsic
// BOTH-COUNT-3: vector.interleave
func.func @other_interleavings(%a: vector<16xf32>, %b: vector<16xbf16>, %c: vector<2xf32>) -> (vector<32xbf16>, vector<32xbf16>, vector<4xbf16>) {
  %x = arith.truncf %a : vector<16xf32> to vector<16xbf16>
  %y = arith.truncf %c : vector<2xf32> to vector<2xbf16>
  %one = vector.interleave %x, %b : vector<16xbf16> -> vector<32xbf16>
  %none = vector.interleave %b, %b : vector<16xbf16> -> vector<32xbf16>
  %small = vector.interleave %y, %y : vector<2xbf16> -> vector<4xbf16>
  return %one, %none, %small : vector<32xbf16>, vector<32xbf16>, vector<4xbf16>
}
