// RUN: attn-opt %s -split-input-file -verify-diagnostics
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What attn.rope rejects; the numbers are those of docs/Spec.md.

func.func @rope_c1_rank_1(%x: tensor<8xf32>, %c: tensor<9x4xf32>) {
  // expected-error@+1 {{expects the input to have rank 2, 3 or 4, but got 'tensor<8xf32>'}}
  %r = attn.rope %x, %c, %c : tensor<8xf32>, tensor<9x4xf32>
  return
}

// -----

func.func @rope_c2_other_result_type(%x: tensor<2x4x5x8xf32>, %c: tensor<9x4xf32>) {
  // expected-error@+1 {{failed to verify that all of {input, result} have same type}}
  %r = "attn.rope"(%x, %c, %c) : (tensor<2x4x5x8xf32>, tensor<9x4xf32>, tensor<9x4xf32>) -> tensor<2x4x5x9xf32>
  return
}

// -----

func.func @rope_c3_tables_of_rank_3(%x: tensor<2x4x5x8xf32>, %c: tensor<1x9x4xf32>) {
  // expected-error@+1 {{expects cos and sin to be matrices with a known number of columns, but got 'tensor<1x9x4xf32>'}}
  %r = attn.rope %x, %c, %c : tensor<2x4x5x8xf32>, tensor<1x9x4xf32>
  return
}

// -----

func.func @rope_c3_unknown_columns(%x: tensor<2x4x5x8xf32>, %c: tensor<9x?xf32>) {
  // expected-error@+1 {{expects cos and sin to be matrices with a known number of columns, but got 'tensor<9x?xf32>'}}
  %r = attn.rope %x, %c, %c : tensor<2x4x5x8xf32>, tensor<9x?xf32>
  return
}

// -----

func.func @rope_c4_too_many_pairs(%x: tensor<2x4x5x8xf32>, %c: tensor<9x5xf32>) {
  // expected-error@+1 {{expects at most one column of cos and sin per two features, but got 5 and 8}}
  %r = attn.rope %x, %c, %c : tensor<2x4x5x8xf32>, tensor<9x5xf32>
  return
}

// -----

func.func @rope_c5_tables_of_f16(%x: tensor<2x4x5x8xf32>, %c: tensor<9x4xf16>) {
  // expected-error@+1 {{expects cos and sin of 'f32' for an input of 'f32', but got 'f16'}}
  %r = attn.rope %x, %c, %c : tensor<2x4x5x8xf32>, tensor<9x4xf16>
  return
}

// -----

func.func @rope_c5_tables_of_f64(%x: tensor<2x4x5x8xbf16>, %c: tensor<9x4xf64>) {
  // expected-error@+1 {{expects cos and sin of 'bf16' or 'f32' for an input of 'bf16', but got 'f64'}}
  %r = attn.rope %x, %c, %c : tensor<2x4x5x8xbf16>, tensor<9x4xf64>
  return
}

// -----

func.func @rope_c6_positions_of_floats(%x: tensor<2x4x5x8xf32>, %c: tensor<9x4xf32>, %p: tensor<5xf32>) {
  // expected-error@+1 {{expects positions of i32 or i64, one per row or per batch entry and row, but got 'tensor<5xf32>'}}
  %r = attn.rope %x, %c, %c at %p : tensor<5xf32> : tensor<2x4x5x8xf32>, tensor<9x4xf32>
  return
}

// -----

func.func @rope_c6_other_number_of_rows(%x: tensor<2x4x5x8xf32>, %c: tensor<9x4xf32>, %p: tensor<6xi32>) {
  // expected-error@+1 {{expects positions of i32 or i64, one per row or per batch entry and row, but got 'tensor<6xi32>'}}
  %r = attn.rope %x, %c, %c at %p : tensor<6xi32> : tensor<2x4x5x8xf32>, tensor<9x4xf32>
  return
}
