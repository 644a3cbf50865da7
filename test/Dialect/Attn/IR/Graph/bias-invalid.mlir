// RUN: attn-opt %s -split-input-file -verify-diagnostics
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What attn.bias rejects; the numbers are those of docs/Spec.md.

func.func @bias_c1_from_the_left(%s: tensor<2x4x5x6xf32>, %b: tensor<2x4xf32>) {
  // expected-error@+1 {{expects the bias to broadcast to the scores from the right, but got 'tensor<2x4xf32>' and 'tensor<2x4x5x6xf32>'}}
  %r = attn.bias %s, %b : tensor<2x4x5x6xf32>, tensor<2x4xf32>
  return
}

// -----

func.func @bias_c1_more_dimensions(%s: tensor<5x6xf32>, %b: tensor<1x5x6xf32>) {
  // expected-error@+1 {{expects the bias to broadcast to the scores from the right, but got 'tensor<1x5x6xf32>' and 'tensor<5x6xf32>'}}
  %r = attn.bias %s, %b : tensor<5x6xf32>, tensor<1x5x6xf32>
  return
}

// -----

func.func @bias_c2_other_element(%s: tensor<5x6xf32>, %b: tensor<5x6xf16>) {
  // expected-error@+1 {{expects scores and bias to have the same element type, but got 'f32' and 'f16'}}
  %r = attn.bias %s, %b : tensor<5x6xf32>, tensor<5x6xf16>
  return
}

// -----

func.func @bias_c3_other_result_type(%s: tensor<5x6xf32>, %b: tensor<5x6xf32>) {
  // expected-error@+1 {{failed to verify that all of {scores, result} have same type}}
  %r = "attn.bias"(%s, %b) : (tensor<5x6xf32>, tensor<5x6xf32>) -> tensor<?x6xf32>
  return
}
