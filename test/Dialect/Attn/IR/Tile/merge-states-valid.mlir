// RUN: attn-opt %s -verify-diagnostics
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What attn.merge_states accepts; the numbers are those of docs/Spec.md.

func.func @merge_states_c1_rank_2(%m: tensor<5xf32>, %l: tensor<5xf32>, %a: tensor<5x8xf32>) {
  %r:3 = attn.merge_states %m, %l, %a with %m, %l, %a : tensor<5xf32>, tensor<5x8xf32>
  return
}

func.func @merge_states_c1_rank_4(%m: tensor<?x2x?xf32>, %l: tensor<?x2x?xf32>, %a: tensor<?x2x?x8xf32>) {
  %r:3 = attn.merge_states %m, %l, %a with %m, %l, %a : tensor<?x2x?xf32>, tensor<?x2x?x8xf32>
  return
}

func.func @merge_states_c2_unknown_rows(%m: tensor<2x?xf32>, %l: tensor<2x?xf32>, %a: tensor<?x5x?xf32>) {
  %r:3 = attn.merge_states %m, %l, %a with %m, %l, %a : tensor<2x?xf32>, tensor<?x5x?xf32>
  return
}

func.func @merge_states_c3_f64(%m: tensor<5xf64>, %l: tensor<5xf64>, %a: tensor<5x8xf64>) {
  %r:3 = attn.merge_states %m, %l, %a with %m, %l, %a : tensor<5xf64>, tensor<5x8xf64>
  return
}

func.func @merge_states_c4_one_type(%m: tensor<5xf32>, %l: tensor<5xf32>, %a: tensor<5x8xf32>) {
  %r:3 = attn.merge_states %m, %l, %a with %m, %l, %a : tensor<5xf32>, tensor<5x8xf32>
  return
}
