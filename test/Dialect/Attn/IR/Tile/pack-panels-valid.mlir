// RUN: attn-opt %s -verify-diagnostics
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What attn.pack_panels accepts; the numbers are those of docs/SpecTiles.md.

#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>

func.func @pack_panels_c1_matrix(%w: memref<6x7xf32>, %p: memref<2x6x4xf32>) {
  attn.pack_panels %w outs(%p : memref<2x6x4xf32>) {schedule = #s} : memref<6x7xf32>
  return
}

func.func @pack_panels_c1_transposed(%w: memref<7x6xf32>, %p: memref<2x6x4xf32>) {
  attn.pack_panels %w transposed outs(%p : memref<2x6x4xf32>) {schedule = #s} : memref<7x6xf32>
  return
}

func.func @pack_panels_c2_widened(%w: memref<6x7xbf16>, %p: memref<2x6x4xf32>) {
  attn.pack_panels %w outs(%p : memref<2x6x4xf32>) {schedule = #s} : memref<6x7xbf16>
  return
}

func.func @pack_panels_c3_unknown(%w: memref<6x?xf32>, %p: memref<?x6x4xf32>) {
  attn.pack_panels %w outs(%p : memref<?x6x4xf32>) {schedule = #s} : memref<6x?xf32>
  return
}

func.func @pack_panels_c4_result(%w: tensor<6x7xf32>, %p: tensor<2x6x4xf32>) -> tensor<2x6x4xf32> {
  %r = attn.pack_panels %w outs(%p : tensor<2x6x4xf32>) {schedule = #s} : tensor<6x7xf32> -> tensor<2x6x4xf32>
  return %r : tensor<2x6x4xf32>
}

#pairs = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0, products = dot>

func.func @pack_panels_c5_pairs(%w: memref<7x7xbf16>, %p: memref<2x4x8xbf16>) {
  attn.pack_panels %w outs(%p : memref<2x4x8xbf16>) {schedule = #pairs} : memref<7x7xbf16>
  return
}
