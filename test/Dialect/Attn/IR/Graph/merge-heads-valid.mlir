// RUN: attn-opt %s -verify-diagnostics
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What attn.merge_heads accepts; the numbers are those of docs/Spec.md.

func.func @merge_heads_c1_rank_3(%x: tensor<2x5x4xf32>) {
  %r = attn.merge_heads %x : tensor<2x5x4xf32> -> tensor<5x8xf32>
  return
}

func.func @merge_heads_c1_rank_4(%x: tensor<?x2x5x4xf32>) {
  %r = attn.merge_heads %x : tensor<?x2x5x4xf32> -> tensor<?x5x8xf32>
  return
}

func.func @merge_heads_c2_one_dimension_less(%x: tensor<2x5x4xf32>) {
  %r = attn.merge_heads %x : tensor<2x5x4xf32> -> tensor<5x8xf32>
  return
}

func.func @merge_heads_c3_static_heads(%x: tensor<2x?x4xf32>) {
  %r = attn.merge_heads %x : tensor<2x?x4xf32> -> tensor<?x8xf32>
  return
}

func.func @merge_heads_c4_unknown_joined(%x: tensor<2x5x4xf32>) {
  %r = attn.merge_heads %x : tensor<2x5x4xf32> -> tensor<5x?xf32>
  return
}

func.func @merge_heads_c5_unknown_length(%x: tensor<2x?x4xf32>) {
  %r = attn.merge_heads %x : tensor<2x?x4xf32> -> tensor<5x8xf32>
  return
}

func.func @merge_heads_c6_same_element(%x: tensor<2x5x4xbf16>) {
  %r = attn.merge_heads %x : tensor<2x5x4xbf16> -> tensor<5x8xbf16>
  return
}
