// RUN: attn-opt %s -split-input-file -verify-diagnostics
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What attn.pack_panels rejects; the numbers are those of docs/SpecTiles.md.
#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>

func.func @pack_panels_c1_weight(%w: memref<6xf32>, %p: memref<2x6x4xf32>) {
  // expected-error@+1 {{expects the weight to be a matrix of any number of columns, but got 'memref<6xf32>'}}
  attn.pack_panels %w outs(%p : memref<2x6x4xf32>) {schedule = #s} : memref<6xf32>
  return
}

// -----

#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>

func.func @pack_panels_c1_depth(%w: memref<6x7xf32>, %p: memref<2x7x4xf32>) {
  // expected-error@+1 {{expects panels of as many rows as the weight has, but got 'memref<2x7x4xf32>' for 'memref<6x7xf32>'}}
  attn.pack_panels %w outs(%p : memref<2x7x4xf32>) {schedule = #s} : memref<6x7xf32>
  return
}

// -----

#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>

func.func @pack_panels_c1_depth_transposed(%w: memref<6x7xf32>, %p: memref<2x6x4xf32>) {
  // expected-error@+1 {{expects panels of as many rows as the weight has, but got 'memref<2x6x4xf32>' for 'memref<6x7xf32>'}}
  attn.pack_panels %w transposed outs(%p : memref<2x6x4xf32>) {schedule = #s} : memref<6x7xf32>
  return
}

// -----

#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>

func.func @pack_panels_c2_elements(%w: memref<6x7xf32>, %p: memref<2x6x4xf16>) {
  // expected-error@+1 {{expects panels of the weight's elements, or of f32 for 16 bits, but got 'memref<2x6x4xf16>' for 'memref<6x7xf32>'}}
  attn.pack_panels %w outs(%p : memref<2x6x4xf16>) {schedule = #s} : memref<6x7xf32>
  return
}

// -----

#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>

func.func @pack_panels_c3_width(%w: memref<6x7xf32>, %p: memref<2x6x8xf32>) {
  // expected-error@+1 {{expects panels of the schedule's 4 columns, but got 'memref<2x6x8xf32>'}}
  attn.pack_panels %w outs(%p : memref<2x6x8xf32>) {schedule = #s} : memref<6x7xf32>
  return
}

// -----

#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>

func.func @pack_panels_c3_count(%w: memref<6x7xf32>, %p: memref<3x6x4xf32>) {
  // expected-error@+1 {{expects as many panels as hold 7 columns, but got 'memref<3x6x4xf32>'}}
  attn.pack_panels %w outs(%p : memref<3x6x4xf32>) {schedule = #s} : memref<6x7xf32>
  return
}

// -----

#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>

func.func @pack_panels_c4_no_result(%w: tensor<6x7xf32>, %p: tensor<2x6x4xf32>) {
  // expected-error@+1 {{expected the number of tensor results (0) to be equal to the number of output tensors (1)}}
  attn.pack_panels %w outs(%p : tensor<2x6x4xf32>) {schedule = #s} : tensor<6x7xf32>
  return
}

// -----

#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0, products = dot>

func.func @pack_panels_c1_pairs(%w: memref<7x7xbf16>, %p: memref<2x7x8xbf16>) {
  // expected-error@+1 {{expects panels of as many rows as the weight has, but got 'memref<2x7x8xbf16>' for 'memref<7x7xbf16>'}}
  attn.pack_panels %w outs(%p : memref<2x7x8xbf16>) {schedule = #s} : memref<7x7xbf16>
  return
}

// -----

#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0, products = dot>

func.func @pack_panels_c2_pairs_of_f32(%w: memref<7x7xbf16>, %p: memref<2x4x8xf32>) {
  // expected-error@+1 {{expects panels of the weight's elements, or of f32 for 16 bits, but got 'memref<2x4x8xf32>' for 'memref<7x7xbf16>'}}
  attn.pack_panels %w outs(%p : memref<2x4x8xf32>) {schedule = #s} : memref<7x7xbf16>
  return
}

// -----

#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0, products = dot>

func.func @pack_panels_c3_pairs(%w: memref<7x7xbf16>, %p: memref<2x4x4xbf16>) {
  // expected-error@+1 {{expects panels of the schedule's 4 columns, in pairs, but got 'memref<2x4x4xbf16>'}}
  attn.pack_panels %w outs(%p : memref<2x4x4xbf16>) {schedule = #s} : memref<7x7xbf16>
  return
}

// -----

#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0, products = dot>

func.func @pack_panels_c5_f16(%w: memref<6x7xf16>, %p: memref<2x3x8xf16>) {
  // expected-error@+1 {{expects elements of bf16 for products = dot, but got 'memref<6x7xf16>'}}
  attn.pack_panels %w outs(%p : memref<2x3x8xf16>) {schedule = #s} : memref<6x7xf16>
  return
}
