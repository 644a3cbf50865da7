// RUN: attn-opt %s -split-input-file -verify-diagnostics
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What attn.mask_fn rejects; the numbers are those of docs/Spec.md.

func.func @mask_fn_c1_rank_1(%s: tensor<6xf32>) {
  // expected-error@+1 {{expects the scores to have rank 2, 3 or 4, but got 'tensor<6xf32>'}}
  %r = attn.mask_fn %s (%b, %h, %q, %k) {
    %t = arith.cmpi sle, %k, %q : index
    attn.yield %t : i1
  } : tensor<6xf32>
  return
}

// -----

func.func @mask_fn_c2_three_arguments(%s: tensor<5x6xf32>) {
  // expected-error@+1 {{expects (%b, %h, %q, %k), but got 3 arguments}}
  %r = attn.mask_fn %s (%h, %q, %k) {
    %t = arith.cmpi sle, %k, %q : index
    attn.yield %t : i1
  } : tensor<5x6xf32>
  return
}

// -----

func.func @mask_fn_c2_integer_arguments(%s: tensor<5x6xf32>) {
  // expected-error@+1 {{expects a predicate of one block with arguments ('index', 'index', 'index', 'index'), but got ('i32', 'i32', 'i32', 'i32')}}
  %r = "attn.mask_fn"(%s) ({
  ^bb0(%b: i32, %h: i32, %q: i32, %k: i32):
    %t = arith.cmpi sle, %k, %q : i32
    attn.yield %t : i1
  }) : (tensor<5x6xf32>) -> tensor<5x6xf32>
  return
}

// -----

func.func @mask_fn_c3_complex(%s: tensor<2x4x5x6xf32>, %x: tensor<4xcomplex<f32>>) {
  // expected-error@+1 {{expects a predicate to capture tensors of numbers, but got 'tensor<4xcomplex<f32>>'}}
  %r = attn.mask_fn %s (%b, %h, %q, %k) with (%t0 = %x : tensor<4xcomplex<f32>>) {
    %t = arith.cmpi sle, %k, %q : index
    attn.yield %t : i1
  } : tensor<2x4x5x6xf32>
  return
}

// -----

func.func @mask_fn_c4_branch(%s: tensor<2x4x5x6xf32>) {
  // expected-error@+1 {{expects a predicate without branches and side effects, but it has 'scf.if'}}
  %r = attn.mask_fn %s (%b, %h, %q, %k) {
    %c = arith.cmpi sle, %k, %q : index
    %t = scf.if %c -> i1 {
      scf.yield %c : i1
    } else {
      scf.yield %c : i1
    }
    attn.yield %t : i1
  } : tensor<2x4x5x6xf32>
  return
}

// -----

func.func @mask_fn_c4_call(%s: tensor<2x4x5x6xf32>) {
  // expected-error@+1 {{expects a predicate without branches and side effects, but it has 'func.call'}}
  %r = attn.mask_fn %s (%b, %h, %q, %k) {
    %t = func.call @f() : () -> i1
    attn.yield %t : i1
  } : tensor<2x4x5x6xf32>
  return
}
func.func private @f() -> i1

// -----

func.func @mask_fn_c5_dim(%s: tensor<2x4x5x6xf32>, %x: tensor<4xi32>) {
  // expected-error@+1 {{expects a predicate of arith and math ops on numbers and tensor.extract of what it captures, but it has 'tensor.dim'}}
  %r = attn.mask_fn %s (%b, %h, %q, %k) with (%t0 = %x : tensor<4xi32>) {
    %d = tensor.dim %t0, %b : tensor<4xi32>
    %t = arith.cmpi slt, %k, %d : index
    attn.yield %t : i1
  } : tensor<2x4x5x6xf32>
  return
}

// -----

func.func @mask_fn_c6_run_time_divisor(%s: tensor<2x4x5x6xf32>) {
  // expected-error@+1 {{expects integers in a predicate to be divided by constants other than 0 (and -1), but it has 'arith.divsi'}}
  %r = attn.mask_fn %s (%b, %h, %q, %k) {
    %d = arith.divsi %q, %k : index
    %t = arith.cmpi eq, %d, %b : index
    attn.yield %t : i1
  } : tensor<2x4x5x6xf32>
  return
}

// -----

func.func @mask_fn_c7_index(%s: tensor<2x4x5x6xf32>) {
  // expected-error@+1 {{expects a predicate that ends with attn.yield of an i1}}
  %r = attn.mask_fn %s (%b, %h, %q, %k) {
    attn.yield %q : index
  } : tensor<2x4x5x6xf32>
  return
}

// -----

func.func @mask_fn_c8_other_type(%s: tensor<5x6xf32>) {
  // expected-error@+1 {{failed to verify that all of {scores, result} have same type}}
  %r = "attn.mask_fn"(%s) ({
  ^bb0(%b: index, %h: index, %q: index, %k: index):
    %t = arith.cmpi sle, %k, %q : index
    attn.yield %t : i1
  }) : (tensor<5x6xf32>) -> tensor<5x7xf32>
  return
}

// -----

func.func @mask_fn_c7_empty(%s: tensor<5x6xf32>) {
  // expected-error@+1 {{expects a predicate that ends with attn.yield of an i1}}
  %r = attn.mask_fn %s (%b, %h, %i, %j) {
  } : tensor<5x6xf32>
  return
}

// -----

func.func @mask_fn_c7_no_end(%s: tensor<5x6xf32>) {
  // expected-error@+1 {{expects a predicate that ends with attn.yield of an i1}}
  %r = attn.mask_fn %s (%b, %h, %i, %j) {
    %y = arith.addi %i, %j : index
  } : tensor<5x6xf32>
  return
}
