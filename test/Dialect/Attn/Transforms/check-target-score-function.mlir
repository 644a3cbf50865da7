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
  // expected-error@+1 {{expects floats of f32 in a score function on this target, but 'arith.extf' gives 'f64'}}
  %o = attn.sdpa %q, %q, %q scale 0.5 score_mod (%s: f32, %b, %h, %i, %j) {
    %x = arith.extf %s : f32 to f64
    %y = arith.truncf %x : f64 to f32
    attn.yield %y : f32
  } : (tensor<5x8xf32>, tensor<5x8xf32>, tensor<5x8xf32>) -> tensor<5x8xf32>
  return %o : tensor<5x8xf32>
}
