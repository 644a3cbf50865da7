// RUN: attn-opt %s -verify-diagnostics
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What attn.rope accepts; the numbers are those of docs/Spec.md.

func.func @rope_c1_rank_2(%x: tensor<?x8xf32>, %c: tensor<9x4xf32>) {
  %r = attn.rope %x, %c, %c : tensor<?x8xf32>, tensor<9x4xf32>
  return
}

func.func @rope_c2_same_type(%x: tensor<2x4x5x8xf32>, %c: tensor<9x4xf32>) {
  %r = attn.rope %x, %c, %c interleaved : tensor<2x4x5x8xf32>, tensor<9x4xf32>
  return
}

func.func @rope_c3_unknown_rows(%x: tensor<2x4x5x8xf32>, %c: tensor<?x4xf32>) {
  %r = attn.rope %x, %c, %c : tensor<2x4x5x8xf32>, tensor<?x4xf32>
  return
}

func.func @rope_c4_partial(%x: tensor<2x4x5x8xf32>, %c: tensor<9x3xf32>) {
  %r = attn.rope %x, %c, %c : tensor<2x4x5x8xf32>, tensor<9x3xf32>
  return
}

func.func @rope_c5_half_precision(%x: tensor<5x8xf16>, %c: tensor<9x4xf32>) {
  %r = attn.rope %x, %c, %c : tensor<5x8xf16>, tensor<9x4xf32>
  return
}

func.func @rope_c6_per_row(%x: tensor<2x4x5x8xf32>, %c: tensor<9x4xf32>, %p: tensor<5xi64>) {
  %r = attn.rope %x, %c, %c at %p : tensor<5xi64> : tensor<2x4x5x8xf32>, tensor<9x4xf32>
  return
}

func.func @rope_c6_per_batch_entry(%x: tensor<2x4x5x8xf32>, %c: tensor<9x4xf32>, %p: tensor<?x5xi32>) {
  %r = attn.rope %x, %c, %c at %p : tensor<?x5xi32> : tensor<2x4x5x8xf32>, tensor<9x4xf32>
  return
}
