// RUN: attn-opt %s -verify-diagnostics
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What attn.finalize_state accepts; the numbers are those of docs/Spec.md.

func.func @finalize_state_c1_rank_3(%m: tensor<2x?xf32>, %l: tensor<2x?xf32>, %a: tensor<2x?x8xf32>) {
  %r = attn.finalize_state %m, %l, %a : (tensor<2x?xf32>, tensor<2x?xf32>, tensor<2x?x8xf32>) -> tensor<2x?x8xf32>
  return
}

func.func @finalize_state_c2_unknown_rows(%m: tensor<?xf32>, %l: tensor<?xf32>, %a: tensor<5x?xf32>) {
  %r = attn.finalize_state %m, %l, %a : (tensor<?xf32>, tensor<?xf32>, tensor<5x?xf32>) -> tensor<?x8xf32>
  return
}

func.func @finalize_state_c3_f64(%m: tensor<5xf64>, %l: tensor<5xf64>, %a: tensor<5x8xf64>) {
  %r = attn.finalize_state %m, %l, %a : (tensor<5xf64>, tensor<5xf64>, tensor<5x8xf64>) -> tensor<5x8xf64>
  return
}

func.func @finalize_state_c4_unknown_columns(%m: tensor<5xf32>, %l: tensor<5xf32>, %a: tensor<5x8xf32>) {
  %r = attn.finalize_state %m, %l, %a : (tensor<5xf32>, tensor<5xf32>, tensor<5x8xf32>) -> tensor<5x?xf32>
  return
}

func.func @finalize_state_c5_f16(%m: tensor<5xf32>, %l: tensor<5xf32>, %a: tensor<5x8xf32>) {
  %r = attn.finalize_state %m, %l, %a : (tensor<5xf32>, tensor<5xf32>, tensor<5x8xf32>) -> tensor<5x8xf16>
  return
}

func.func @finalize_state_c6_lse(%m: tensor<5xf32>, %l: tensor<5xf32>, %a: tensor<5x8xf32>) {
  %r:2 = attn.finalize_state %m, %l, %a : (tensor<5xf32>, tensor<5xf32>, tensor<5x8xf32>) -> (tensor<5x8xf32>, tensor<5xf32>)
  return
}
