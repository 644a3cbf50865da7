// RUN: attn-opt %s -split-input-file -verify-diagnostics
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What attn.layer_norm rejects; the numbers are those of docs/Spec.md.

func.func @layer_norm_c1_rank_1(%x: tensor<8xf32>) {
  // expected-error@+1 {{expects the input to have rank 2, 3 or 4, but got 'tensor<8xf32>'}}
  %r = attn.layer_norm %x eps 1.0e-6 : tensor<8xf32>
  return
}

// -----

func.func @layer_norm_c2_other_result_type(%x: tensor<5x8xf32>) {
  // expected-error@+1 {{failed to verify that all of {input, result} have same type}}
  %r = "attn.layer_norm"(%x) <{eps = 1.0e-6 : f64, operandSegmentSizes = array<i32: 1, 0, 0>}> : (tensor<5x8xf32>) -> tensor<5x9xf32>
  return
}

// -----

func.func @layer_norm_c3_negative(%x: tensor<5x8xf32>) {
  // expected-error@+1 {{expects a finite eps of at least 0, but got -1}}
  %r = attn.layer_norm %x eps -1.0 : tensor<5x8xf32>
  return
}

// -----

func.func @layer_norm_c4_weight_of_rank_2(%x: tensor<5x8xf32>, %w: tensor<1x8xf32>) {
  // expected-error@+1 {{expects the weight to have rank 1, but got 'tensor<1x8xf32>'}}
  %r = attn.layer_norm %x, %w eps 1.0e-6 : tensor<5x8xf32>, tensor<1x8xf32>
  return
}

// -----

func.func @layer_norm_c4_other_number_of_features(%x: tensor<5x8xf32>, %w: tensor<7xf32>) {
  // expected-error@+1 {{expects a weight per feature, but got 7 and 8}}
  %r = attn.layer_norm %x, %w eps 1.0e-6 : tensor<5x8xf32>, tensor<7xf32>
  return
}

// -----

func.func @layer_norm_c4_other_element(%x: tensor<5x8xf32>, %w: tensor<8xf64>) {
  // expected-error@+1 {{expects input and weight to have the same element type, but got 'f32' and 'f64'}}
  %r = attn.layer_norm %x, %w eps 1.0e-6 : tensor<5x8xf32>, tensor<8xf64>
  return
}

// -----

func.func @layer_norm_c5_other_number_of_features(%x: tensor<5x8xf32>, %w: tensor<8xf32>, %b: tensor<7xf32>) {
  // expected-error@+1 {{expects a bias per feature, but got 7 and 8}}
  %r = attn.layer_norm %x, %w, %b eps 1.0e-6 : tensor<5x8xf32>, tensor<8xf32>, tensor<7xf32>
  return
}

// -----

func.func @layer_norm_c5_bias_alone(%x: tensor<5x8xf32>, %b: tensor<8xf32>) {
  // expected-error@+1 {{expects a weight where there is a bias}}
  %r = "attn.layer_norm"(%x, %b) <{eps = 1.0e-6 : f64, operandSegmentSizes = array<i32: 1, 0, 1>}> : (tensor<5x8xf32>, tensor<8xf32>) -> tensor<5x8xf32>
  return
}
