// RUN: attn-opt %s -split-input-file -verify-diagnostics
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What attn.sigmoid rejects; the numbers are those of docs/Spec.md.

func.func @sigmoid_c1_rank_1(%s: tensor<6xf32>) {
  // expected-error@+1 {{expects the scores to have rank 2, 3 or 4, but got 'tensor<6xf32>'}}
  %w = attn.sigmoid %s : tensor<6xf32>
  return
}

// -----

func.func @sigmoid_c2_other_result_type(%s: tensor<5x6xf32>) {
  // expected-error@+1 {{requires the same type for all operands and results}}
  %w = "attn.sigmoid"(%s) : (tensor<5x6xf32>) -> tensor<5x6xf16>
  return
}
