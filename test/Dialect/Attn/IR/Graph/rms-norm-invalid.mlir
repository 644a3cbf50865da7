// RUN: attn-opt %s -split-input-file -verify-diagnostics
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What attn.rms_norm rejects; the numbers are those of docs/Spec.md.

func.func @rms_norm_c1_rank_1(%x: tensor<8xf32>) {
  // expected-error@+1 {{expects the input to have rank 2, 3 or 4, but got 'tensor<8xf32>'}}
  %r = attn.rms_norm %x eps 1.0e-6 : tensor<8xf32>
  return
}

// -----

func.func @rms_norm_c2_other_result_type(%x: tensor<5x8xf32>) {
  // expected-error@+1 {{failed to verify that all of {input, result} have same type}}
  %r = "attn.rms_norm"(%x) <{eps = 1.0e-6 : f64}> : (tensor<5x8xf32>) -> tensor<5x9xf32>
  return
}

// -----

func.func @rms_norm_c3_negative(%x: tensor<5x8xf32>) {
  // expected-error@+1 {{expects a finite eps of at least 0, but got -1}}
  %r = attn.rms_norm %x eps -1.0 : tensor<5x8xf32>
  return
}

// -----

func.func @rms_norm_c4_weight_of_rank_2(%x: tensor<5x8xf32>, %w: tensor<1x8xf32>) {
  // expected-error@+1 {{expects the weight to have rank 1, but got 'tensor<1x8xf32>'}}
  %r = attn.rms_norm %x, %w eps 1.0e-6 : tensor<5x8xf32>, tensor<1x8xf32>
  return
}

// -----

func.func @rms_norm_c4_other_number_of_features(%x: tensor<5x8xf32>, %w: tensor<7xf32>) {
  // expected-error@+1 {{expects a weight per feature, but got 7 and 8}}
  %r = attn.rms_norm %x, %w eps 1.0e-6 : tensor<5x8xf32>, tensor<7xf32>
  return
}

// -----

func.func @rms_norm_c4_other_element(%x: tensor<5x8xf32>, %w: tensor<8xf64>) {
  // expected-error@+1 {{expects input and weight to have the same element type, but got 'f32' and 'f64'}}
  %r = attn.rms_norm %x, %w eps 1.0e-6 : tensor<5x8xf32>, tensor<8xf64>
  return
}
