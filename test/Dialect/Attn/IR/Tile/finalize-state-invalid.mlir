// RUN: attn-opt %s -split-input-file -verify-diagnostics
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What attn.finalize_state rejects; the numbers are those of docs/Spec.md.

func.func @finalize_state_c1_rank_1(%m: tensor<f32>, %l: tensor<f32>, %a: tensor<8xf32>) {
  // expected-error@+1 {{expects acc to have rank 2, 3 or 4, but got 'tensor<8xf32>'}}
  %r = attn.finalize_state %m, %l, %a : (tensor<f32>, tensor<f32>, tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @finalize_state_c2_other_rows(%m: tensor<6xf32>, %l: tensor<6xf32>, %a: tensor<5x8xf32>) {
  // expected-error@+1 {{expects maximum and sum to have an element per row of acc, but got 'tensor<6xf32>' and 'tensor<5x8xf32>'}}
  %r = attn.finalize_state %m, %l, %a : (tensor<6xf32>, tensor<6xf32>, tensor<5x8xf32>) -> tensor<5x8xf32>
  return
}

// -----

func.func @finalize_state_c3_two_types(%m: tensor<5xf64>, %l: tensor<5xf64>, %a: tensor<5x8xf32>) {
  // expected-error@+1 {{expects maximum, sum and acc to be all of f32 or all of f64, but got 'f64' and 'f32'}}
  %r = attn.finalize_state %m, %l, %a : (tensor<5xf64>, tensor<5xf64>, tensor<5x8xf32>) -> tensor<5x8xf32>
  return
}

// -----

func.func @finalize_state_c4_other_columns(%m: tensor<5xf32>, %l: tensor<5xf32>, %a: tensor<5x8xf32>) {
  // expected-error@+1 {{expects out to have the shape of acc, but got 'tensor<5x9xf32>' and 'tensor<5x8xf32>'}}
  %r = attn.finalize_state %m, %l, %a : (tensor<5xf32>, tensor<5xf32>, tensor<5x8xf32>) -> tensor<5x9xf32>
  return
}

// -----

func.func @finalize_state_c4_other_rank(%m: tensor<5xf32>, %l: tensor<5xf32>, %a: tensor<5x8xf32>) {
  // expected-error@+1 {{expects out to have the shape of acc}}
  %r = attn.finalize_state %m, %l, %a : (tensor<5xf32>, tensor<5xf32>, tensor<5x8xf32>) -> tensor<1x5x8xf32>
  return
}

// -----

func.func @finalize_state_c5_narrow_state(%m: tensor<5xf32>, %l: tensor<5xf32>, %a: tensor<5x8xf32>) {
  // expected-error@+1 {{expects a state of 'f64' for an out of 'f64', but got 'f32'}}
  %r = attn.finalize_state %m, %l, %a : (tensor<5xf32>, tensor<5xf32>, tensor<5x8xf32>) -> tensor<5x8xf64>
  return
}

// -----

func.func @finalize_state_c5_wide_state(%m: tensor<5xf64>, %l: tensor<5xf64>, %a: tensor<5x8xf64>) {
  // expected-error@+1 {{expects a state of 'f32' for an out of 'f16', but got 'f64'}}
  %r = attn.finalize_state %m, %l, %a : (tensor<5xf64>, tensor<5xf64>, tensor<5x8xf64>) -> tensor<5x8xf16>
  return
}

// -----

func.func @finalize_state_c6_lse_of_other_type(%m: tensor<5xf32>, %l: tensor<5xf32>, %a: tensor<5x8xf32>) {
  // expected-error@+1 {{expects lse to have the type of maximum 'tensor<5xf32>', but got 'tensor<5xf64>'}}
  %r:2 = attn.finalize_state %m, %l, %a : (tensor<5xf32>, tensor<5xf32>, tensor<5x8xf32>) -> (tensor<5x8xf32>, tensor<5xf64>)
  return
}
