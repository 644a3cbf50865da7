// RUN: attn-opt %s -split-input-file -verify-diagnostics
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What attn.score_mod rejects; the numbers are those of docs/Spec.md.

func.func @score_mod_c1_rank_1(%s: tensor<5xf32>) {
  // expected-error@+1 {{expects the scores to have rank 2, 3 or 4, but got 'tensor<5xf32>'}}
  %r = attn.score_mod %s (%x: f32, %b, %h, %q, %k) {
    attn.yield %x : f32
  } : tensor<5xf32>
  return
}

// -----

func.func @score_mod_c2_other_result_type(%s: tensor<4x5x6xf32>) {
  // expected-error@+1 {{failed to verify that all of {scores, result} have same type}}
  %r = "attn.score_mod"(%s) ({
  ^bb0(%x: f32, %b: index, %h: index, %q: index, %k: index):
    attn.yield %x : f32
  }) : (tensor<4x5x6xf32>) -> tensor<4x5x7xf32>
  return
}

// -----

func.func @score_mod_c3_no_function(%s: tensor<4x5x6xf32>) {
  // expected-error@+1 {{expects a score function}}
  %r = "attn.score_mod"(%s) ({}) : (tensor<4x5x6xf32>) -> tensor<4x5x6xf32>
  return
}

// -----

func.func @score_mod_c3_score_of_other_type(%s: tensor<4x5x6xf32>) {
  // expected-error@+1 {{expects a score function of one block with arguments ('f32', 'index', 'index', 'index', 'index'), but got ('f64'}}
  %r = attn.score_mod %s (%x: f64, %b, %h, %q, %k) {
    attn.yield %x : f64
  } : tensor<4x5x6xf32>
  return
}

// -----

func.func @score_mod_c3_argument_missing(%s: tensor<4x5x6xf32>) {
  // expected-error@+1 {{expects a score function of one block with arguments}}
  %r = "attn.score_mod"(%s) ({
  ^bb0(%x: f32, %b: index, %h: index, %q: index):
    attn.yield %x : f32
  }) : (tensor<4x5x6xf32>) -> tensor<4x5x6xf32>
  return
}

// -----

func.func @score_mod_c4_captured_state(%s: tensor<4x5x6xf32>, %t: !attn.state<16 x 4 x 8, f32>) {
  // expected-error@+1 {{expects a score function to capture tensors and numbers, but got '!attn.state<16 x 4 x 8, f32>'}}
  %r = attn.score_mod %s (%x: f32, %b, %h, %q, %k) with (%u = %t : !attn.state<16 x 4 x 8, f32>) {
    attn.yield %x : f32
  } : tensor<4x5x6xf32>
  return
}

// -----

func.func @score_mod_c5_side_effect(%s: tensor<4x5x6xf32>, %t: memref<4xf32>) {
  // expected-error@+1 {{expects a score function without side effects, but it has 'memref.store'}}
  %r = attn.score_mod %s (%x: f32, %b, %h, %q, %k) with (%u = %t : memref<4xf32>) {
    memref.store %x, %u[%h] : memref<4xf32>
    attn.yield %x : f32
  } : tensor<4x5x6xf32>
  return
}

// -----

func.func private @f(f32) -> f32
func.func @score_mod_c5_call(%s: tensor<4x5x6xf32>) {
  // expected-error@+1 {{expects a score function without side effects, but it has 'func.call'}}
  %r = attn.score_mod %s (%x: f32, %b, %h, %q, %k) {
    %y = func.call @f(%x) : (f32) -> f32
    attn.yield %y : f32
  } : tensor<4x5x6xf32>
  return
}

// -----

func.func @score_mod_c5_branch(%s: tensor<4x5x6xf32>) {
  // expected-error@+1 {{expects a score function without branches (arith.select stands for them), but it has 'scf.if'}}
  %r = attn.score_mod %s (%x: f32, %b, %h, %q, %k) {
    %c = arith.cmpi slt, %q, %k : index
    %y = scf.if %c -> f32 {
      scf.yield %x : f32
    } else {
      scf.yield %x : f32
    }
    attn.yield %y : f32
  } : tensor<4x5x6xf32>
  return
}

// -----

func.func @score_mod_c6_vector(%s: tensor<4x5x6xf32>) {
  // expected-error@+1 {{expects a score function of arith and math ops on scalars and tensor.extract of what it captures, but it has 'vector.broadcast'}}
  %r = attn.score_mod %s (%x: f32, %b, %h, %q, %k) {
    %v = vector.broadcast %x : f32 to vector<4xf32>
    attn.yield %x : f32
  } : tensor<4x5x6xf32>
  return
}

// -----

func.func @score_mod_c7_divisor_not_constant(%s: tensor<4x5x6xf32>) {
  // expected-error@+1 {{expects integers in a score function to be divided by constants other than 0 (and -1), but it has 'arith.divsi'}}
  %r = attn.score_mod %s (%x: f32, %b, %h, %q, %k) {
    %d = arith.divsi %q, %k : index
    attn.yield %x : f32
  } : tensor<4x5x6xf32>
  return
}

// -----

func.func @score_mod_c8_yields_an_index(%s: tensor<4x5x6xf32>) {
  // expected-error@+1 {{expects a score function that ends with attn.yield of a value of 'f32', but got 'attn.yield' of ('index')}}
  %r = attn.score_mod %s (%x: f32, %b, %h, %q, %k) {
    attn.yield %q : index
  } : tensor<4x5x6xf32>
  return
}

// -----

func.func @score_mod_c4_empty(%s: tensor<5x6xf32>, %t: tensor<3x0xf32>) {
  // expected-error@+1 {{expects a score function to capture tensors with an element, but got 'tensor<3x0xf32>'}}
  %r = attn.score_mod %s (%x: f32, %b, %h, %i, %j) with (%u = %t : tensor<3x0xf32>) {
    attn.yield %x : f32
  } : tensor<5x6xf32>
  return
}

// -----

func.func @score_mod_c8_empty(%s: tensor<5x6xf32>) {
  // expected-error@+1 {{expects a score function that ends with attn.yield of a value of 'f32'}}
  %r = attn.score_mod %s (%x: f32, %b, %h, %i, %j) {
  } : tensor<5x6xf32>
  return
}

// -----

func.func @score_mod_c8_no_end(%s: tensor<5x6xf32>) {
  // expected-error@+1 {{expects a score function that ends with attn.yield of a value of 'f32'}}
  %r = attn.score_mod %s (%x: f32, %b, %h, %i, %j) {
    %y = arith.addf %x, %x : f32
  } : tensor<5x6xf32>
  return
}
