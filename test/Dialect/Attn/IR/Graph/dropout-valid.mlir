// RUN: attn-opt %s -verify-diagnostics
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What attn.dropout accepts; the numbers are those of docs/Spec.md.

func.func @dropout_c1_rank_4(%w: tensor<?x2x?x?xf32>, %x: tensor<i64>) {
  %d = attn.dropout %w by 0.1 seed %x : tensor<?x2x?x?xf32>, tensor<i64>
  return
}

func.func @dropout_c2_nothing(%w: tensor<5x6xf32>, %x: tensor<i64>) {
  %d = attn.dropout %w by 0.0 seed %x : tensor<5x6xf32>, tensor<i64>
  return
}

func.func @dropout_c3_any_seed(%w: tensor<5x6xf32>) {
  %x = arith.constant dense<-1> : tensor<i64>
  %d = attn.dropout %w by 0.999 seed %x : tensor<5x6xf32>, tensor<i64>
  return
}

func.func @dropout_c4_one_type(%w: tensor<5x6xf64>, %x: tensor<i64>) {
  %d = attn.dropout %w by 0.5 seed %x : tensor<5x6xf64>, tensor<i64>
  return
}
