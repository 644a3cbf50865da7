// RUN: attn-opt %s -split-input-file -verify-diagnostics
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What attn.merge_states rejects; the numbers are those of docs/Spec.md.

func.func @merge_states_c1_rank_1(%m: tensor<f32>, %l: tensor<f32>, %a: tensor<8xf32>) {
  // expected-error@+1 {{expects acc to have rank 2, 3 or 4, but got 'tensor<8xf32>'}}
  %r:3 = attn.merge_states %m, %l, %a with %m, %l, %a : tensor<f32>, tensor<8xf32>
  return
}

// -----

func.func @merge_states_c2_other_rank(%m: tensor<2x5xf32>, %l: tensor<2x5xf32>, %a: tensor<5x8xf32>) {
  // expected-error@+1 {{expects maximum and sum to have an element per row of acc, but got 'tensor<2x5xf32>' and 'tensor<5x8xf32>'}}
  %r:3 = attn.merge_states %m, %l, %a with %m, %l, %a : tensor<2x5xf32>, tensor<5x8xf32>
  return
}

// -----

func.func @merge_states_c2_other_rows(%m: tensor<2x6xf32>, %l: tensor<2x6xf32>, %a: tensor<2x5x8xf32>) {
  // expected-error@+1 {{expects maximum and sum to have an element per row of acc, but got 'tensor<2x6xf32>' and 'tensor<2x5x8xf32>'}}
  %r:3 = attn.merge_states %m, %l, %a with %m, %l, %a : tensor<2x6xf32>, tensor<2x5x8xf32>
  return
}

// -----

func.func @merge_states_c3_two_types(%m: tensor<5xf32>, %l: tensor<5xf32>, %a: tensor<5x8xf64>) {
  // expected-error@+1 {{expects maximum, sum and acc to be all of f32 or all of f64, but got 'f32' and 'f64'}}
  %r:3 = attn.merge_states %m, %l, %a with %m, %l, %a : tensor<5xf32>, tensor<5x8xf64>
  return
}

// -----

func.func @merge_states_c3_f16(%m: tensor<5xf16>, %l: tensor<5xf16>, %a: tensor<5x8xf16>) {
  // expected-error@+1 {{expects maximum, sum and acc to be all of f32 or all of f64, but got 'f16' and 'f16'}}
  %r:3 = attn.merge_states %m, %l, %a with %m, %l, %a : tensor<5xf16>, tensor<5x8xf16>
  return
}

// -----

func.func @merge_states_c4_other_sum(%m: tensor<5xf32>, %l: tensor<5xf32>, %a: tensor<5x8xf32>) {
  // expected-error@+1 {{failed to verify that all of {first_maximum, first_sum, second_maximum, second_sum, maximum, sum} have same type}}
  %r:3 = "attn.merge_states"(%m, %l, %a, %m, %l, %a) : (tensor<5xf32>, tensor<5xf32>, tensor<5x8xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5x8xf32>) -> (tensor<5xf32>, tensor<?xf32>, tensor<5x8xf32>)
  return
}

// -----

func.func @merge_states_c4_other_acc(%m: tensor<5xf32>, %l: tensor<5xf32>, %a: tensor<5x8xf32>) {
  // expected-error@+1 {{failed to verify that all of {first_acc, second_acc, acc} have same type}}
  %r:3 = "attn.merge_states"(%m, %l, %a, %m, %l, %a) : (tensor<5xf32>, tensor<5xf32>, tensor<5x8xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5x8xf32>) -> (tensor<5xf32>, tensor<5xf32>, tensor<?x8xf32>)
  return
}
