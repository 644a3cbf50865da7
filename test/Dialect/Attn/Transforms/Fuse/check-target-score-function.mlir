// RUN: attn-opt %s --attn-check-target -split-input-file -verify-diagnostics
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Score functions of ops without vector code are refused by name.

func.func @atan(%q: tensor<5x8xf32>) -> tensor<5x8xf32> {
  // expected-error@+1 {{expects a score function that this target has vector code for, but it has 'math.atan'}}
  %o = attn.sdpa %q, %q, %q scale 0.5 score_mod (%s: f32, %b, %h, %i, %j) {
    %y = math.atan %s : f32
    attn.yield %y : f32
  } : (tensor<5x8xf32>, tensor<5x8xf32>, tensor<5x8xf32>) -> tensor<5x8xf32>
  return %o : tensor<5x8xf32>
}

// -----

func.func @remainder(%q: tensor<5x8xf32>) -> tensor<5x8xf32> {
  // expected-error@+1 {{expects a score function that this target has vector code for, but it has 'arith.remf'}}
  %o = attn.sdpa %q, %q, %q scale 0.5 score_mod (%s: f32, %b, %h, %i, %j) {
    %y = arith.remf %s, %s : f32
    attn.yield %y : f32
  } : (tensor<5x8xf32>, tensor<5x8xf32>, tensor<5x8xf32>) -> tensor<5x8xf32>
  return %o : tensor<5x8xf32>
}

// -----

func.func @wide(%q: tensor<5x8xf32>) -> tensor<5x8xf32> {
  %o = attn.sdpa %q, %q, %q scale 0.5 score_mod (%s: f32, %b, %h, %i, %j) {
    %x = arith.extf %s : f32 to f64
    %z = math.tanh %x : f64
    %y = arith.truncf %z : f64 to f32
    attn.yield %y : f32
  } : (tensor<5x8xf32>, tensor<5x8xf32>, tensor<5x8xf32>) -> tensor<5x8xf32>
  return %o : tensor<5x8xf32>
}

// -----

func.func @narrow_table(%q: tensor<5x8xf32>, %table: tensor<5xf16>) -> tensor<5x8xf32> {
  %o = attn.sdpa %q, %q, %q scale 0.5 score_mod (%s: f32, %b, %h, %i, %j) with (%t = %table : tensor<5xf16>) {
    %n = tensor.extract %t[%j] : tensor<5xf16>
    %x = arith.extf %n : f16 to f32
    %y = arith.addf %s, %x : f32
    attn.yield %y : f32
  } : (tensor<5x8xf32>, tensor<5x8xf32>, tensor<5x8xf32>) -> tensor<5x8xf32>
  return %o : tensor<5x8xf32>
}

// -----

func.func @narrow_sum(%q: tensor<5x8xf32>, %table: tensor<5xf16>) -> tensor<5x8xf32> {
  // expected-error@+1 {{expects a score function to compute in f32 or f64 on this target, but 'arith.addf' gives 'f16'}}
  %o = attn.sdpa %q, %q, %q scale 0.5 score_mod (%s: f32, %b, %h, %i, %j) with (%t = %table : tensor<5xf16>) {
    %n = tensor.extract %t[%j] : tensor<5xf16>
    %m = arith.addf %n, %n : f16
    %x = arith.extf %m : f16 to f32
    %y = arith.addf %s, %x : f32
    attn.yield %y : f32
  } : (tensor<5x8xf32>, tensor<5x8xf32>, tensor<5x8xf32>) -> tensor<5x8xf32>
  return %o : tensor<5x8xf32>
}
