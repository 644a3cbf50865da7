// RUN: attn-opt %s -verify-diagnostics
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What attn.project accepts; the numbers are those of docs/Spec.md.

func.func @project_c1_rank_2(%x: tensor<5x6xf32>, %w: tensor<6x4xf32>) {
  %r = attn.project %x, %w : (tensor<5x6xf32>, tensor<6x4xf32>) -> tensor<5x4xf32>
  return
}

func.func @project_c1_rank_3(%x: tensor<2x5x6xf32>, %w: tensor<6x4xf32>) {
  %r = attn.project %x, %w : (tensor<2x5x6xf32>, tensor<6x4xf32>) -> tensor<2x5x4xf32>
  return
}

func.func @project_c2_weight_of_rank_2(%x: tensor<5x6xf32>, %w: tensor<6x4xf32>) {
  %r = attn.project %x, %w : (tensor<5x6xf32>, tensor<6x4xf32>) -> tensor<5x4xf32>
  return
}

func.func @project_c3_unknown_leading(%x: tensor<?x5x6xf32>, %w: tensor<6x4xf32>) {
  %r = attn.project %x, %w : (tensor<?x5x6xf32>, tensor<6x4xf32>) -> tensor<2x?x4xf32>
  return
}

func.func @project_c4_unknown_inner(%x: tensor<5x?xf32>, %w: tensor<6x4xf32>) {
  %r = attn.project %x, %w : (tensor<5x?xf32>, tensor<6x4xf32>) -> tensor<5x4xf32>
  return
}

func.func @project_c5_unknown_outer(%x: tensor<5x6xf32>, %w: tensor<6x?xf32>) {
  %r = attn.project %x, %w : (tensor<5x6xf32>, tensor<6x?xf32>) -> tensor<5x4xf32>
  return
}

func.func @project_c6_same_element(%x: tensor<5x6xbf16>, %w: tensor<6x4xbf16>) {
  %r = attn.project %x, %w : (tensor<5x6xbf16>, tensor<6x4xbf16>) -> tensor<5x4xbf16>
  return
}

func.func @project_c7_bias_per_column(%x: tensor<5x6xf32>, %w: tensor<6x4xf32>, %b: tensor<4xf32>) {
  %r = attn.project %x, %w, %b : (tensor<5x6xf32>, tensor<6x4xf32>, tensor<4xf32>) -> tensor<5x4xf32>
  return
}

func.func @project_c8_single(%x: tensor<5x6xbf16>, %w: tensor<6x4xbf16>) {
  %r = attn.project %x, %w {schedule = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0, products = fma>} : (tensor<5x6xbf16>, tensor<6x4xbf16>) -> tensor<5x4xbf16>
  return
}

func.func @project_c9_beside_pairs(%x: tensor<?x6xbf16>, %w: tensor<6x4xbf16>) {
  %r = attn.project %x, %w {schedule = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0, products = dot>, few_rows_schedule = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>} : (tensor<?x6xbf16>, tensor<6x4xbf16>) -> tensor<?x4xbf16>
  return
}

func.func @project_c2_weight_per_entry(%x: tensor<?x5x6xf32>, %w: tensor<?x4x6xf32>, %b: tensor<4xf32>) {
  %r = attn.project %x, %w transposed, %b : (tensor<?x5x6xf32>, tensor<?x4x6xf32>, tensor<4xf32>) -> tensor<?x5x4xf32>
  return
}

func.func @project_c6_mixed(%x: tensor<5x6xf32>, %w: tensor<6x4xbf16>, %b: tensor<4xf32>) {
  %r = attn.project %x, %w, %b : (tensor<5x6xf32>, tensor<6x4xbf16>, tensor<4xf32>) -> tensor<5x4xf16>
  return
}
