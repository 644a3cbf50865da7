// RUN: attn-opt %s -verify-diagnostics
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What attn.score_mod accepts; the numbers are those of docs/Spec.md.

func.func @score_mod_c1_rank_2(%s: tensor<?x?xf32>) {
  %r = attn.score_mod %s (%x: f32, %b, %h, %q, %k) {
    attn.yield %x : f32
  } : tensor<?x?xf32>
  return
}

func.func @score_mod_c2_same_type(%s: tensor<4x5x6xf32>) {
  %r = attn.score_mod %s (%x: f32, %b, %h, %q, %k) {
    attn.yield %x : f32
  } : tensor<4x5x6xf32>
  return
}

func.func @score_mod_c3_f64(%s: tensor<5x6xf64>) {
  %r = attn.score_mod %s (%x: f64, %b, %h, %q, %k) {
    attn.yield %x : f64
  } : tensor<5x6xf64>
  return
}

func.func @score_mod_c4_tensor_and_numbers(%s: tensor<4x5x6xf32>, %t: tensor<?x3xi32>, %n: i32, %i: index, %f: f32) {
  %r = attn.score_mod %s (%x: f32, %b, %h, %q, %k) with (%u = %t : tensor<?x3xi32>, %m = %n : i32, %j = %i : index, %g = %f : f32) {
    attn.yield %x : f32
  } : tensor<4x5x6xf32>
  return
}

func.func @score_mod_c5_pure_arithmetic(%s: tensor<4x5x6xf32>) {
  %r = attn.score_mod %s (%x: f32, %b, %h, %q, %k) {
    %y = math.tanh %x : f32
    %z = arith.maximumf %x, %y : f32
    attn.yield %z : f32
  } : tensor<4x5x6xf32>
  return
}

func.func @score_mod_c6_reads_captured_tensor(%s: tensor<4x5x6xf32>, %t: tensor<4x6xf32>) {
  %r = attn.score_mod %s (%x: f32, %b, %h, %q, %k) with (%u = %t : tensor<4x6xf32>) {
    %y = tensor.extract %u[%h, %k] : tensor<4x6xf32>
    attn.yield %y : f32
  } : tensor<4x5x6xf32>
  return
}

func.func @score_mod_c7_constant_divisor(%s: tensor<4x5x6xf32>) {
  %r = attn.score_mod %s (%x: f32, %b, %h, %q, %k) {
    %c = arith.constant 4 : index
    %d = arith.divsi %q, %c : index
    attn.yield %x : f32
  } : tensor<4x5x6xf32>
  return
}

func.func @score_mod_c8_yields_a_score(%s: tensor<4x5x6xf32>) {
  %r = attn.score_mod %s (%x: f32, %b, %h, %q, %k) {
    %c = arith.constant 0.0 : f32
    attn.yield %c : f32
  } : tensor<4x5x6xf32>
  return
}
