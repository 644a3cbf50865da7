// RUN: attn-opt %s -split-input-file -verify-diagnostics
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What attn.softmax rejects; the numbers are those of docs/Spec.md.

func.func @softmax_c1_rank_1(%s: tensor<6xf32>) {
  // expected-error@+1 {{expects the scores to have rank 2, 3 or 4, but got 'tensor<6xf32>'}}
  %r = attn.softmax %s : tensor<6xf32>
  return
}

// -----

func.func @softmax_c1_rank_5(%s: tensor<1x1x1x5x6xf32>) {
  // expected-error@+1 {{expects the scores to have rank 2, 3 or 4}}
  %r = attn.softmax %s : tensor<1x1x1x5x6xf32>
  return
}

// -----

func.func @softmax_c2_other_result_type(%s: tensor<5x6xf32>) {
  // expected-error@+1 {{failed to verify that all of {scores, weights} have same type}}
  %r = "attn.softmax"(%s) : (tensor<5x6xf32>) -> tensor<5x6xf16>
  return
}

// -----

func.func @softmax_c3_other_number_of_heads(%s: tensor<4x5x6xf32>, %t: tensor<5xf32>) {
  // expected-error@+1 {{expects sinks to have type 'tensor<4xf32>', but got 'tensor<5xf32>'}}
  %r = attn.softmax %s sinks %t : tensor<5xf32> : tensor<4x5x6xf32>
  return
}
