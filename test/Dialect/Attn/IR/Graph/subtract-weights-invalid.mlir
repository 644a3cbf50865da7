// RUN: attn-opt %s -split-input-file -verify-diagnostics
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What attn.subtract_weights rejects; the numbers are those of docs/Spec.md.

func.func @subtract_weights_c1_rank_1(%a: tensor<6xf32>, %l: tensor<f32>) {
  // expected-error@+1 {{expects the weights to have rank 2, 3 or 4, but got 'tensor<6xf32>'}}
  %w = attn.subtract_weights %a, %a by %l : tensor<6xf32>, tensor<f32>
  return
}

// -----

func.func @subtract_weights_c2_other_type(%a: tensor<5x6xf32>, %b: tensor<5x7xf32>, %l: tensor<f32>) {
  // expected-error@+1 {{failed to verify that all of {first, second, weights} have same type}}
  %w = "attn.subtract_weights"(%a, %b, %l) : (tensor<5x6xf32>, tensor<5x7xf32>, tensor<f32>) -> tensor<5x6xf32>
  return
}

// -----

func.func @subtract_weights_c3_other_heads(%a: tensor<2x4x5x6xf32>, %l: tensor<2xf32>) {
  // expected-error@+1 {{expects lambda to be one number of 'f32', or one per head (4), but got 'tensor<2xf32>'}}
  %w = attn.subtract_weights %a, %a by %l : tensor<2x4x5x6xf32>, tensor<2xf32>
  return
}

// -----

func.func @subtract_weights_c3_matrix(%a: tensor<4x5x6xf32>, %l: tensor<4x1xf32>) {
  // expected-error@+1 {{expects lambda to be one number of 'f32', or one per head (4), but got 'tensor<4x1xf32>'}}
  %w = attn.subtract_weights %a, %a by %l : tensor<4x5x6xf32>, tensor<4x1xf32>
  return
}

// -----

func.func @subtract_weights_c3_other_element(%a: tensor<4x5x6xf32>, %l: tensor<4xf16>) {
  // expected-error@+1 {{expects lambda to be one number of 'f32', or one per head (4), but got 'tensor<4xf16>'}}
  %w = attn.subtract_weights %a, %a by %l : tensor<4x5x6xf32>, tensor<4xf16>
  return
}

// -----

func.func @subtract_weights_c3_heads_of_rank_2(%a: tensor<5x6xf32>, %l: tensor<4xf32>) {
  // expected-error@+1 {{expects lambda to be one number of 'f32', or one per head (1), but got 'tensor<4xf32>'}}
  %w = attn.subtract_weights %a, %a by %l : tensor<5x6xf32>, tensor<4xf32>
  return
}
