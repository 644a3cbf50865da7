// RUN: attn-opt %s -split-input-file -verify-diagnostics
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What attn.dropout rejects; the numbers are those of docs/Spec.md.

func.func @dropout_c1_rank_1(%w: tensor<6xf32>, %x: tensor<i64>) {
  // expected-error@+1 {{expects the weights to have rank 2, 3 or 4, but got 'tensor<6xf32>'}}
  %d = attn.dropout %w by 0.5 seed %x : tensor<6xf32>, tensor<i64>
  return
}

// -----

func.func @dropout_c2_everything(%w: tensor<5x6xf32>, %x: tensor<i64>) {
  // expected-error@+1 {{expects a probability of at least 0 and below 1, but got 1.000000e+00}}
  %d = attn.dropout %w by 1.0 seed %x : tensor<5x6xf32>, tensor<i64>
  return
}

// -----

func.func @dropout_c2_negative(%w: tensor<5x6xf32>, %x: tensor<i64>) {
  // expected-error@+1 {{expects a probability of at least 0 and below 1, but got -5.000000e-01}}
  %d = attn.dropout %w by -0.5 seed %x : tensor<5x6xf32>, tensor<i64>
  return
}

// -----

func.func @dropout_c3_seed(%w: tensor<5x6xf32>, %x: tensor<1xi64>) {
  // expected-error@+1 {{expects a seed of type tensor<i64>, but got 'tensor<1xi64>'}}
  %d = attn.dropout %w by 0.5 seed %x : tensor<5x6xf32>, tensor<1xi64>
  return
}

// -----

func.func @dropout_c3_narrow_seed(%w: tensor<5x6xf32>, %x: tensor<i32>) {
  // expected-error@+1 {{expects a seed of type tensor<i64>, but got 'tensor<i32>'}}
  %d = attn.dropout %w by 0.5 seed %x : tensor<5x6xf32>, tensor<i32>
  return
}

// -----

func.func @dropout_c4_other_result(%w: tensor<5x6xf32>, %x: tensor<i64>) {
  // expected-error@+1 {{failed to verify that all of {weights, result} have same type}}
  %d = "attn.dropout"(%w, %x) {probability = 0.5} : (tensor<5x6xf32>, tensor<i64>) -> tensor<5x6xf64>
  return
}
