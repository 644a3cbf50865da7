// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What ops of score functions become in a thread.
// RUN: attn-opt %s --target=sm_80 --emit=ptx --split-keys=0 -o - | FileCheck %s

// A cap of a score of 16 bits is one exponential and one reciprocal; scale, divisor and 2 log2(e) are one factor: 2 * 1.442695 / 30 / 8.
// Units of log2 are a product towards zero, which keeps finite numbers finite.
// CHECK-LABEL: .entry cap_attention(
// CHECK-NOT:   div.rn
// CHECK:       mul.rn.f32 [[X:%r[0-9]+]], %r{{[0-9]+}}, 0f3C44{{.*}};
// CHECK-NEXT:  ex2.approx.ftz.f32 [[E:%r[0-9]+]], [[X]];
// CHECK-NEXT:  add.rn.f32 [[D:%r[0-9]+]], [[E]], 0f3F800000;
// CHECK-NEXT:  rcp.approx.ftz.f32 [[R:%r[0-9]+]], [[D]];
// CHECK-NEXT:  fma.rn.f32 [[T:%r[0-9]+]], [[R]], 0fC0000000, 0f3F800000;
// CHECK-NEXT:  mul.rn.f32 [[Y:%r[0-9]+]], [[T]], 0f41F00000;
// CHECK:       mul.rz.f32 %r{{[0-9]+}}, [[Y]]
// CHECK-NOT:   div.rn
func.func @cap(%q: tensor<8x?x64xbf16>, %k: tensor<8x?x64xbf16>) -> tensor<8x?x64xbf16> {
  %out = attn.sdpa %q, %k, %k scale 0.125 score_mod (%s: f32, %b, %h, %i, %j) {
    %cap = arith.constant 30.0 : f32
    %x = arith.divf %s, %cap : f32
    %t = math.tanh %x : f32
    %y = arith.mulf %t, %cap : f32
    attn.yield %y : f32
  } : (tensor<8x?x64xbf16>, tensor<8x?x64xbf16>, tensor<8x?x64xbf16>) -> tensor<8x?x64xbf16>
  return %out : tensor<8x?x64xbf16>
}

// A tanh whose small values count has the rational function, and so has one of f32.
// CHECK-LABEL: .entry small_attention(
// CHECK-NOT:   rcp.approx
// CHECK:       div.approx.ftz.f32
// CHECK-LABEL: .entry cap_f32_attention(
// CHECK-NOT:   rcp.approx
// CHECK:       div.approx.ftz.f32
func.func @small(%q: tensor<8x?x64xbf16>, %k: tensor<8x?x64xbf16>) -> tensor<8x?x64xbf16> {
  %out = attn.sdpa %q, %k, %k scale 0.125 score_mod (%s: f32, %b, %h, %i, %j) {
    %cap = arith.constant 1000.0 : f32
    %x = arith.divf %s, %cap : f32
    %t = math.tanh %x : f32
    %y = arith.mulf %t, %cap : f32
    attn.yield %y : f32
  } : (tensor<8x?x64xbf16>, tensor<8x?x64xbf16>, tensor<8x?x64xbf16>) -> tensor<8x?x64xbf16>
  return %out : tensor<8x?x64xbf16>
}
func.func @cap_f32(%q: tensor<8x?x64xf32>, %k: tensor<8x?x64xf32>) -> tensor<8x?x64xf32> {
  %out = attn.sdpa %q, %k, %k scale 0.125 score_mod (%s: f32, %b, %h, %i, %j) {
    %cap = arith.constant 30.0 : f32
    %x = arith.divf %s, %cap : f32
    %t = math.tanh %x : f32
    %y = arith.mulf %t, %cap : f32
    attn.yield %y : f32
  } : (tensor<8x?x64xf32>, tensor<8x?x64xf32>, tensor<8x?x64xf32>) -> tensor<8x?x64xf32>
  return %out : tensor<8x?x64xf32>
}

// A position becomes a float once for all pairs of a thread, in full tiles and in those with a mask.
// CHECK-LABEL: .entry distance_attention(
// CHECK-COUNT-2: cvt.rn.f32.s32
// CHECK-NOT:   cvt.rn.f32.s32
// CHECK-LABEL: .entry product_attention(
func.func @distance(%q: tensor<8x?x64xbf16>, %k: tensor<8x?x64xbf16>) -> tensor<8x?x64xbf16> {
  %out = attn.sdpa %q, %k, %k scale 0.125 score_mod (%s: f32, %b, %h, %i, %j) {
    %d = arith.subi %j, %i : index
    %n = arith.index_cast %d : index to i32
    %r = arith.sitofp %n : i32 to f32
    %c = arith.constant 0.0625 : f32
    %f = arith.mulf %r, %c : f32
    %y = arith.addf %s, %f : f32
    attn.yield %y : f32
  } where causal(top_left) : (tensor<8x?x64xbf16>, tensor<8x?x64xbf16>, tensor<8x?x64xbf16>) -> tensor<8x?x64xbf16>
  return %out : tensor<8x?x64xbf16>
}

// One that is not a constant away is converted for each.
// CHECK-COUNT-64: cvt.rn.f32.s32
// A quotient has 2 ulp.
// CHECK:       div.full.f32
func.func @product(%q: tensor<8x?x64xbf16>, %k: tensor<8x?x64xbf16>) -> tensor<8x?x64xbf16> {
  %out = attn.sdpa %q, %k, %k scale 0.125 score_mod (%s: f32, %b, %h, %i, %j) {
    %d = arith.muli %j, %i : index
    %n = arith.index_cast %d : index to i32
    %r = arith.sitofp %n : i32 to f32
    %y = arith.divf %s, %r : f32
    attn.yield %y : f32
  } : (tensor<8x?x64xbf16>, tensor<8x?x64xbf16>, tensor<8x?x64xbf16>) -> tensor<8x?x64xbf16>
  return %out : tensor<8x?x64xbf16>
}
