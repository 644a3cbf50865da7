// RUN: attn-opt %s -verify-diagnostics
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What attn.sigmoid accepts; the numbers are those of docs/Spec.md.

func.func @sigmoid_c1_rank_4(%s: tensor<?x2x?x?xf32>) {
  %w = attn.sigmoid %s : tensor<?x2x?x?xf32>
  return
}

func.func @sigmoid_c2_one_type(%s: tensor<5x6xf64>) {
  %w = attn.sigmoid %s : tensor<5x6xf64>
  return
}
