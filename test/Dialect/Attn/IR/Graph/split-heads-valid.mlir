// RUN: attn-opt %s -verify-diagnostics
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What attn.split_heads accepts; the numbers are those of docs/Spec.md.

func.func @split_heads_c1_rank_2(%x: tensor<5x8xf32>) {
  %r = attn.split_heads %x into 2 : tensor<5x8xf32> -> tensor<2x5x4xf32>
  return
}

func.func @split_heads_c1_rank_3(%x: tensor<2x5x8xf32>) {
  %r = attn.split_heads %x into 2 : tensor<2x5x8xf32> -> tensor<2x2x5x4xf32>
  return
}

func.func @split_heads_c2_one_more_dimension(%x: tensor<5x8xf32>) {
  %r = attn.split_heads %x into 2 : tensor<5x8xf32> -> tensor<2x5x4xf32>
  return
}

func.func @split_heads_c3_static_heads(%x: tensor<?x?xf32>) {
  %r = attn.split_heads %x into 2 : tensor<?x?xf32> -> tensor<2x?x4xf32>
  return
}

func.func @split_heads_c4_product(%x: tensor<5x6xf32>) {
  %r = attn.split_heads %x into 2 : tensor<5x6xf32> -> tensor<2x5x3xf32>
  return
}

func.func @split_heads_c5_unknown_length(%x: tensor<?x8xf32>) {
  %r = attn.split_heads %x into 2 : tensor<?x8xf32> -> tensor<2x5x4xf32>
  return
}

func.func @split_heads_c6_same_element(%x: tensor<5x8xf16>) {
  %r = attn.split_heads %x into 2 : tensor<5x8xf16> -> tensor<2x5x4xf16>
  return
}

func.func @split_heads_c7_heads_after_into(%x: tensor<5x8xf32>) {
  %r = attn.split_heads %x into 4 : tensor<5x8xf32> -> tensor<4x5x2xf32>
  return
}
